"""Checking a value against a schema, exactly (`"1"` is no integer)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from ..content import JSON


def validate(schema: dict[str, JSON], value: JSON) -> str | None:
    """What is wrong with `value`, for a model to read (JSON pointer, expected, got); else None."""
    errors = _validator(msgspec.json.encode(schema)).iter_errors(value)
    found = [f"at {'/' + '/'.join(map(str, e.absolute_path))}: {e.message}" for e in errors]
    return "; ".join(found) or None


@lru_cache(maxsize=512)
def _validator(schema: bytes) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(msgspec.json.decode(schema))
