"""Any Python value as a JSON value that survives every encoder."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from enum import Enum
from math import inf, isfinite, isnan
from typing import Any, cast
from uuid import UUID

import msgspec

from ..content import JSON

_TOO_DEEP = 100  # levels; the strictest provider stops reading there
_MOST_BITS = 14_000
_DEEP = "(nested too deeply)"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def json_safe(value: Any) -> JSON:
    """A JSON value that says what `value` says; the same object where it is JSON already.

    Dates, times and UUIDs become their ISO text, decimals their digits, bytes their text (base64
    where they are none), NaN and infinities their names, sets and other collections lists,
    dataclasses, `msgspec.Struct`s and pydantic models objects, keys text (a list of pairs where
    two keys would become one), and everything else its `str()`. Lone surrogates become U+FFFD.
    Never raises.
    """
    try:
        return _convert(value, ())
    except RecursionError:
        return _DEEP


def legal_text(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be sent as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _convert(value: Any, path: tuple[int, ...]) -> JSON:
    leaf = _LEAVES.get(type(value))
    if leaf is not None:
        return leaf(value)
    if id(value) in path:
        return "(a reference to an enclosing value)"
    if len(path) >= _TOO_DEEP:
        return _DEEP
    return _convert_branch(value, (*path, id(value)))


def _convert_branch(value: Any, path: tuple[int, ...]) -> JSON:
    if type(value) is dict:
        return _convert_dict(value, path)
    if type(value) is list:
        return _convert_list(value, path)
    try:
        return _convert(_unpack(value), path)
    except Exception:  # noqa: BLE001 - a stranger's property, iterator or __str__ may do anything
        return f"<{type(value).__qualname__} object>"


def _convert_dict(value: dict[Any, Any], path: tuple[int, ...]) -> JSON:
    pairs = [(_key(key), _convert(item, path)) for key, item in value.items()]
    if all(a is b and x is y for (a, x), (b, y) in zip(pairs, value.items(), strict=True)):
        return value
    converted = dict(pairs)
    if len(converted) < len(pairs):
        return [[_convert(key, path), item] for key, (_, item) in zip(value, pairs, strict=True)]
    return converted


def _key(key: Any) -> str:
    if type(key) is str:
        return legal_text(key)
    safe = json_safe(key)
    return safe if isinstance(safe, str) else msgspec.json.encode(safe).decode()


def _convert_list(value: list[Any], path: tuple[int, ...]) -> JSON:
    items = [_convert(item, path) for item in value]
    return value if all(a is b for a, b in zip(items, value, strict=True)) else items


def _unpack(value: Any) -> Any:
    """One layer of a value that is no plain leaf, dict or list."""
    for known, unpack in _UNPACKERS:
        if isinstance(value, known):
            return unpack(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for method, arguments in _METHODS.items():
        if callable(getattr(type(value), method, None)):
            return getattr(value, method)(**arguments)
    for kind, collect in _COLLECTIONS:
        if isinstance(value, kind):
            return collect(value)
    return _ADDRESS.sub("", str(value))


def _in_order(values: Iterable[Any]) -> list[Any]:
    items = list(values)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)


def _from_int(value: int) -> JSON:
    """Python writes no more than some thousand digits; longer numbers are told in hex."""
    return value if value.bit_length() <= _MOST_BITS else hex(value)


def _from_float(value: float) -> JSON:
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value == inf else "-Infinity"


def _from_bytes(value: bytes | bytearray | memoryview) -> str:
    raw = bytes(value)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode()
    return base64.b64encode(raw).decode() if "\0" in text else text


def _from_struct(value: msgspec.Struct) -> dict[str, Any]:
    """The fields as msgspec would encode them: under their own names, tagged, unset ones out."""
    config = value.__struct_config__
    names, defaults = value.__struct_fields__, value.__struct_defaults__
    optional = dict(zip(reversed(names), reversed(defaults), strict=False))
    fields = {config.tag_field: config.tag} if config.tag_field else {}
    for name, wire in zip(names, value.__struct_encode_fields__, strict=True):
        item = getattr(value, name)
        omitted = config.omit_defaults and name in optional and item == optional[name]
        if item is not msgspec.UNSET and not omitted:
            fields[wire] = item
    return fields


def _from_exception(value: BaseException) -> str:
    return str(value) or type(value).__name__


def _same(value: Any) -> Any:
    return value


_LEAVES: dict[type, Callable[[Any], JSON]] = {
    str: legal_text,
    bool: _same,
    int: _from_int,
    type(None): _same,
    float: _from_float,
    bytes: _from_bytes,
    bytearray: _from_bytes,
    memoryview: _from_bytes,
    datetime.datetime: datetime.datetime.isoformat,
    datetime.date: datetime.date.isoformat,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: cast("Callable[[Any], JSON]", msgspec.to_builtins),
    UUID: str,
    Decimal: str,
}

_UNPACKERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.value),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (Decimal, str),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    ((bytes, bytearray), bytes),
    (msgspec.Struct, _from_struct),
    (BaseException, _from_exception),
)

_COLLECTIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Mapping, dict),
    (Set, _in_order),
    (Sequence, list),
)

_METHODS: dict[str, dict[str, Any]] = {
    "model_dump": {"mode": "json"},  # pydantic
    "tolist": {},  # numpy, array
}
