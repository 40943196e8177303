"""How deep a JSON value is nested, found without recursion."""

from __future__ import annotations

import msgspec

from ...content import JSON

MAX_NESTING = 256
"""What the caller may give: no schema comes near it, and encoding it never exhausts the stack."""


def decode_shallow(data: bytes) -> JSON:
    """The value of JSON bytes.

    Raises:
        RecursionError: it is nested deeper than `MAX_NESTING`.
    """
    value = msgspec.json.decode(data)
    if is_deeper(value, MAX_NESTING):
        raise RecursionError
    return value


def is_deeper(value: JSON, levels: int) -> bool:
    """Whether objects and lists stand more than `levels` deep inside each other."""
    layer = [value]
    for _ in range(levels):
        layer = [
            child
            for item in layer
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not layer:
            return False
    return any(isinstance(item, dict | list) for item in layer)
