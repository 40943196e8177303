"""Whether a value has the shape of a schema: a cheap look, to tell branches of a union apart.

Limits on numbers, lengths and patterns are not looked at; `validating` is for that.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

from ...content import JSON
from .walking import Schema, resolve

_IS_TYPE: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and value == value // 1,
    "null": lambda value: value is None,
    "number": lambda value: _is_number(value),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class Matcher:
    """Compares values with schemas under one root, whose references it follows."""

    __slots__ = ("_answers", "_root")

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._answers: dict[tuple[int, int], tuple[Any, bool]] = {}

    def fits(self, schema: Any, value: JSON) -> bool:
        """Whether the value could be meant by the schema."""
        if not isinstance(schema, dict):
            return schema is not False
        key = (id(schema), id(value))
        known = self._answers.get(key)
        if known is not None:
            return known[1]
        self._answers[key] = (value, True)  # a reference that leads back here changes nothing
        answer = self._fits(schema, value)
        self._answers[key] = (value, answer)
        return answer

    def _fits(self, schema: Schema, value: JSON) -> bool:
        if not _fits_type(schema, value) or not _fits_values(schema, value):
            return False
        if "$ref" in schema and not self.fits(resolve(self._root, schema["$ref"]), value):
            return False
        if not all(self.fits(part, value) for part in schema.get("allOf", ())):
            return False
        for key in ("anyOf", "oneOf"):
            if key in schema and not any(self.fits(branch, value) for branch in schema[key]):
                return False
        if isinstance(value, dict):
            return self._fits_object(schema, value)
        return not isinstance(value, list) or self._fits_array(schema, value)

    def _fits_object(self, schema: Schema, value: dict[str, Any]) -> bool:
        if not all(name in value for name in schema.get("required", ())):
            return False
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        patterns = "patternProperties" in schema
        return all(
            self.fits(properties[name], item)
            if name in properties
            else patterns or self.fits(others, item)
            for name, item in value.items()
        )

    def _fits_array(self, schema: Schema, value: list[Any]) -> bool:
        return all(
            self.fits(item_schema(schema, position), item) for position, item in enumerate(value)
        )


def item_schema(schema: Schema, position: int) -> Any:
    """The schema of an array's item, in either spelling of tuples; True where there is none."""
    items = schema.get("items", True)
    places = items if isinstance(items, list) else schema.get("prefixItems", ())
    if position < len(places):
        return places[position]
    return schema.get("additionalItems", True) if isinstance(items, list) else items


def same(one: JSON, other: JSON) -> bool:
    """Equality of JSON values: 1 is 1.0, but true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def type_names(schema: Schema) -> list[str]:
    """The types a schema names, as a list; empty where it names none."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else named


def _fits_type(schema: Schema, value: JSON) -> bool:
    named = type_names(schema)
    return not named or any(_IS_TYPE[name](value) for name in named)


def _fits_values(schema: Schema, value: JSON) -> bool:
    if "const" in schema and not same(schema["const"], value):
        return False
    return "enum" not in schema or any(same(option, value) for option in schema["enum"])


# ---------------------------------------------------------------- unions


def are_disjoint(root: Schema, branches: list[Any]) -> bool:
    """Whether no value can fit two of the branches: by type, or by a constant they all require."""
    followed = [_follow(root, branch) for branch in branches]
    return all(_exclude(root, one, other) for one, other in combinations(followed, 2))


def _follow(root: Schema, schema: Any) -> Any:
    while isinstance(schema, dict) and "$ref" in schema:
        schema = resolve(root, schema["$ref"])
    return schema


def _exclude(root: Schema, one: Any, other: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    types, others = set(type_names(one)), set(type_names(other))
    if types and others and not types & others and not {"integer", "number"} <= types | others:
        return True
    for listing, schema in ((one, other), (other, one)):
        values = _values(listing)
        if values is not None:
            return not any(Matcher(root).fits(schema, value) for value in values)
    shared = set(one.get("required", ())) & set(other.get("required", ()))
    return any(_differ(root, one, other, name) for name in shared)


def _differ(root: Schema, one: Schema, other: Schema, name: str) -> bool:
    pair = [_follow(root, schema.get("properties", {}).get(name)) for schema in (one, other)]
    values = [_values(item) if isinstance(item, dict) else None for item in pair]
    if values[0] is None or values[1] is None:
        return False
    return not any(same(a, b) for a in values[0] for b in values[1])


def _values(schema: Schema) -> list[Any] | None:
    """All values a schema allows, where it lists them."""
    return [schema["const"]] if "const" in schema else schema.get("enum")
