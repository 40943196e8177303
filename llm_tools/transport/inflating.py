"""Undoing a body's compression and counting its bytes, within bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from ..errors import ResponseDecodeError

_IDENTITY = ("", "identity")
_AUTOMATIC = zlib.MAX_WBITS | 32  # gzip or zlib, by the header
_LONGEST_LENGTH = 20  # digits; int() refuses thousands of them
_RAW = -zlib.MAX_WBITS
_TELLING = 2
"""With how many bytes zlib tells whether data are what it takes them for."""


class Inflater:
    """Takes a body's bytes as they are on the wire, gives them out plain, up to `limit` in all.

    What goes in is bounded as well: compressed bytes may stand for nothing, without end.

    Raises:
        ResponseDecodeError: on making it: an encoding nobody asked for.
    """

    __slots__ = ("_decompressor", "_encoding", "_left", "_limit", "_packed", "_start")

    def __init__(self, headers: Mapping[str, str], limit: int) -> None:
        self._encoding = headers.get("content-encoding", "").strip().lower()
        self._decompressor = None
        self._start: bytes | None = b""  # until there is enough of it
        self._limit = self._left = self._packed = limit
        if self._encoding in ("gzip", "x-gzip", "deflate"):
            self._decompressor = zlib.decompressobj(_AUTOMATIC)
        elif self._encoding not in _IDENTITY:
            raise ResponseDecodeError(
                f"The answer is encoded as {self._encoding!r}, which was not asked for; look at "
                "what stands between here and the provider.",
                retryable=False,
            )
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:_LONGEST_LENGTH]) > limit:
            raise self.too_large()

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to undo, only to count."""
        return self._decompressor is None

    def feed(self, chunk: bytes) -> bytes:
        """The plain bytes of this chunk.

        Raises:
            ResponseDecodeError: the bytes are not so encoded, or more than the limit.
        """
        if self._decompressor is not None:
            self._packed -= len(chunk)
            if self._packed < 0:
                raise self.too_large()
            chunk = self._inflate(chunk)
        self._left -= len(chunk)
        if self._left < 0:
            raise self.too_large()
        return chunk

    def close(self) -> bytes:
        """What the decompressor still holds.

        Raises:
            ResponseDecodeError: the compressed data were cut off.
        """
        if self._decompressor is None:
            return b""
        rest = self._decompressor.flush()
        if not self._decompressor.eof and self._start != b"":
            raise ResponseDecodeError("The compressed answer was cut off; ask again.")
        return rest

    def _inflate(self, chunk: bytes) -> bytes:
        decompressor = self._decompressor
        assert decompressor is not None  # noqa: S101 - the caller looked
        if decompressor.eof:
            return b""  # it would keep what comes behind its end
        first = self._start is not None
        if self._start is not None:
            chunk = self._start + chunk
            if len(chunk) < _TELLING:
                self._start = chunk
                return b""
            self._start = None
        plain, reason = _decompress(decompressor, chunk, self._left + 1)
        if plain is None and first and self._encoding == "deflate":
            # Some servers send raw deflate under this name (RFC 9110, 8.4.1.2).
            self._decompressor = decompressor = zlib.decompressobj(_RAW)
            plain, reason = _decompress(decompressor, chunk, self._left + 1)
        if plain is None:
            raise ResponseDecodeError(
                f"The answer could not be decompressed ({reason}); ask again."
            )
        return plain

    def too_large(self) -> ResponseDecodeError:
        """The error of a body above the limit."""
        return ResponseDecodeError(
            f"The answer is larger than {self._limit // 1_000_000} MB; ask for less.",
            retryable=False,
        )


def _decompress(decompressor: Any, chunk: bytes, limit: int) -> tuple[bytes | None, str]:
    """The plain bytes, or why there are none. The error itself would bring the bytes along."""
    try:
        return decompressor.decompress(chunk, limit), ""
    except zlib.error as error:
        return None, str(error)
