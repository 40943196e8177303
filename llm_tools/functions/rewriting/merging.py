"""One schema in place of several that all must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..schemas.matching import same, type_names
from ..schemas.walking import Path, Schema, map_children
from ..subsets import SchemaSubset
from .changes import Changes, Unavailable
from .document import Document

_FIRST = frozenset({"default", "description", "example", "examples", "title"})


class Conflict(Exception):  # noqa: N818 - a finding, not an error
    """Two schemas have no plain schema in common."""


def merge(one: Schema, other: Schema) -> Schema:
    """A schema that takes what both take; of two descriptions the first stays.

    Raises:
        Conflict: it cannot be written down keyword by keyword.
    """
    _check_closed(one, other)
    out = dict(one)
    for key, value in other.items():
        if key not in out or key in _FIRST:
            out.setdefault(key, value)
        elif key in _BOTH:
            out[key] = _BOTH[key](out[key], value)
        elif key != "prefixItems" and not same(out[key], value):
            raise Conflict
    return out | _places(one, other) if "prefixItems" in out else out


def _check_closed(one: Schema, other: Schema) -> None:
    """A closed object forbids what the other one adds."""
    for closed, open_ in ((one, other), (other, one)):
        if closed.get("additionalProperties", True) is True:
            continue
        if open_.get("properties", {}).keys() - closed.get("properties", {}).keys():
            raise Conflict


def _types(one: Any, other: Any) -> Any:
    names, others = type_names({"type": one}), type_names({"type": other})
    shared = [name for name in names if name in others]
    if "integer" not in shared and "integer" in names + others and "number" in names + others:
        shared.append("integer")
    if not shared:
        raise Conflict
    return shared if len(shared) > 1 else shared[0]


def _enums(one: list[Any], other: list[Any]) -> list[Any]:
    shared = [value for value in one if any(same(value, option) for option in other)]
    if not shared:
        raise Conflict
    return shared


def _properties(one: Schema, other: Schema) -> Schema:
    out = dict(one)
    for name, schema in other.items():
        out[name] = _merge_any(out[name], schema) if name in out else schema
    return out


def _places(one: Schema, other: Schema) -> Schema:
    """Items by position: where only one lists them, the `items` of the other hold for them, too."""
    length = max(len(schema.get("prefixItems", ())) for schema in (one, other))
    out: Schema = {
        "prefixItems": [_merge_any(_at(one, index), _at(other, index)) for index in range(length)]
    }
    if "items" in one or "items" in other:
        out["items"] = _merge_any(_at(one, length), _at(other, length))
    return out


def _at(schema: Schema, index: int) -> Any:
    """The schema of the item at a position."""
    listed = schema.get("prefixItems", ())
    return listed[index] if index < len(listed) else schema.get("items", True)


def _merge_any(one: Any, other: Any) -> Any:
    if one is True or other is True:
        return other if one is True else one
    if one is False or other is False:
        return False
    if "$ref" in one or "$ref" in other:
        return one if one == other else {"allOf": [one, other]}
    return merge(one, other)


def _union(one: list[Any], other: list[Any]) -> list[Any]:
    return list(dict.fromkeys([*one, *other]))


_BOTH: dict[str, Callable[[Any, Any], Any]] = {
    "additionalProperties": _merge_any,
    "allOf": lambda one, other: [*one, *other],
    "enum": _enums,
    "exclusiveMaximum": min,
    "exclusiveMinimum": max,
    "items": _merge_any,
    "maxItems": min,
    "maxLength": min,
    "maximum": min,
    "minItems": max,
    "minLength": max,
    "minimum": max,
    "properties": _properties,
    "required": _union,
    "type": _types,
    "uniqueItems": lambda one, other: one or other,
}


def beside(schema: Schema) -> Schema:
    """What stands beside a `$ref`."""
    return {key: value for key, value in schema.items() if key != "$ref"}


def spread_union(schema: Schema, document: Document) -> Schema:
    """An `anyOf` with all that stands beside it moved into each branch, but the description.

    Raises:
        Conflict: a branch cannot be merged with it.
    """
    outer = {key: value for key, value in schema.items() if key in _FIRST}
    inner = {key: value for key, value in schema.items() if key not in _FIRST | {"anyOf"}}
    return {
        "anyOf": [_merge_branch(inner, branch, document) for branch in schema["anyOf"]],
        **outer,
    }


def _merge_branch(inner: Schema, branch: Any, document: Document) -> Schema:
    if "$ref" not in branch:
        return merge(branch, inner)
    target = document.find(branch["$ref"])
    if target.keys() & {"$ref", "anyOf"}:  # it may lead back here
        raise Conflict
    return merge(merge(beside(branch), target), inner)


class Merger:
    """Takes `allOf` out of a document."""

    __slots__ = ("_changes", "_document", "_strict", "_subset")

    def __init__(
        self, document: Document, subset: SchemaSubset, changes: Changes, strict: bool
    ) -> None:
        self._document = document
        self._subset = subset
        self._changes = changes
        self._strict = strict and subset.closed

    def __call__(self, schema: Any, path: Path) -> Any:
        """One schema and all in it, without `allOf` where that can be."""
        return self._merge(schema, path, frozenset())

    def _merge(self, schema: Any, path: Path, inside: frozenset[str]) -> Any:
        if isinstance(schema, bool):
            return schema
        node, conflict = dict(schema), False
        followed: set[str] = set()
        while "allOf" in node:
            for part in node.pop("allOf"):
                try:
                    node = merge(node, self._resolve(part, followed, inside))
                except Conflict:
                    conflict = True
        if conflict:
            node = self._give_up(schema, node, path)
        below = inside | followed
        return map_children(node, path, lambda child, at: self._merge(child, at, below))

    def _resolve(self, part: Any, followed: set[str], inside: frozenset[str]) -> Schema:
        """A member with its reference written out, once: the second time it adds nothing.

        Raises:
            Conflict: nothing fits it, or it leads back to where it stands.
        """
        if isinstance(part, bool):
            if not part:
                raise Conflict
            return {}
        out: Schema = part
        while "$ref" in out:
            reference = out["$ref"]
            if reference in inside:
                raise Conflict
            out = beside(out)
            if reference not in followed:
                followed.add(reference)
                out = merge(out, self._document.find(reference))
        return out

    def _give_up(self, schema: Schema, merged: Schema, path: Path) -> Schema:
        at = (*path, "allOf")
        if self._strict:
            raise Unavailable(at, "its members cannot be merged into one schema")
        if self._subset.keywords is None or "allOf" in self._subset.keywords:
            return schema
        self._changes.lose("schema_loosened", at, "members that contradict others were left out")
        return merged
