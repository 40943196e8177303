"""A body that turns out to be no stream: one JSON value, or text."""

from __future__ import annotations

from ...spec import Frame


class WholeBody:
    """Keeps everything and gives it out as one frame at the end."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Frame]:
        """Nothing yet."""
        self._parts.append(chunk)
        return []

    def close(self) -> list[Frame]:
        """The body, unless it is blank."""
        body = b"".join(self._parts).strip()
        self._parts.clear()
        return [Frame(None, body)] if body else []
