"""Objects closed and every schema typed, as strict modes want it."""

from __future__ import annotations

from typing import Any

from ..schemas.kinds import fitting_values, nullable, split_types
from ..schemas.matching import type_names
from ..schemas.walking import Path, Schema, map_children
from ..subsets import SchemaSubset
from .changes import Changes, Unavailable
from .document import Document
from .merging import Conflict, spread_union

_BESIDE_UNION = frozenset({"anyOf", "description", "title", "default"})
_SAYS_TYPE = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"})


class Closer:
    """Closes the schemas of one document; raises `Unavailable` where that would lose something."""

    __slots__ = ("_changes", "_document", "_subset")

    def __init__(self, document: Document, subset: SchemaSubset, changes: Changes) -> None:
        self._document = document
        self._subset = subset
        self._changes = changes

    def __call__(self, schema: Any, path: Path) -> Schema:
        """One schema and all in it."""
        if self._subset.typed and not _SAYS_TYPE & schema.keys():
            raise Unavailable(path, "a value of no stated type")
        if "allOf" in schema:
            raise Unavailable((*path, "allOf"), "its members cannot be merged into one schema")
        node = map_children(self._spread(fitting_values(schema), path), path, self)
        named = type_names(node)
        if "object" in named:
            self._check_object(node, path)
            node = self._close(node)
        if self._subset.typed and "array" in named and not isinstance(node.get("items"), dict):
            raise Unavailable(path, "an array whose items have no stated type")
        if self._subset.split_types and {"array", "object"} & set(named):
            return split_types(node)
        return node

    def _spread(self, schema: Schema, path: Path) -> Schema:
        """A union whose branches each hold what stands beside it."""
        if "anyOf" not in schema or schema.keys() <= _BESIDE_UNION:
            return schema
        if path == ():
            raise Unavailable(path, "a union at the root")
        try:
            return spread_union(schema, self._document)
        except Conflict:
            raise Unavailable((*path, "anyOf"), "a branch contradicts what stands beside") from None

    def _check_object(self, node: Schema, path: Path) -> None:
        properties = node.get("properties", {})
        if node.get("additionalProperties", False) is not False:
            raise Unavailable(path, "an object that may hold any further property")
        if node.keys() & {"enum", "const"}:
            raise Unavailable(path, "objects listed by value")
        missing = [name for name in node.get("required", ()) if name not in properties]
        if missing:
            raise Unavailable(path, f"{missing[0]!r} is required and not described")
        if properties or path == ():
            return
        if "additionalProperties" not in node or not self._subset.empty_objects:
            raise Unavailable(path, "an object whose properties are not listed")

    def _close(self, node: Schema) -> Schema:
        properties = node.get("properties", {})
        required = node.get("required", [])
        out = {**node, "properties": properties, "additionalProperties": False}
        if self._subset.optional == "null":
            out["properties"] = {
                name: schema if name in required else self._optional(schema)
                for name, schema in properties.items()
            }
            out["required"] = list(properties)
        elif not required:
            out.pop("required", None)
        return out

    def _optional(self, schema: Schema) -> Schema:
        if self._takes_null(schema, 0):
            return schema
        self._changes.nulls = True
        return nullable(schema, split=self._subset.split_types)

    def _takes_null(self, schema: Any, depth: int) -> bool:
        """Whether a closed schema says that null is fine."""
        if "$ref" in schema:
            target = self._document.find(schema["$ref"])
            return depth < 8 and self._takes_null(target, depth + 1)
        if "anyOf" in schema:
            return any(self._takes_null(branch, depth) for branch in schema["anyOf"])
        values = schema.get("enum", [schema.get("const")])
        return "null" in type_names(schema) and None in values


def close(document: Document, subset: SchemaSubset, changes: Changes) -> Document:
    """The document with every object closed."""
    return document.map(Closer(document, subset, changes))
