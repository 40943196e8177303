"""Where schemas stand inside a schema, by position: a parameter may be called `properties`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias

from ...content import JSON

Schema: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = Literal["one", "many", "named"]

PLACES: dict[str, Place] = {
    "additionalItems": "one",
    "additionalProperties": "one",
    "contains": "one",
    "contentSchema": "one",
    "else": "one",
    "if": "one",
    "items": "one",
    "not": "one",
    "propertyNames": "one",
    "then": "one",
    "unevaluatedItems": "one",
    "unevaluatedProperties": "one",
    "allOf": "many",
    "anyOf": "many",
    "oneOf": "many",
    "prefixItems": "many",
    "$defs": "named",
    "definitions": "named",
    "dependencies": "named",
    "dependentSchemas": "named",
    "patternProperties": "named",
    "properties": "named",
}
"""Keywords that hold one schema, a list of them, or a map from names to them.

`items` may hold a list (draft 7 tuples), `dependencies` lists of names beside schemas; what is no
schema in them is left alone.
"""


def is_schema(value: JSON) -> bool:
    """Whether a value may stand where a schema is expected."""
    return isinstance(value, dict | bool)


def children(schema: Schema) -> Iterator[tuple[Path, Any]]:
    """The schemas directly inside a schema, each with its path from there."""
    for key, value in schema.items():
        place = PLACES.get(key)
        if place is None:
            continue
        if isinstance(value, list):
            yield from (((key, index), item) for index, item in enumerate(value) if is_schema(item))
        elif place == "named" and isinstance(value, dict):
            yield from (((key, name), item) for name, item in value.items() if is_schema(item))
        else:
            yield (key,), value


def map_children(schema: Schema, path: Path, visit: Callable[[Any, Path], Any]) -> Schema:
    """A copy of a schema with `visit(child, its path)` in place of every schema directly inside.

    `true` and `false` behind a keyword for one schema (`additionalProperties`) stay.
    """
    out: Schema = {}
    for key, value in schema.items():
        place = PLACES.get(key)
        if place is None:
            out[key] = value
        elif isinstance(value, list):
            out[key] = [
                visit(item, (*path, key, index)) if is_schema(item) else item
                for index, item in enumerate(value)
            ]
        elif place == "named" and isinstance(value, dict):
            out[key] = {
                name: visit(item, (*path, key, name)) if is_schema(item) else item
                for name, item in value.items()
            }
        else:
            out[key] = visit(value, (*path, key)) if isinstance(value, dict) else value
    return out


def nodes(root: Schema) -> Iterator[tuple[Path, Schema]]:
    """Every object schema in a tree, the root first, without following references."""
    stack: list[tuple[Path, Schema]] = [((), root)]
    while stack:
        path, schema = stack.pop()
        yield path, schema
        stack.extend(
            ((*path, *step), child) for step, child in children(schema) if isinstance(child, dict)
        )


def pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON pointer."""
    return "".join(["/" + str(step).replace("~", "~0").replace("/", "~1") for step in path])


def where(path: Iterable[str | int]) -> str:
    """A path for people: the JSON pointer, or `the root`."""
    return pointer(path) or "the root"


def read_pointer(reference: str) -> tuple[str, ...] | None:
    """The steps of a local reference (`#/$defs/a`), or None where it is no pointer."""
    fragment = reference[1:]
    if "%" in fragment:
        from urllib.parse import unquote

        fragment = unquote(fragment)
    if not fragment:
        return ()
    if not fragment.startswith("/"):
        return None
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in fragment[1:].split("/"))


def resolve(root: Schema, reference: str) -> JSON:
    """What a local reference points at; None where it points at no schema."""
    steps = read_pointer(reference)
    if steps is None:
        return _anchored(root, reference[1:])
    value: JSON = root
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step in map(str, range(len(value))):
            value = value[int(step)]
        else:
            return None
    return value if is_schema(value) else None


def _anchored(root: Schema, name: str) -> JSON:
    for _, schema in nodes(root):
        if schema.get("$anchor") == name or schema.get("$id") == f"#{name}":
            return schema
    return None
