"""Whether a schema is valid JSON Schema: keyword shapes at any depth, references, nesting.

Our own walk, not jsonschema: it runs whenever functions are read, and jsonschema is slow to
import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from ...content import JSON
from ...errors import ConfigurationError
from .walking import PLACES, Path, Place, Schema, is_schema, resolve, where

MAX_DEPTH = 64
_MOST_STEPS = 1000
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def check_schema(schema: JSON, owner: str) -> None:
    """Refuse what is not valid JSON Schema, by any draft from 6 on.

    Args:
        schema: plain JSON.
        owner: whose schema it is, for the message: `function 'f'`.

    Raises:
        ConfigurationError: naming the owner, the JSON pointer and what was expected there.
    """
    problem = _first_problem(schema)
    if problem is not None:
        path, expected = problem
        raise ConfigurationError(f"The schema of {owner} is not valid at {where(path)}: {expected}")


def _first_problem(root: JSON) -> tuple[Path, str] | None:
    """What is wrong, and the path to it."""
    known: set[int] = set()
    references: list[tuple[Path, str]] = []
    stack: list[tuple[Path, int, Any]] = [((), 1, root)]
    while stack:
        path, depth, schema = stack.pop()
        if isinstance(schema, bool):
            continue
        problem = _wrong_node(schema, depth)
        if problem is not None:
            return (*path, *problem[0]), problem[1]
        known.add(id(schema))
        if "$ref" in schema:
            references.append((path, schema["$ref"]))
        for key, value in schema.items():
            stack.extend(((*path, *step), depth + 1, item) for step, item in _inner(key, value))
    for path, reference in references:
        expected = _wrong_reference(root, reference, known)
        if expected:
            return (*path, "$ref"), expected
    return None


def _wrong_node(schema: Any, depth: int) -> tuple[Path, str] | None:
    """What is wrong with one schema, the schemas in it aside."""
    if not isinstance(schema, dict):
        return (), f"expected a schema (an object), got {_short(schema)}."
    if depth > MAX_DEPTH:
        return (), f"nested more than {MAX_DEPTH} schemas deep."
    for key, value in schema.items():
        expected = _wrong(key, value)
        if expected:
            return (key,), f"{expected}, got {_short(value)}.{_hint(key, value)}"
    return None


def _inner(key: str, value: Any) -> Iterator[tuple[Path, Any]]:
    """The schemas under a keyword whose shape is right."""
    place = PLACES.get(key)
    if place is None:
        return
    if isinstance(value, list):
        yield from (((key, index), item) for index, item in enumerate(value))
    elif place == "named":
        yield from (((key, name), item) for name, item in value.items() if not _is_names(item, key))
    else:
        yield (key,), value


def _is_names(value: Any, key: str) -> bool:
    """Whether this is a list of names in draft 7's `dependencies`."""
    return key == "dependencies" and _is_strings(value)


def _wrong_reference(root: Schema, reference: str, known: set[int]) -> str | None:
    if not reference.startswith("#"):
        return (
            f"{_short(reference)} is a remote reference, which is never fetched. Put the schema "
            "under $defs and point there with #/$defs/<name>."
        )
    target = resolve(root, reference)
    if target is None or (isinstance(target, dict) and id(target) not in known):
        return f"{_short(reference)} points at no schema inside this one."
    if _is_endless(root, target):
        return f"{_short(reference)} leads back to itself without a schema in between."
    return None


def _is_endless(root: Schema, target: Any) -> bool:
    """Whether checking a value by this leads back to it whatever the value, again and again."""
    ending: set[int] = set()
    steps = count()

    def ends(schema: Any, behind: tuple[int, ...]) -> bool:
        if not isinstance(schema, dict) or id(schema) in ending:
            return True
        if id(schema) in behind:
            return False
        if len(behind) > MAX_DEPTH or next(steps) > _MOST_STEPS:
            return True  # too much to follow is told by whoever checks a value
        here = (*behind, id(schema))
        met = [] if not isinstance(schema.get("$ref"), str) else [resolve(root, schema["$ref"])]
        met += schema.get("allOf") or []
        choices = [schema[key] for key in ("anyOf", "oneOf") if schema.get(key)]
        if not all(ends(one, here) for one in met):
            return False
        if not all(any(ends(one, here) for one in choice) for choice in choices):
            return False
        ending.add(id(schema))
        return True

    return not ends(target, ())


# ---------------------------------------------------------------- the shape of each keyword


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_names(value: Any) -> bool:
    return _is_strings(value) and len(set(value)) == len(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _are_names(value) and set(value) <= set(TYPES)
    return isinstance(value, str) and value in TYPES


def _is_dependencies(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_strings, value.values()))


_SCHEMA = (is_schema, "expected a schema (an object)")
_COUNT = (_is_count, "expected a whole number, zero or more")
_NUMBER = (_is_number, "expected a number")
_TEXT = (lambda value: isinstance(value, str), "expected a string")
_FLAG = (lambda value: isinstance(value, bool), "expected true or false")

_BY_PLACE: dict[Place, tuple[Callable[[Any], bool], str]] = {
    "one": _SCHEMA,
    "many": (
        lambda value: isinstance(value, list) and bool(value),
        "expected a list of at least one schema",
    ),
    "named": (
        lambda value: isinstance(value, dict),
        "expected an object that maps names to schemas",
    ),
}

_SHAPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{key: _BY_PLACE[place] for key, place in PLACES.items()},
    "items": (
        lambda value: is_schema(value) or isinstance(value, list),
        "expected a schema (an object), or a list of them",
    ),
    "type": (_is_type, f"expected one of {', '.join(TYPES)}, or a list of them"),
    "enum": (
        lambda value: isinstance(value, list) and bool(value),
        "expected a list of at least one value",
    ),
    "required": (_are_names, "expected a list of property names"),
    "dependentRequired": (_is_dependencies, "expected an object of lists of property names"),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "expected a number above zero"),
    "uniqueItems": _FLAG,
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), _NUMBER),
    **dict.fromkeys(
        (
            "maxLength", "minLength", "maxItems", "minItems",
            "maxProperties", "minProperties", "maxContains", "minContains",
        ),
        _COUNT,
    ),
    **dict.fromkeys(
        (
            "$schema", "$id", "$anchor", "$ref", "$dynamicRef", "$comment",
            "title", "description", "format", "pattern",
        ),
        _TEXT,
    ),
}  # fmt: skip


def _wrong(key: str, value: Any) -> str | None:
    """What a keyword expects, where its value is not that."""
    shape = _SHAPES.get(key)
    if shape is None or shape[0](value):
        return None
    return shape[1]


_FROM_PYTHON = {
    "any": "leave type out",
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "list": "array",
    "none": "null",
    "str": "string",
    "tuple": "array",
}


def _hint(key: str, value: Any) -> str:
    if key in ("required", "type") and _is_strings(value) and not _are_names(value):
        return " Each stands there once."
    if key == "required" and isinstance(value, bool):
        return " `required` stands beside `properties` and lists the names."
    if key == "type" and isinstance(value, str):
        meant = _FROM_PYTHON.get(value.lower(), value.lower() if value.lower() in TYPES else "")
        return f" Did you mean: {meant}?" if meant else ""
    if key in ("exclusiveMaximum", "exclusiveMinimum") and isinstance(value, bool):
        return " Since draft 6 it is the limit itself, in place of maximum or minimum."
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
