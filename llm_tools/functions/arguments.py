"""Reading a model's arguments: exact, with a few deterministic repairs."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class Arguments(Struct, frozen=True, kw_only=True):
    """What was read: `error` set means `input` is empty and `raw` is all there is."""

    input: dict[str, Any]
    raw: str | None = None
    error: str | None = None
    repairs: tuple[str, ...] = ()


def read_arguments(raw: Any, *, repair: bool) -> Arguments:
    """Read a JSON text or an already decoded value into an object."""
    if isinstance(raw, dict):
        return Arguments(input=raw)
    try:
        value = msgspec.json.decode(raw or "{}")
    except msgspec.DecodeError as error:
        return Arguments(input={}, raw=raw, error=str(error))
    if not isinstance(value, dict):
        return Arguments(input={}, raw=raw, error="not an object")
    return Arguments(input=value, raw=raw)
