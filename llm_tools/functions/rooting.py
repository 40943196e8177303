"""The root of a function's parameters: an object, said plainly."""

from __future__ import annotations

from typing import Any

from ..content import JSON
from ..errors import ConfigurationError
from .changes import Changes
from .document import Document
from .matching import type_names
from .walking import Schema, resolve

_OF_OTHERS = frozenset(
    {
        "const", "enum", "exclusiveMaximum", "exclusiveMinimum", "items", "maxItems", "maxLength",
        "maximum", "minItems", "minLength", "minimum", "multipleOf", "pattern", "prefixItems",
        "uniqueItems",
    }
)  # fmt: skip
_OF_EMPTY = frozenset(
    {
        "$comment", "$defs", "$id", "$schema", "definitions", "description", "properties",
        "required", "title", "type",
    }
)  # fmt: skip
_UNIONS = ("anyOf", "oneOf")
_REFUSED = ("allOf", *_UNIONS, "not", "enum", "const")


def check_object_root(root: Schema, owner: str) -> None:
    """Refuse parameters that do not describe an object.

    Raises:
        ConfigurationError: naming the owner.
    """
    if not _describes_object(root, root, 0):
        raise ConfigurationError(
            f"The schema of {owner} is not valid at the root: parameters are an object "
            '({"type": "object", "properties": {…}}), and this describes something else.'
        )


def _describes_object(root: Schema, schema: JSON, depth: int) -> bool:
    if not isinstance(schema, dict) or depth > 8:
        return False
    named = type_names(schema)
    if named:
        return named == ["object"]
    if "$ref" in schema:
        return _describes_object(root, resolve(root, schema["$ref"]), depth + 1)
    if _OF_OTHERS & schema.keys():
        return False
    branches = [branch for key in _REFUSED[:3] for branch in schema.get(key, ())]
    return all(_describes_object(root, branch, depth + 1) for branch in branches)


def is_empty_root(root: Schema) -> bool:
    """Whether parameters describe nothing: no property, and no word about others."""
    return not root.get("properties") and not root.get("required") and root.keys() <= _OF_EMPTY


def settle_root(root: Schema) -> Schema:
    """A checked root with its reference written out, its type and its properties said."""
    return {"type": "object", "properties": {}, **write_out_root(root)}


def write_out_root(root: Schema) -> Schema:
    """A checked root with what it refers to in place of a `$ref`."""
    while "$ref" in root:
        beside = {key: value for key, value in root.items() if key != "$ref"}
        target = resolve(root, root["$ref"])
        root = {**(target if isinstance(target, dict) else {}), **beside}
    return root


def is_plain_root(root: Schema) -> bool:
    """Whether a root is one object, not a union or the like."""
    return type_names(root) == ["object"] and not any(key in root for key in _REFUSED)


def flatten_root(document: Document, changes: Changes) -> Document:
    """One object in place of a union at the root, which takes what any branch takes."""
    root = document.root
    if not any(key in root for key in _REFUSED):
        return document
    out = {key: value for key, value in root.items() if key not in _REFUSED}
    for key in (key for key in _REFUSED if key in root):
        changes.lose("schema_loosened", (key,), "a union at the root became one object")
        branches = [_follow(document, branch) for branch in root[key]] if key in _UNIONS else []
        if branches:
            out = _absorb(out, branches)
    return Document(out, document.definitions)


def _follow(document: Document, branch: Any) -> Schema:
    for _ in range(8):
        if isinstance(branch, dict) and "$ref" in branch:
            branch = document.find(branch["$ref"])
    return branch if isinstance(branch, dict) else {}


def _absorb(root: Schema, branches: list[Schema]) -> Schema:
    """A root that has the properties of all branches and requires what all require."""
    found: dict[str, list[Any]] = {name: [item] for name, item in root["properties"].items()}
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
