"""How deep a JSON value is nested, found without recursion."""

from __future__ import annotations

from ..content import JSON


def is_deeper(value: JSON, levels: int) -> bool:
    """Whether objects and lists stand more than `levels` deep inside each other."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            child
            for item in layer
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not layer:
            return False
    return any(isinstance(item, dict | list) for item in layer)
