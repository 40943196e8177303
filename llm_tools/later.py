"""Names of other rooms for type hints alone, which are looked up when somebody reads the hints."""

from __future__ import annotations

from typing import Any, ForwardRef


def later(room: str, name: str) -> Any:
    """What stands for a name in hints, as long as `typing.get_type_hints` does not ask.

    It lets a room name types of rooms above it, and of rooms it need not load.
    """
    return ForwardRef(f"__import__('llm_tools.{room}', fromlist=['']).{name}")
