"""The parser over h11, for where httptools is not installed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import h11

from ...arrival import Broken
from ...headers import decode_headers
from .parsing import LARGEST_HEAD, Overhead


class H11Parser:
    """One response."""

    __slots__ = ("_body", "_connection", "_overhead", "complete", "head_done", "headers",
                 "reusable", "status")  # fmt: skip

    def __init__(self) -> None:
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self._connection.send(h11.Request(method="POST", target="/", headers=[("host", "-")]))
        self._connection.send(h11.EndOfMessage())
        self._overhead = Overhead()
        self._body: list[bytes] = []
        self.status: int = 0
        self.headers: Mapping[str, str] = {}
        self.head_done: bool = False
        self.complete: bool = False
        self.reusable: bool = False

    def feed(self, data: bytes) -> None:
        """Take bytes as they came."""
        if self.complete:
            self.reusable = False
            return
        self._connection.receive_data(data)
        self._overhead.count(len(data), self._advance())

    def feed_eof(self) -> bool:
        """The connection has ended."""
        if not self.complete:
            self._connection.receive_data(b"")
            with suppress(Broken):
                self._advance()
        self.reusable = False
        return self.complete

    def take(self) -> bytes:
        """The body's bytes that have come since."""
        taken = b"".join(self._body)
        self._body.clear()
        return taken

    def _advance(self) -> int:
        """Read the events there are; returns how much body they held."""
        had = 0
        while not self.complete:
            try:
                event = self._connection.next_event()
            except h11.RemoteProtocolError as error:
                raise Broken("protocol", ValueError(f"no HTTP response ({error})")) from None
            if isinstance(event, h11.Response):
                self._read_head(event)
            elif isinstance(event, h11.Data):
                had += len(event.data)
                self._body.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                self.complete = True
                self.reusable = self.reusable and not self._connection.trailing_data[0]
            elif (
                event is h11.NEED_DATA
                or event is h11.PAUSED
                or isinstance(event, h11.ConnectionClosed)
            ):
                break
        return had

    def _read_head(self, event: h11.Response) -> None:
        self.status = event.status_code
        raw = {bytes(name): bytes(value) for name, value in event.headers}
        self.headers = decode_headers(raw.items())
        self.head_done = True
        connection = self.headers.get("connection", "").lower()
        if event.http_version == b"1.0":
            self.reusable = "keep-alive" in connection
        else:
            self.reusable = "close" not in connection
