"""A quick yes: whether a value certainly fits a schema.

Most inputs fit, and most schemas say little: types, properties, enums, bounds. For those a few
comparisons are enough. What a schema says beyond them, and what is wrong with a value that does not
fit, is for the whole validator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

from ...content import JSON
from .walking import Schema

Accepts: TypeAlias = Callable[[Any], bool]
"""True: the value fits. False says nothing."""
Rule: TypeAlias = Callable[[Any, Schema], Accepts]
"""Makes what accepts values of one keyword, by its value and the schema around it."""

_SILENT = frozenset(
    {
        "$comment", "$defs", "default", "definitions", "deprecated", "description", "example",
        "examples", "format", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords that rule nothing out; formats are not checked."""
_TYPES: Mapping[str, frozenset[type]] = {
    "array": frozenset({list}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "null": frozenset({type(None)}),
    "number": frozenset({int, float}),
    "object": frozenset({dict}),
    "string": frozenset({str}),
}
_SCALARS = frozenset({str, int, bool, type(None)})
_NUMBERS = _TYPES["number"]
_PLAIN = frozenset[type]().union(*_TYPES.values())
_DRAFTS = ("draft-06", "draft-07", "2019-09", "2020-12")
"""In these all keywords here mean the same."""


def accepter(schema: Any) -> Accepts:
    """What accepts values of a schema.

    Args:
        schema: a checked schema; it must not be changed afterwards.
    """
    if schema is True:
        return _accept
    if not isinstance(schema, dict):
        return _say_nothing
    rules = []
    for keyword, value in schema.items():
        if keyword in _RULES:
            rules.append(_RULES[keyword](value, schema))
        elif keyword not in _SILENT:
            return _say_nothing
    return rules[0] if len(rules) == 1 else _every(rules)


def _accept(_: Any) -> bool:
    return True


def _say_nothing(_: Any) -> bool:
    return False


def _every(rules: list[Accepts]) -> Accepts:
    return lambda value: all(rule(value) for rule in rules)


def _of(kind: type, rule: Accepts) -> Accepts:
    """A rule for values of one type; other plain JSON is none of its business."""
    return lambda value: rule(value) if type(value) is kind else type(value) in _PLAIN


def _type(named: Any, _: Schema) -> Accepts:
    names = [named] if isinstance(named, str) else named
    kinds = frozenset[type]().union(*[_TYPES.get(name, frozenset()) for name in names])
    return lambda value: type(value) in kinds


def _enum(options: Any, _: Schema) -> Accepts:
    allowed = {(type(option), option) for option in options if type(option) in _SCALARS}
    return lambda value: type(value) in _SCALARS and (type(value), value) in allowed


def _const(constant: JSON, schema: Schema) -> Accepts:
    return _enum([constant], schema)


def _properties(properties: Any, schema: Schema) -> Accepts:
    """The properties, and all others by `additionalProperties`."""
    rules = {name: accepter(value) for name, value in properties.items()}
    others = accepter(schema.get("additionalProperties", True))
    return _of(
        dict, lambda value: all(rules.get(name, others)(item) for name, item in value.items())
    )


def _additional_properties(_: Any, schema: Schema) -> Accepts:
    """Part of the rule of `properties`, where there are any."""
    return _accept if "properties" in schema else _properties({}, schema)


def _required(names: Any, _: Schema) -> Accepts:
    wanted = frozenset(names)
    return _of(dict, lambda value: value.keys() >= wanted)


def _items(schema: Any, _: Schema) -> Accepts:
    rule = accepter(schema)
    return _of(list, lambda value: all(map(rule, value)))


def _any_of(branches: Any, _: Schema) -> Accepts:
    rules = [accepter(branch) for branch in branches]
    return lambda value: any(rule(value) for rule in rules)


def _all_of(branches: Any, _: Schema) -> Accepts:
    return _every([accepter(branch) for branch in branches])


def _draft(named: Any, _: Schema) -> Accepts:
    return _accept if any(draft in named for draft in _DRAFTS) else _say_nothing


def _number(fits: Callable[[Any, Any], bool]) -> Rule:
    """The rule of a bound on numbers."""

    def make(limit: Any, _: Schema) -> Accepts:
        if type(limit) not in _NUMBERS:
            return _say_nothing
        return lambda value: (
            fits(value, limit) if type(value) in _NUMBERS else type(value) in _PLAIN
        )

    return make


def _length(kind: type, fits: Callable[[Any, Any], bool]) -> Rule:
    """The rule of a bound on how long values of a type may be."""

    def make(limit: Any, _: Schema) -> Accepts:
        if type(limit) not in _NUMBERS:
            return _say_nothing
        return _of(kind, lambda value: fits(len(value), limit))

    return make


_RULES: Mapping[str, Rule] = {
    "$schema": _draft,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "const": _const,
    "enum": _enum,
    "exclusiveMaximum": _number(lt),
    "exclusiveMinimum": _number(gt),
    "items": _items,
    "maxItems": _length(list, le),
    "maxLength": _length(str, le),
    "maxProperties": _length(dict, le),
    "maximum": _number(le),
    "minItems": _length(list, ge),
    "minLength": _length(str, ge),
    "minProperties": _length(dict, ge),
    "minimum": _number(ge),
    "properties": _properties,
    "required": _required,
    "type": _type,
}
