"""Where a JSON value departs from a shape of botocore's service models.

botocore's own validation looks neither at enums and patterns nor at the members of a union.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from typing import Any


@cache
def converse_shape() -> Any:
    """The input of Bedrock's `Converse`."""
    from botocore.session import get_session

    model = get_session().get_service_model("bedrock-runtime")
    return model.operation_model("Converse").input_shape


def departures(value: Any, shape: Any, at: str = "$") -> Iterator[str]:
    """One line for each place where `value` is not of the shape; none if it fits."""
    if getattr(shape, "is_document_type", False):
        return
    kind = shape.type_name
    if kind == "structure":
        yield from _structure(value, shape, at)
    elif kind == "list":
        yield from _list(value, shape, at)
    elif kind == "map":
        for key, item in value.items():
            yield from departures(item, shape.value, f"{at}.{key}")
    elif kind == "string":
        yield from _string(value, shape, at)
    elif not _SCALARS[kind](value):
        yield f"{at}: {value!r} is no {kind}"


def _structure(value: Any, shape: Any, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r:.80} is no object ({shape.name})"
        return
    if shape.metadata.get("union") and len(value) != 1:
        yield f"{at}: exactly one of {list(shape.members)}, not {list(value)}"
    for key, item in value.items():
        if key in shape.members:
            yield from departures(item, shape.members[key], f"{at}.{key}")
        else:
            yield f"{at}.{key}: unknown to {shape.name}"
    for key in shape.required_members:
        if key not in value:
            yield f"{at}.{key}: missing in {shape.name}"


def _list(value: Any, shape: Any, at: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{at}: {value!r:.80} is no list"
        return
    if len(value) < shape.metadata.get("min", 0):
        yield f"{at}: too short"
    for position, item in enumerate(value):
        yield from departures(item, shape.member, f"{at}.{position}")


def _string(value: Any, shape: Any, at: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{at}: {value!r:.80} is no string"
        return
    limits, pattern = shape.metadata, shape.metadata.get("pattern")
    if not limits.get("min", 0) <= len(value) <= limits.get("max", len(value)):
        yield f"{at}: {len(value)} characters are too few or too many"
    if pattern and not re.fullmatch(pattern, value):
        yield f"{at}: {value!r} does not match {pattern}"
    if shape.enum and value not in shape.enum:
        yield f"{at}: {value!r} is none of {shape.enum}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(base64.b64decode(value, validate=True))
    except binascii.Error:
        return False


_SCALARS = {
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_whole,
    "long": _is_whole,
    "float": _is_number,
    "double": _is_number,
    "blob": _is_base64,
}
