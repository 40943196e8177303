"""One HTTP/1.1 response, parsed by httptools, or by h11 where that is missing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from ...arrival import Broken

LARGEST_HEAD = 262_144
_OVERHEAD_PER_BYTE = 16
"""How many bytes of framing a byte of the body may cost: chunks of one byte cost six."""


class ResponseParser(Protocol):
    """Bytes in; status, headers and body out.

    Attributes:
        head_done: whether status and headers are there (of the final response, not of a 1xx).
        complete: whether the body has ended.
        reusable: whether the connection may carry another request.
    """

    status: int
    headers: Mapping[str, str]
    head_done: bool
    complete: bool
    reusable: bool

    def feed(self, data: bytes) -> None:
        """Take bytes as they came.

        Raises:
            Broken: they are no HTTP, or framing without end.
        """

    def feed_eof(self) -> bool:
        """The connection has ended; returns whether that is an end the response may have."""

    def take(self) -> bytes:
        """The body's bytes that have come since."""


def create_parser() -> ResponseParser:
    """A parser for one response."""
    return _parser_class()()  # type: ignore[no-any-return]


@lru_cache
def _parser_class() -> Any:
    try:
        from .httptools_parser import HttptoolsParser
    except ImportError:
        from .h11_parser import H11Parser

        return H11Parser
    return HttptoolsParser


class Overhead:
    """Counts what is not body, so that headers, chunk extensions or trailers without end stop."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = LARGEST_HEAD

    def count(self, fed: int, body: int) -> None:
        """Count bytes fed, of which some were body.

        Raises:
            Broken: there is too much around the body.
        """
        self._left += body * (1 + _OVERHEAD_PER_BYTE) - fed
        if self._left < 0:
            raise Broken("protocol", ValueError("headers or framing of the response have no end"))
        if self._left > LARGEST_HEAD and body:
            self._left = LARGEST_HEAD
