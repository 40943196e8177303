"""A model's input in the caller's terms again, and the caller's in the model's for replay.

Both follow the caller's schema. Total: whatever JSON comes in, JSON goes out.
"""

from __future__ import annotations

from operator import is_
from typing import Any, TypeVar, cast

from msgspec import Struct

from ...content import JSON
from ..schemas.matching import Matcher, item_schema
from ..schemas.walking import Schema, resolve
from .openapi import enum_text

T = TypeVar("T")


class Way(Struct, frozen=True):
    """How a schema differs on the wire.

    `names` maps the wire's property names to the caller's; `nulls`: optional properties are
    nullable; `texts`: numbers in enums are strings.
    """

    root: Schema
    names: dict[str, str]
    nulls: bool
    texts: bool


def restore(way: Way, value: T) -> T:
    """What came from the wire, in the caller's terms: invented nulls gone, names and numbers back.

    A null stays where the caller's schema takes null.
    """
    return _walk(way, value, inward=True)


def hide(way: Way, value: T) -> T:
    """What the caller has, in the wire's names and texts."""
    return _walk(way, value, inward=False)


def _walk(way: Way, value: T, *, inward: bool) -> T:
    try:
        return cast("T", _Walker(way, inward).read(way.root, value))
    except RecursionError:
        return value


class _Walker:
    """Goes through a value along a schema; each value is read once for each schema.

    Inward the value has the wire's keys and texts and gets the caller's; outward the reverse.
    """

    __slots__ = ("_inward", "_matcher", "_outer", "_read", "_renamed", "_way")

    def __init__(self, way: Way, inward: bool) -> None:
        self._way = way
        self._inward = inward
        self._outer = {name: wire for wire, name in way.names.items()}
        self._renamed = way.names if inward else self._outer
        self._matcher = Matcher(way.root)
        self._read: dict[tuple[int, int], tuple[Any, Any]] = {}

    def read(self, schema: Any, value: JSON) -> JSON:
        """The value in the other terms."""
        if not isinstance(schema, dict):
            return value
        key = (id(schema), id(value))
        known = self._read.get(key)
        if known is not None:
            return known[1]
        self._read[key] = (value, value)  # a reference that leads back here changes nothing
        out = self._along(schema, value)
        self._read[key] = (value, out)
        return out

    def _along(self, schema: Schema, value: JSON) -> JSON:
        if isinstance(value, dict):
            out: JSON = self._object(schema, value)
        elif isinstance(value, list):
            out = self._array(schema, value)
        else:
            out = self._scalar(schema, value) if self._way.texts else value
        if "$ref" in schema:
            out = self.read(resolve(self._way.root, schema["$ref"]), out)
        for part in schema.get("allOf", ()):
            out = self.read(part, out)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                out = self._branch(schema[key], out)
        return out

    def _array(self, schema: Schema, value: list[Any]) -> list[Any]:
        out = [self.read(item_schema(schema, at), item) for at, item in enumerate(value)]
        return value if all(map(is_, out, value)) else out

    def _object(self, schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties")
        out = {}
        for key, item in value.items():
            other = self._renamed.get(key, key)
            name = other if self._inward else key
            if name not in properties and name not in schema.get("required", ()):
                out[key] = self.read(others, item)
            elif not self._is_invented(schema, name, item):
                out[other] = self.read(properties.get(name), item)
        unchanged = list(out) == list(value) and all(map(is_, out.values(), value.values()))
        return value if unchanged else out

    def _is_invented(self, schema: Schema, name: str, value: JSON) -> bool:
        """Whether a null stands for an optional property that is not there."""
        if value is not None or not (self._inward and self._way.nulls):
            return False
        if name in schema.get("required", ()):
            return False
        return not self._matcher.fits(schema["properties"][name], None)

    def _scalar(self, schema: Schema, value: JSON) -> JSON:
        """A number out of an enum of texts, or into one."""
        options = schema.get("enum", [schema["const"]] if "const" in schema else ())
        if isinstance(value, bool | None) or (self._inward and value in options):
            return value
        for option in options:
            is_number = isinstance(option, int | float) and not isinstance(option, bool)
            if is_number and value == (enum_text(option) if self._inward else option):
                return option if self._inward else enum_text(option)
        return value

    def _branch(self, branches: list[Any], value: JSON) -> JSON:
        """Along the branch the value was meant for: of those it fits, the one of like keys."""
        ranked = branches
        if isinstance(value, dict):
            ranked = sorted(branches, key=lambda branch: self._distance(branch, value))
        for branch in ranked:
            out = self.read(branch, value)
            if self._matcher.fits(branch, out if self._inward else value):
                return out
        return value

    def _distance(self, branch: Any, value: dict[str, Any]) -> tuple[int, int]:
        """How many keys of the value the branch does not know, and how many the value lacks."""
        names = self._names_in(branch, 0)
        known = {self._outer.get(name, name) for name in names} if self._inward else names
        return len(value.keys() - known), len(known - value.keys())

    def _names_in(self, schema: Any, depth: int) -> set[str]:
        if not isinstance(schema, dict) or depth > 8:
            return set()
        parts = list(schema.get("allOf", ()))
        if "$ref" in schema:
            parts.append(resolve(self._way.root, schema["$ref"]))
        return set(schema.get("properties", ())).union(
            *[self._names_in(part, depth + 1) for part in parts]
        )
