"""First step of a rewriting: each schema by itself, reduced to the keywords a wire takes.

It runs on the caller's own tree, so that its warnings point where the caller wrote.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..schemas.keywords import APPLICATORS, CONSTRAINTS, TOLD
from ..schemas.kinds import infer_type
from ..schemas.matching import are_disjoint, type_names
from ..schemas.patterns import is_regular
from ..schemas.walking import Path, Schema, map_children
from ..subsets import SchemaSubset
from .changes import Changes, Unavailable
from .document import Document
from .notes import add_note

_LONGEST_NOTE = 200
_LATER = frozenset({"$ref", "allOf"})


class Simplifier:
    """Reduces the schemas of one document; `strict` makes some losses an `Unavailable`."""

    __slots__ = ("_changes", "_keywords", "_root", "_strict", "_subset")

    def __init__(
        self, document: Document, subset: SchemaSubset, changes: Changes, strict: bool
    ) -> None:
        self._root = document.assemble()
        self._subset = subset
        self._keywords = (subset.keywords or frozenset()) | _LATER
        self._changes = changes
        self._strict = strict

    def __call__(self, schema: Any, path: Path) -> Schema:
        """One schema and all in it."""
        if isinstance(schema, bool):
            return self._of_bool(schema, path)
        node = self._with_items(_with_reference(schema), path)
        node = self._with_any_of(node, path)
        node = self._without_empty_texts(self._with_enum(node), path)
        if self._subset.typed:
            node = infer_type(node)
        return map_children(self._filtered(node, path), path, self)

    def _of_bool(self, schema: bool, path: Path) -> Schema:
        if not schema and self._strict and self._subset.closed:
            raise Unavailable(path, "a schema that nothing fits")
        if not schema:
            self._changes.lose("schema_loosened", path, "`false` (nothing fits) was left out")
        return {}

    def _with_items(self, schema: Schema, path: Path) -> Schema:
        """Positions as `prefixItems`, or as items of any of their types."""
        node = with_prefix_items(dict(schema))
        if "prefixItems" not in node or "prefixItems" in self._keywords:
            return node
        options = node.pop("prefixItems")
        rest = node.get("items")
        if isinstance(rest, dict):
            options = [*options, rest]
        distinct = [item for index, item in enumerate(options) if item not in options[:index]]
        node["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        detail = "positions became items of any of the types"
        self._changes.lose("schema_loosened", (*path, "prefixItems"), detail)
        return node

    def _with_any_of(self, node: Schema, path: Path) -> Schema:
        """`anyOf` in place of `oneOf`: the same where no value can fit two branches."""
        if "oneOf" not in node or "oneOf" in self._keywords or "anyOf" in node:
            return node
        branches = node["oneOf"]
        if not are_disjoint(self._root, branches):
            self._changes.lose("schema_loosened", (*path, "oneOf"), "went out as anyOf")
        return {("anyOf" if key == "oneOf" else key): value for key, value in node.items()}

    def _with_enum(self, node: Schema) -> Schema:
        """A list of one value in place of `const`."""
        if "const" not in node or "const" in self._keywords:
            return node
        out = {key: value for key, value in node.items() if key != "const"}
        return infer_type({"enum": [node["const"]], **out})

    def _without_empty_texts(self, node: Schema, path: Path) -> Schema:
        """Enums without the empty text, where the provider refuses it."""
        if self._subset.empty_texts or "" not in node.get("enum", ()):
            return node
        self._changes.lose("schema_narrowed", (*path, "enum"), "the empty text was left out")
        values = [value for value in node["enum"] if value != ""]
        rest = {key: value for key, value in node.items() if key != "enum"}
        return {**rest, "enum": values} if values else infer_type({"type": "string", **rest})

    def _filtered(self, node: Schema, path: Path) -> Schema:
        """The keywords that may go out; of the others, the description tells what helps."""
        kept: Schema = {}
        notes: list[str] = []
        for key, value in node.items():
            if key in self._keywords and self._is_taken(key, node):
                kept[key] = value
                self._check_enforced(key, path)
            elif self._drop(key, value, path) or (key in TOLD and value is not None):
                note = f"{key}: {msgspec.json.encode(value).decode()}"
                notes.extend([note] if len(note) <= _LONGEST_NOTE else [])
        return add_note(kept, "; ".join(notes)) if notes else kept

    def _is_taken(self, key: str, node: Schema) -> bool:
        subset, value = self._subset, node[key]
        match key:
            case "format":
                about_text = "type" not in node or "string" in type_names(node)
                return not about_text or subset.formats is None or value in subset.formats
            case "pattern":
                return subset.lookaround or is_regular(value)
            case "minItems":
                return subset.most_min_items is None or value <= subset.most_min_items
            case _:
                return True

    def _drop(self, key: str, value: Any, path: Path) -> bool:
        """Whether leaving a keyword out loses something; says so."""
        if key in ("additionalProperties", "unevaluatedProperties") and isinstance(value, bool):
            return False
        if key in APPLICATORS and self._strict and self._subset.closed:
            raise Unavailable((*path, key), "a keyword that strict mode does not take")
        if key not in CONSTRAINTS | APPLICATORS | {"additionalProperties"}:
            return False
        self._changes.lose("schema_keyword_dropped", (*path, key), "went into the description")
        return True

    def _check_enforced(self, key: str, path: Path) -> None:
        enforced = self._subset.enforced
        if self._strict and enforced is not None and key in CONSTRAINTS and key not in enforced:
            detail = "is not enforced by the provider and is checked here"
            self._changes.lose("schema_keyword_unenforced", (*path, key), detail)


def _with_reference(schema: Schema) -> Schema:
    """`$ref` in place of an `allOf` of that one reference."""
    parts = schema.get("allOf", ())
    is_one = len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"$ref"}
    if not is_one or "$ref" in schema:
        return schema
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    return {"$ref": parts[0]["$ref"], **rest}


def with_prefix_items(node: Schema) -> Schema:
    """The schema with its items by position in today's words; it may be changed."""
    if isinstance(node.get("items"), list):
        node["prefixItems"] = node.pop("items")
        if "additionalItems" in node:
            node["items"] = node.pop("additionalItems")
    return node
