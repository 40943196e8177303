"""Reading a model's arguments: exact, with a few deterministic repairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ..content import JSON
from .mending import (
    mend_commas,
    mend_controls,
    mend_quotes,
    mend_surrogates,
    strip_empty_objects,
    strip_fence,
)
from .schemas.kinds import type_of
from .schemas.nesting import is_deeper

MAX_NESTING = 64

_REPAIRS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("a code fence was taken off", strip_fence),
    ("an empty object in front was taken off", strip_empty_objects),
    ("trailing commas were taken out", mend_commas),
    ("single quotes became double ones", mend_quotes),
    ("raw control characters in strings were escaped", mend_controls),
)
_DOUBLE = "an object encoded twice was decoded twice"
_HALF = "halves of characters became U+FFFD"


class Arguments(Struct, frozen=True, kw_only=True):
    """What was read: `error` set means `input` is empty and `raw` is all there is."""

    input: dict[str, Any]
    raw: str | None = None
    error: str | None = None
    repairs: tuple[str, ...] = ()


class _Decoded(NamedTuple):
    value: JSON
    error: str | None = None
    notes: tuple[str, ...] = ()


def read_arguments(raw: Any, *, repair: bool) -> Arguments:
    """Read a JSON text or an already decoded value into an object; never raises.

    None, blank text and `null` mean `{}`. With `repair`, a text that is an object but for a code
    fence, an empty object in front, trailing commas, single quotes, raw control characters or a
    second encoding is mended, and `repairs` says how. Everything else that is no object is an
    `error`, and `raw` keeps the text.
    """
    if raw is None:
        return Arguments(input={})
    if isinstance(raw, str):
        return _read_text(raw, repair)
    if isinstance(raw, bytes | bytearray | memoryview):
        return _read_bytes(bytes(raw), repair)
    error = _not_usable(raw) or _not_json(raw)
    if error is None:
        return Arguments(input=raw)
    return Arguments(input={}, raw=_as_text(raw), error=error)


def _read_bytes(raw: bytes, repair: bool) -> Arguments:
    try:
        return _read_text(raw.decode(), repair)
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "backslashreplace")
        return Arguments(input={}, raw=text, error="the arguments are not valid UTF-8")


def _read_text(text: str, repair: bool) -> Arguments:
    if text.strip() in ("", "null"):
        return Arguments(input={}, raw=text)
    decoded = _decode(text)
    if repair and not isinstance(decoded.value, dict):
        decoded = _mend(text, decoded)
    error = decoded.error
    # What has fewer brackets than it may have levels needs no closer look.
    shallow = text.count("{") + text.count("[") <= MAX_NESTING and not decoded.notes
    if error is None and not (shallow and type(decoded.value) is dict):
        error = _not_usable(decoded.value)
    if error is not None:
        return Arguments(input={}, raw=text, error=error)
    return Arguments(input=decoded.value, raw=text, repairs=decoded.notes)


def _decode(text: str) -> _Decoded:
    notes: tuple[str, ...] = ()
    try:
        data = text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        data, notes = whole.encode(), (_HALF,)
    try:
        return _Decoded(msgspec.json.decode(data), notes=notes)
    except RecursionError:
        return _Decoded(None, "the arguments are nested too deeply")
    except msgspec.DecodeError as error:
        return _decode_halves(data, f"the arguments are not valid JSON: {error}")


def _decode_halves(data: bytes, error: str) -> _Decoded:
    mended = mend_surrogates(data)
    if mended == data:
        return _Decoded(None, error)
    try:
        return _Decoded(msgspec.json.decode(mended), notes=(_HALF,))
    except (msgspec.DecodeError, RecursionError):
        return _Decoded(None, error)


def _mend(text: str, first: _Decoded) -> _Decoded:
    """An object, by one repair after the other and a second decoding; else what came first."""
    found = _repaired(text, first)
    if isinstance(found.value, str):
        inner = _repaired(found.value, _decode(found.value))
        found = _Decoded(inner.value, inner.error, (*found.notes, _DOUBLE, *inner.notes))
    return found if isinstance(found.value, dict) else first


def _repaired(text: str, decoded: _Decoded) -> _Decoded:
    notes: list[str] = []
    for note, change in _REPAIRS:
        if decoded.error is None:
            break
        changed = change(text)
        if changed != text:
            text = changed
            notes.append(note)
            decoded = _decode(text)
    return decoded._replace(notes=(*notes, *decoded.notes))


def _not_usable(value: JSON) -> str | None:
    if not isinstance(value, dict):
        return f"the arguments must be a JSON object, not {_KINDS[type_of(value)]}"
    if is_deeper(value, MAX_NESTING):
        return f"the arguments are nested more than {MAX_NESTING} deep"
    return None


_KINDS = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "a number",
    "null": "null",
    "number": "a number",
    "object": "some other value",
    "string": "a string",
}


def _not_json(value: dict[Any, Any]) -> str | None:
    """What in a value that came decoded is none of JSON."""
    waiting: list[Any] = [value]
    while waiting:
        match waiting.pop():
            case dict() as item:
                if not all(isinstance(key, str) for key in item):
                    return "the arguments have a key that is no string"
                waiting.extend(item.values())
            case list() as item:
                waiting.extend(item)
            case float() as number if not math.isfinite(number):
                return f"the arguments hold {number}, which is not JSON"
            case None | str() | int() | float():
                pass
            case other:
                return f"the arguments hold a {type(other).__name__}, which is not JSON"
    return None


def _as_text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return f"({type(value).__name__}, which is not JSON)"
