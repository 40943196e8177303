"""JSON Schema in the terms of OpenAPI 3.0, as Gemini's `parameters` wants it.

One upper-case type each, `nullable` for null, enums of strings, nothing beside an `anyOf`.
https://ai.google.dev/api/caching#Schema
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...content import JSON
from ..schemas.kinds import fitting_keywords, fitting_values, infer_type, split_types
from ..schemas.matching import type_names
from ..schemas.walking import Path, Schema, map_children
from .changes import Changes
from .document import Document
from .merging import Conflict, merge, spread_union


def enum_text(value: JSON) -> str:
    """How a value is spelled in an enum of strings."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


class Translator:
    """Turns the schemas of a document without references into OpenAPI's."""

    __slots__ = ("_changes", "_document")

    def __init__(self, document: Document, changes: Changes) -> None:
        self._document = document
        self._changes = changes

    def __call__(self, schema: Any, path: Path) -> Schema:
        """One schema and all in it."""
        node = split_types(_pull_null(infer_type(schema)))
        if "anyOf" in node:
            return self._union(node, path)
        if not type_names(node):
            self._changes.lose("schema_narrowed", path, "a value of no stated type became a string")
            node["type"] = "string"
        node = self._enum(fitting_values(node), path)
        node = self._parts(fitting_keywords(node), path)
        node["type"] = type_names(node)[0].upper()
        return map_children(node, path, self)

    def _union(self, node: Schema, path: Path) -> Schema:
        """Branches alone; a single one takes the place of the union."""
        if len(node["anyOf"]) == 1:
            (branch,) = node.pop("anyOf")
            try:
                return self(merge(node, branch), path)
            except Conflict:
                self._lose_beside(path)
                return self(branch, path)
        null = node.pop("nullable", False)
        try:
            node = spread_union(node, self._document)
        except Conflict:
            self._lose_beside(path)
        about = {"description": node["description"]} if "description" in node else {}
        branches = [
            self(about | branch, (*path, "anyOf", index))
            for index, branch in enumerate(node["anyOf"])
        ]
        return {"anyOf": branches, "nullable": True} if null else {"anyOf": branches}

    def _lose_beside(self, path: Path) -> None:
        self._changes.lose("schema_loosened", path, "what stands beside anyOf was left out")

    def _enum(self, node: Schema, path: Path) -> Schema:
        """Texts in an enum; numbers become texts, what cannot is left out."""
        if "enum" not in node:
            return node
        values = node["enum"]
        out = {key: value for key, value in node.items() if key != "enum"}
        if out["type"] in ("integer", "number"):
            self._changes.texts = True
            return {**out, "type": "string", "enum": [enum_text(value) for value in values]}
        texts = [value for value in values if isinstance(value, str)]
        if out["type"] == "string" and texts:
            return {**out, "enum": texts}
        if not (True in values and False in values):
            self._changes.lose("schema_keyword_dropped", (*path, "enum"), "was left out")
        return out

    def _parts(self, node: Schema, path: Path) -> Schema:
        """Items for every array; only described properties required."""
        out = dict(node)
        if node["type"] == "array" and not isinstance(node.get("items"), dict):
            self._changes.lose("schema_narrowed", path, "items of no stated type became strings")
            out["items"] = {"type": "string"}
        required = [name for name in out.pop("required", ()) if name in node.get("properties", ())]
        if len(required) < len(node.get("required", ())):
            detail = "names without a property were left out"
            self._changes.lose("schema_loosened", (*path, "required"), detail)
        if required:
            out["required"] = required
        if not out.get("properties", True):
            del out["properties"]
        return out


def _pull_null(schema: Schema) -> Schema:
    """The schema without null among its types, values and branches, and marked instead."""
    out = dict(schema)
    named = type_names(schema)
    null = "null" in named
    if null:
        rest = [name for name in named if name != "null"]
        out["type"] = rest[0] if len(rest) == 1 else rest
        if not rest:
            del out["type"]
    if "enum" in schema:
        out["enum"] = [value for value in schema["enum"] if value is not None]
        if not out["enum"]:
            del out["enum"]
    if "anyOf" in schema:
        branches = [infer_type(branch) for branch in schema["anyOf"]]
        out["anyOf"] = [branch for branch in branches if type_names(branch) != ["null"]]
        null = null or len(out["anyOf"]) < len(branches)
        if not out["anyOf"]:
            del out["anyOf"]
    return out | {"nullable": True} if null else out
