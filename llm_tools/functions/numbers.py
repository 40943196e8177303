"""NaN and the infinities: numbers JSON does not have, which msgspec would send as null."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

from ..errors import ConfigurationError
from .schemas.walking import Path, where

_MOST_VALUES = 100_000
# Their bytes in MessagePack. No text holds them: 0xCB leads a character that goes on otherwise.
_LACKING = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]").search


def refuse_lacking(content: bytes, value: Any, owner: str) -> None:
    """Refuse a value one of whose numbers became null in its JSON.

    Args:
        content: the value as JSON. Without a null in it there is nothing to look for.
        value: what was encoded: plain values and structs.
        owner: whose value it is, for the message.

    Raises:
        ConfigurationError: naming the owner, the number, and the JSON pointer to it.
    """
    if b"null" not in content or not _may_lack(value):
        return
    found = find_lacking(msgspec.to_builtins(value))
    if found is not None:
        path, number = found
        raise ConfigurationError(
            f"{owner} holds {number!r} at {where(path)}, a number JSON does not have: leave it "
            "out, or write it as a string."
        )


def find_lacking(value: Any) -> tuple[Path, float] | None:
    """The first such number in a value of plain dicts and lists, and the path to it."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    seen = 0
    while waiting and seen < _MOST_VALUES:
        seen += 1
        path, item = waiting.pop()
        if isinstance(item, float) and not isfinite(item):
            return path, item
        if isinstance(item, Mapping):
            waiting.extend(((*path, key), inner) for key, inner in item.items())
        elif isinstance(item, list | tuple):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(item))
    return None


def _may_lack(value: Any) -> bool:
    try:
        return _LACKING(msgspec.msgpack.encode(value)) is not None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return True  # MessagePack knows no integers beyond 64 bits
