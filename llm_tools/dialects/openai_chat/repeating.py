"""Chunks that repeat the one before them but for one string: nearly all that a call consists of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec

_PROBE = "\x00 probe \x00"
_TOKEN = msgspec.json.encode(_PROBE)
_decode_text = msgspec.json.Decoder(str).decode


class Repetition:
    """What stands before and after the string.

    A chunk with these ends and one JSON string between them is, but for that string, the chunk
    they were learned from: only the string has to be decoded.
    """

    __slots__ = ("_after", "_before", "_end", "_start")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before = before
        self._after = after
        self._start = len(before)
        self._end = -len(after)

    @classmethod
    def learn(cls, data: bytes, text: str, read: Callable[[bytes], str | None]) -> Self | None:
        """From a chunk and a text in it.

        Args:
            read: gives the text of any chunk. Asked for that of the same chunk with another text
                in the place that was found, it tells whether that is the right place.
        """
        before, found, after = data.partition(msgspec.json.encode(text))
        if not (found and after):
            return None
        try:
            right = read(before + _TOKEN + after) == _PROBE
        except msgspec.DecodeError:
            return None
        return cls(before, after) if right else None

    def read(self, data: bytes) -> str | None:
        """The text of a chunk that repeats; None of one that does not."""
        if data.startswith(self._before) and data.endswith(self._after):
            try:
                return _decode_text(data[self._start : self._end])
            except msgspec.DecodeError:
                return None
        return None
