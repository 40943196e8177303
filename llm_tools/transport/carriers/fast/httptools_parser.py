"""The parser over httptools, which is llhttp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import httptools

from ...arrival import Broken
from ...headers import decode_headers
from .parsing import Overhead


class HttptoolsParser:
    """One response."""

    __slots__ = ("_body", "_had", "_overhead", "_parser", "_raw", "_until_eof", "complete",
                 "head_done", "headers", "on_header", "reusable", "status")  # fmt: skip

    def __init__(self) -> None:
        # Headers, and trailers, which nobody needs, go where they are kept without a detour.
        self._raw: dict[bytes, bytes] = {}
        self.on_header: Callable[[bytes, bytes], None] = self._raw.__setitem__
        self._parser: Any = httptools.HttpResponseParser(self)
        self._overhead = Overhead()
        self._body: list[bytes] = []
        self._had = 0
        self._until_eof = False
        self.status: int = 0
        self.headers: Mapping[str, str] = {}
        self.head_done: bool = False
        self.complete: bool = False
        self.reusable: bool = False

    def feed(self, data: bytes) -> None:
        """Take bytes as they came."""
        if self.complete:
            self.reusable = False  # bytes nobody asked for
            return
        before = self._had
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.complete:
                raise Broken("protocol", ValueError(f"no HTTP response ({error})")) from None
            self.reusable = False
        self._overhead.count(len(data), self._had - before)

    def feed_eof(self) -> bool:
        """The connection has ended."""
        self.reusable = False
        self.complete = self.complete or (self.head_done and self._until_eof)
        return self.complete

    def take(self) -> bytes:
        """The body's bytes that have come since."""
        body = self._body
        if not body:
            return b""
        taken = body[0] if len(body) == 1 else b"".join(body)
        body.clear()
        return taken

    def on_message_begin(self) -> None:
        """A response begins: the first, the one after a 1xx, or one nobody asked for."""
        if self.complete:
            self.reusable = False
        else:
            self._raw.clear()

    def on_headers_complete(self) -> None:
        """The head is there, unless it is that of a 1xx."""
        if self.complete:
            return
        self.status = self._parser.get_status_code()
        if self.status >= 200:
            self.head_done = True
            self.reusable = self._parser.should_keep_alive()
            headers = self.headers = decode_headers(self._raw.items())
            self._until_eof = "content-length" not in headers and "transfer-encoding" not in headers

    def on_body(self, data: bytes) -> None:
        """Bytes of the body, without their chunks' framing."""
        if not self.complete:
            self._had += len(data)
            self._body.append(data)

    def on_message_complete(self) -> None:
        """The response has ended; the parser is let go, for it refers back."""
        if self.head_done and not self.complete:
            self.complete = True
            self._parser = None
