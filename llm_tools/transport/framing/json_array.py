"""One JSON array, handed out element by element (Gemini's stream without `alt=sse`)."""

from __future__ import annotations

import re

from ...spec import Frame

_STRUCTURE = re.compile(rb'["\[\]{},]')
_IN_STRING = re.compile(rb'["\\]')
_OPENING = b"[{"
_CLOSING = b"]}"


class JsonArrayFraming:
    """Scans every byte once; an object or array is given out with its last byte.

    Elements are not decoded here: what is malformed inside one is the decoder's to say.
    """

    __slots__ = ("_depth", "_ended", "_escaped", "_in_string", "_parts")

    def __init__(self) -> None:
        self._depth = 0
        self._ended = False
        self._in_string = False
        self._escaped = False
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Frame]:
        """The elements this chunk completes."""
        frames: list[Frame] = []
        start = position = 0
        while not self._ended:
            if self._in_string:
                position = self._skip_string(chunk, position)
                if self._in_string:
                    break
            found = _STRUCTURE.search(chunk, position)
            if found is None:
                break
            position = found.end()
            start = self._step(chunk, found.group(), start, position, frames)
        if not self._ended:
            self._parts.append(chunk[start:])
        return frames

    def close(self) -> list[Frame]:
        """An element that was cut off: whoever decodes it must see that."""
        frames: list[Frame] = []
        self._give(frames)
        return frames

    def _step(
        self, chunk: bytes, mark: bytes, start: int, position: int, frames: list[Frame]
    ) -> int:
        """Take one structural byte; returns where the bytes not yet kept begin."""
        if mark == b'"':
            self._in_string = True
        elif mark in _OPENING:
            self._depth += 1
            if self._depth == 1:
                return position
        elif mark in _CLOSING:
            self._depth -= 1
            self._ended = self._depth == 0
            if self._depth == 1:
                self._parts.append(chunk[start:position])
                self._give(frames)
                return position
        if self._depth <= 1 and mark in b",]}":
            self._parts.append(chunk[start : position - 1])
            self._give(frames)
            return position
        return start

    def _skip_string(self, chunk: bytes, position: int) -> int:
        """Go to the end of the string, or of the chunk."""
        if self._escaped and position < len(chunk):
            self._escaped = False
            position += 1
        while found := _IN_STRING.search(chunk, position):
            position = found.end()
            if found.group() == b'"':
                self._in_string = False
                return position
            if position == len(chunk):
                self._escaped = True
                return position
            position += 1
        return len(chunk)

    def _give(self, frames: list[Frame]) -> None:
        element = b"".join(self._parts).strip()
        self._parts.clear()
        if element:
            frames.append(Frame(None, element))
