"""Validated JSON back as the Python values that hints ask for; exact, nothing is coerced."""

from __future__ import annotations

import enum
import types
import typing
from collections import abc
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from ..content import JSON
from .generics import class_of
from .hints import Field, Namespace, fields_of, is_path, unwrap
from .python_schema import LISTS, MAPPINGS

Convert: TypeAlias = Callable[[JSON], Any]
"""Raises `msgspec.ValidationError` for a value that does not fit."""

_MAKERS: dict[Any, Callable[[list[Any]], Any]] = {
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
}


class Converters:
    """Makes converters; one for each function or type, so that types may hold themselves."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._made: dict[Any, Convert] = {}
        self._generic: dict[Any, Callable[[Any, tuple[Any, ...]], Convert]] = {
            typing.Union: self._union,
            types.UnionType: self._union,
            typing.Literal: self._literal,
            tuple: self._tuple,
            **dict.fromkeys(LISTS, self._list),
            **dict.fromkeys(MAPPINGS, self._mapping),
        }
        self.complete: bool = True
        """Whether every constraint of the hints made so far is checked on the way."""

    def of(self, hint: Any) -> Convert:
        """What turns a JSON value into a value of the hint."""
        if msgspec_reads(hint):
            return _by_msgspec(hint)
        # msgspec cannot tell some unions apart: take them, and whatever holds them, to pieces.
        self.complete = False
        bare, _ = unwrap(hint)
        origin = typing.get_origin(bare) or bare
        make = self._generic.get(origin)
        return make(origin, typing.get_args(bare)) if make else self._class(bare)

    def _union(self, _: Any, members: tuple[Any, ...]) -> Convert:
        there = [member for member in members if member is not msgspec.UnsetType]
        return _first_of([self.of(member) for member in _specific_first(there)])

    def _literal(self, _: Any, values: tuple[Any, ...]) -> Convert:
        return _one_of({(type(value), value): value for value in values})

    def _list(self, origin: Any, arguments: tuple[Any, ...]) -> Convert:
        return _each(self.of(arguments[0]), _MAKERS.get(origin, list))

    def _mapping(self, _: Any, arguments: tuple[Any, ...]) -> Convert:
        return _each_value(*map(self.of, arguments))

    def _tuple(self, _: Any, arguments: tuple[Any, ...]) -> Convert:
        if arguments[-1] is Ellipsis:
            return _each(self.of(arguments[0]), tuple)
        return _in_turn([self.of(argument) for argument in arguments])

    def _class(self, cls: Any) -> Convert:
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return _one_of({(type(item.value), item.value): item for item in cls})
        return self._structured(cls)

    def _structured(self, cls: Any) -> Convert:
        if cls in self._made:
            return lambda value: self._made[cls](value)
        self._made[cls] = lambda value: self._made[cls](value)
        fields = fields_of(cls, self._namespace)
        if fields is None:
            return _by_msgspec(cls)
        self._made[cls] = _fields(cls, [(field, self.of(field.hint)) for field in fields])
        return self._made[cls]


def msgspec_reads(hint: Any) -> bool:
    """Whether msgspec can read a type as it is."""
    try:
        msgspec.json.Decoder(hint)
    except (TypeError, NameError, AttributeError, RecursionError):
        return False
    return True


def _by_msgspec(hint: Any) -> Convert:
    def convert(value: JSON) -> Any:
        return msgspec.convert(value, hint, str_keys=True, dec_hook=_read_path)

    return convert


def _read_path(kind: Any, value: JSON) -> Any:
    """What msgspec does not read itself: a path."""
    if is_path(kind) and isinstance(value, str):
        return kind(value)
    raise msgspec.ValidationError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")


def _specific_first(members: list[Any]) -> list[Any]:
    """Text last: every date is text, but not every text is a date."""
    return sorted(members, key=lambda member: unwrap(member)[0] is str)


def _first_of(converters: list[Convert]) -> Convert:
    def convert(value: JSON) -> Any:
        problems: list[msgspec.ValidationError] = []
        for attempt in converters:
            try:
                return attempt(value)
            except msgspec.ValidationError as error:
                problems.append(error)
        # What only a class's own check refuses is what was meant.
        meant = [error for error in problems if error.__cause__ is not None]
        said = dict.fromkeys([str(error) for error in meant or problems])
        raise msgspec.ValidationError(" or ".join(said))

    return convert


def _one_of(members: dict[tuple[type, Any], Any]) -> Convert:
    def convert(value: JSON) -> Any:
        try:
            return members[type(value), value]
        except (KeyError, TypeError):
            listed = ", ".join([repr(known) for _, known in members])
            raise msgspec.ValidationError(f"Expected one of {listed}, got {value!r}") from None

    return convert


def _each(convert_item: Convert, make: Callable[[list[Any]], Any]) -> Convert:
    def convert(value: JSON) -> Any:
        items = _expect(value, list, "array")
        return make([_at(index, convert_item, item) for index, item in enumerate(items)])

    return convert


def _in_turn(converters: list[Convert]) -> Convert:
    def convert(value: JSON) -> Any:
        items = _expect(value, list, "array")
        if len(items) != len(converters):
            raise msgspec.ValidationError(
                f"Expected `array` of length {len(converters)}, got {len(items)}"
            )
        return tuple(
            _at(index, each, item)
            for index, (each, item) in enumerate(zip(converters, items, strict=True))
        )

    return convert


def _each_value(convert_key: Convert, convert_value: Convert) -> Convert:
    def convert(value: JSON) -> Any:
        items = _expect(value, dict, "object")
        return {convert_key(key): _at(key, convert_value, item) for key, item in items.items()}

    return convert


def _fields(cls: Any, fields: list[tuple[Field, Convert]]) -> Convert:
    make = class_of(cls)

    def convert(value: JSON) -> Any:
        given = _expect(value, dict, "object")
        found = {}
        for field, convert_field in fields:
            if field.wire in given:
                found[field.name] = _at(field.wire, convert_field, given[field.wire])
            elif field.required:
                raise msgspec.ValidationError(f"Object missing required field `{field.wire}`")
        try:
            return make(**found)
        except (ValueError, TypeError) as error:  # its own check, as msgspec takes it
            raise msgspec.ValidationError(str(error)) from error

    return convert


def _expect(value: JSON, kind: type, word: str) -> Any:
    if not isinstance(value, kind):
        name = "null" if isinstance(value, types.NoneType) else type(value).__name__
        raise msgspec.ValidationError(f"Expected `{word}`, got `{name}`")
    return value


def _at(step: str | int, convert: Convert, value: JSON) -> Any:
    """Convert what stands at a step, and name the step where it does not fit."""
    try:
        return convert(value)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{error} (in {step!r})") from None
