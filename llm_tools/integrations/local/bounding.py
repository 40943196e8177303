"""A schema for the decoder: the caller's, with an end to everything.

A grammar lets a small model run on inside a string, a list or an open object until its tokens are
used up, and a text cut off there is no JSON. So the copy that goes to the decoder bounds what the
caller left unbounded. What comes out is then checked against the caller's own schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

_TEXT_LIMIT = 120
_ITEM_LIMIT = 5
_FORMATS_OF_THE_GRAMMAR = frozenset({"date", "time", "date-time", "uuid"})
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
    | {"$comment", "$schema", "$id", "$defs", "definitions", "nullable"}
)
_TEXT: Schema = {"type": "string", "maxLength": _TEXT_LIMIT}
_SCALAR: Schema = {
    "anyOf": [_TEXT, {"type": "number"}, {"type": "boolean"}, {"type": "null"}],
}


def bounded(schema: Any) -> Any:
    """The schema with limits on strings, lists and open objects; the caller's is not changed."""
    if schema is True:
        return _SCALAR
    if not isinstance(schema, dict):
        return schema
    if schema.keys() <= _ANNOTATIONS:
        return {**_SCALAR, **_definitions(schema)}
    out = {key: _WALKS.get(key, _as_it_is)(value) for key, value in schema.items()}
    kinds = _kinds(schema)
    for kind, limit in _LIMITS.items():
        if kind in kinds and not schema.keys() & {"enum", "const", "$ref"}:
            limit(out)
    return out


def is_empty(schema: Mapping[str, Any]) -> bool:
    """Whether the parameters of a function leave nothing to fill in."""
    return not schema.keys() - _ANNOTATIONS - {"type", "properties", "additionalProperties"} and (
        not schema.get("properties") and not isinstance(schema.get("additionalProperties"), dict)
    )


def _as_it_is(value: Any) -> Any:
    return value


def _each(schemas: Any) -> Any:
    if isinstance(schemas, dict):
        return {name: bounded(schema) for name, schema in schemas.items()}
    return [bounded(schema) for schema in schemas] if isinstance(schemas, list) else schemas


_WALKS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("properties", "$defs", "definitions"), _each),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _each),
    "items": lambda value: _each(value) if isinstance(value, list) else bounded(value),
    "additionalProperties": lambda value: bounded(value) if isinstance(value, dict) else value,
}
"""The keywords that hold schemas a grammar is made of; the others are only checked afterwards."""


def _definitions(schema: Schema) -> Schema:
    return {key: _each(schema[key]) for key in ("$defs", "definitions") if key in schema}


def _kinds(schema: Schema) -> frozenset[str]:
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return frozenset({kinds})
    if isinstance(kinds, list):
        return frozenset(map(str, kinds))
    return frozenset({_KIND_BY_KEYWORD[key] for key in schema.keys() & _KIND_BY_KEYWORD.keys()})


_KIND_BY_KEYWORD = {"properties": "object", "items": "array"}
"""What a schema without a type is about, as the engine takes it."""


def _limit_text(schema: Schema) -> None:
    if "pattern" not in schema and schema.get("format") not in _FORMATS_OF_THE_GRAMMAR:
        schema["maxLength"] = _limit(schema, "minLength", "maxLength", _TEXT_LIMIT)


def _limit_list(schema: Schema) -> None:
    if "prefixItems" in schema:
        schema.pop("items", None)  # the engine would read it in their place
    if "prefixItems" in schema or isinstance(schema.get("items"), list):
        return
    schema.setdefault("items", _SCALAR)
    schema["maxItems"] = _limit(schema, "minItems", "maxItems", _ITEM_LIMIT)


def _limit_object(schema: Schema) -> None:
    if schema.get("properties"):
        schema["additionalProperties"] = False
    elif schema.get("additionalProperties", True) is True:
        schema["additionalProperties"] = _SCALAR


def _limit(schema: Schema, least: str, most: str, limit: int) -> Any:
    """The upper limit that fits both the caller's and ours; the caller's lower one wins."""
    wanted = schema.get(most)
    upper = min(wanted, limit) if isinstance(wanted, int) else limit
    lower = schema.get(least)
    return max(upper, lower) if isinstance(lower, int) else upper


_LIMITS: dict[str, Callable[[Schema], None]] = {
    "string": _limit_text,
    "array": _limit_list,
    "object": _limit_object,
}
