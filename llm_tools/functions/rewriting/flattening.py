"""One object in place of a union at the root of a function's parameters."""

from __future__ import annotations

from typing import Any

from ..schemas.roots import REFUSED, UNIONS
from ..schemas.walking import Schema
from .changes import Changes
from .document import Document


def flatten_root(document: Document, changes: Changes) -> Document:
    """One object in place of a union at the root, which takes what any branch takes."""
    root = document.root
    if not any(key in root for key in REFUSED):
        return document
    out = {key: value for key, value in root.items() if key not in REFUSED}
    for key in (key for key in REFUSED if key in root):
        changes.lose("schema_loosened", (key,), "a union at the root became one object")
        branches = [_follow(document, branch) for branch in root[key]] if key in UNIONS else []
        if branches:
            out = _absorb(out, branches)
    return Document(out, document.definitions)


def _follow(document: Document, branch: Any) -> Schema:
    while isinstance(branch, dict) and "$ref" in branch:
        branch = document.find(branch["$ref"])
    return branch if isinstance(branch, dict) else {}


def _absorb(root: Schema, branches: list[Schema]) -> Schema:
    """A root that has the properties of all branches and requires what all require."""
    found: dict[str, list[Any]] = {
        name: [item] for name, item in root.get("properties", {}).items()
    }
    for branch in branches:
        for name, schema in branch.get("properties", {}).items():
            known = found.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    properties = {
        name: schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        for name, schemas in found.items()
    }
    shared = set.intersection(*[set(branch.get("required", ())) for branch in branches])
    required = list(dict.fromkeys([*root.get("required", ()), *sorted(shared)]))
    return {**root, "properties": properties, "required": required}
