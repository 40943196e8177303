"""Where a JSON value departs from a Python type: a vendor's TypedDict or pydantic model.

Stricter than pydantic's own reading of it: an unknown key is a departure, and nothing is converted.
"""

from __future__ import annotations

import base64
import binascii
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import typing_extensions
from pydantic import BaseModel

Extras = Mapping[str, Mapping[str, Any]]
"""Keys a server takes though the vendor's type lacks them: type's name to key to kind."""

_MARKS = (
    typing_extensions.Required,
    typing_extensions.NotRequired,
    typing_extensions.ReadOnly,
    typing.Annotated,
)
_LISTS = (list, Iterable, Sequence)
_DICTS = (dict, Mapping)
_TAGS = ("type", "role")


class Field(NamedTuple):
    """One key of an object: its kind, and whether it must be there."""

    kind: Any
    required: bool


def departures(value: Any, kind: Any, *, at: str = "$", extras: Extras | None = None) -> list[str]:
    """One line for each place where `value` is not of `kind`; none if it fits."""
    return list(_depart(value, _bare(kind), at, extras or {}))


def _depart(value: Any, kind: Any, at: str, extras: Extras) -> Iterator[str]:
    origin, args = typing_extensions.get_origin(kind), typing_extensions.get_args(kind)
    if origin in (typing.Literal, typing_extensions.Literal):
        if not any(value == arg and type(value) is type(arg) for arg in args):
            yield f"{at}: {value!r} is none of {list(args)}"
    elif origin in (typing.Union, types.UnionType):
        yield from _depart_from_all(value, args, at, extras)
    elif _is_list(origin, kind):
        yield from _depart_from_list(value, args[0] if args else Any, at, extras)
    elif origin in _DICTS or kind is dict:
        yield from _depart_from_dict(value, args[1] if args else Any, at, extras)
    elif isinstance(kind, type):
        yield from _depart_from_class(value, kind, at, extras)


def _depart_from_class(value: Any, kind: type, at: str, extras: Extras) -> Iterator[str]:
    if issubclass(kind, Enum):
        if value not in [member.value for member in kind]:
            yield f"{at}: {value!r} is no {kind.__name__}"
    elif _is_object(kind):
        yield from _depart_from_object(value, kind, at, extras)
    elif kind not in (object, Any, typing_extensions.Any):
        judges = [fits for scalar, fits in _SCALARS.items() if issubclass(kind, scalar)]
        if not judges or not judges[0](value):
            yield f"{at}: {value!r:.80} is no {kind.__name__}"


def _depart_from_object(value: Any, kind: Any, at: str, extras: Extras) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r:.80} is no object ({kind.__name__})"
        return
    fields = _fields(kind)
    more = extras.get(kind.__name__, {})
    for key, item in value.items():
        if key in fields or key in more:
            inner = fields[key].kind if key in fields else more[key]
            yield from _depart(item, _bare(inner), f"{at}.{key}", extras)
        elif not _is_open(kind):
            yield f"{at}.{key}: unknown to {kind.__name__}"
    for key, field in fields.items():
        if field.required and key not in value:
            yield f"{at}.{key}: missing in {kind.__name__}"


def _depart_from_all(
    value: Any, kinds: Sequence[Any], at: str, extras: Extras
) -> Sequence[str] | Iterator[str]:
    """Nothing if one of the kinds fits; else what keeps it from the kind it was meant to be."""
    tried = []
    for kind in kinds:
        found = list(_depart(value, _bare(kind), at, extras))
        if not found:
            return []
        meant = (_is_alike(kind, value), _is_tagged_for(kind, value), -len(found))
        tried.append((meant, found))
    return max(tried, key=lambda item: item[0])[1]


def _is_alike(kind: Any, value: Any) -> bool:
    """Whether both are lists, or both are objects."""
    bare = _bare(kind)
    origin = typing_extensions.get_origin(bare)
    if isinstance(value, list):
        return _is_list(origin, bare)
    return isinstance(value, dict) and (origin in _DICTS or bare is dict or _is_object(bare))


def _is_tagged_for(kind: Any, value: Any) -> bool:
    """Whether an object's `type` or `role` is the one that this kind is told by."""
    bare = _bare(kind)
    if not isinstance(value, dict) or not _is_object(bare):
        return False
    fields = _fields(bare)
    tags = [tag for tag in _TAGS if tag in fields and tag in value]
    return bool(tags) and not any(
        list(_depart(value[tag], _bare(fields[tag].kind), tag, {})) for tag in tags
    )


def _depart_from_list(value: Any, kind: Any, at: str, extras: Extras) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{at}: {value!r:.80} is no list"
        return
    for position, item in enumerate(value):
        yield from _depart(item, _bare(kind), f"{at}.{position}", extras)


def _depart_from_dict(value: Any, kind: Any, at: str, extras: Extras) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r:.80} is no object"
        return
    for key, item in value.items():
        yield from _depart(item, _bare(kind), f"{at}.{key}", extras)


# ---------------------------------------------------------------- what a type is


def _bare(kind: Any) -> Any:
    """The kind without marks and names; as `get_type_hints` may leave them."""
    while True:
        origin = typing_extensions.get_origin(kind)
        if isinstance(kind, typing_extensions.TypeAliasType):
            kind = kind.__value__
        elif isinstance(origin, typing_extensions.TypeAliasType):
            kind = origin.__value__[typing_extensions.get_args(kind)]
        elif origin in _MARKS:
            kind = typing_extensions.get_args(kind)[0]
        elif isinstance(kind, typing.NewType):
            kind = kind.__supertype__
        elif kind is None:
            return type(None)
        else:
            return kind


def _is_list(origin: Any, kind: Any) -> bool:
    # openai's own protocol for "a sequence that is no string"
    return origin in _LISTS or kind is list or getattr(origin, "__name__", "") == "SequenceNotStr"


def _is_object(kind: Any) -> bool:
    return typing_extensions.is_typeddict(kind) or (
        isinstance(kind, type) and issubclass(kind, BaseModel)
    )


def _is_open(kind: Any) -> bool:
    config = getattr(kind, "model_config", None) or getattr(kind, "__pydantic_config__", None)
    return bool(config) and config.get("extra") == "allow"


@cache
def _fields(kind: Any) -> dict[str, Field]:
    if typing_extensions.is_typeddict(kind):
        hints = typing_extensions.get_type_hints(kind, include_extras=True)
        return {key: Field(hint, _is_required(kind, key, hint)) for key, hint in hints.items()}
    return {
        field.alias or name: Field(field.annotation, field.is_required())
        for name, field in kind.model_fields.items()
    }


def _is_required(kind: Any, key: str, hint: Any) -> bool:
    """As the mark says; without one, as the class does (marks in strings do not count there)."""
    mark = typing_extensions.get_origin(hint)
    if mark in (typing_extensions.Required, typing_extensions.NotRequired):
        return mark is typing_extensions.Required
    return key in kind.__required_keys__


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(base64.b64decode(value, validate=True))
    except binascii.Error:
        return False


# `bool` before `int`, whose subclass it is.
_SCALARS: dict[type, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    bool: lambda value: isinstance(value, bool),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: _is_number,
    bytes: _is_base64,
    type(None): lambda value: value is None,
}
