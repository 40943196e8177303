"""One streamed request to the engine's own server, given up the moment its client leaves.

No HTTP library: the socket must be watched together with the client's, and closing it is what
stops the engine.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

from msgspec import Struct

from .client import Client

_READ_SIZE = 65536


class Address(Struct, frozen=True):
    """Where the engine listens, and the key it wants."""

    host: str
    port: int
    key: str


class Refused(Exception):  # noqa: N818 - an answer of the engine's, to be read by its caller
    """The engine answered with another status than 200."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class Exchange:
    """A request on its way; `close` ends the engine's work on it."""

    def __init__(self, address: Address, body: bytes, client: Client) -> None:
        self._client = client
        self._socket = socket.create_connection((address.host, address.port))
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\n"
            f"Host: {address.host}:{address.port}\r\n"
            f"Authorization: Bearer {address.key}\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        self._socket.sendall(head.encode() + body)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def events(self) -> Iterator[bytes]:
        """The payload of each server-sent event.

        Raises:
            Refused: the engine said no.
            ClientGone: the client left.
            ConnectionError: the engine hung up in the middle.
        """
        status, chunked, body = self._head()
        if chunked:
            body = _unchunked(body)
        if status != 200:
            raise Refused(status, b"".join(body))
        yield from _payloads(body)

    def _head(self) -> tuple[int, bool, Iterator[bytes]]:
        received = b""
        while b"\r\n\r\n" not in received:
            piece = self._receive()
            if not piece:
                raise ConnectionError("the engine hung up")
            received += piece
        head, _, rest = received.partition(b"\r\n\r\n")
        return (
            int(head.split(b" ", 2)[1]),
            b"transfer-encoding: chunked" in head.lower(),
            self._rest(rest),
        )

    def _rest(self, first: bytes) -> Iterator[bytes]:
        piece = first or self._receive()
        while piece:
            yield piece
            piece = self._receive()

    def _receive(self) -> bytes:
        self._client.wait_for(self._socket)
        return self._socket.recv(_READ_SIZE)


def _unchunked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of `Transfer-Encoding: chunked`."""
    buffer = b""
    for piece in pieces:
        buffer += piece
        while (end := buffer.find(b"\r\n")) >= 0:
            size = int(buffer[:end], 16)
            start = end + 2
            if len(buffer) < start + size + 2:
                break
            if not size:
                return
            yield buffer[start : start + size]
            buffer = buffer[start + size + 2 :]
    raise ConnectionError("the engine hung up")


def _payloads(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What follows `data: ` in a line; blank lines and comments are left out."""
    buffer = b""
    for piece in pieces:
        *lines, buffer = (buffer + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                yield line[6:]
