"""The steady floor: HTTP/1.1 by hand over anyio's sockets, good for the canned server alone.

No client library, no limits, no timeouts, no retries; an idle connection is the last one on a list.
Nothing real can be as quick, and nothing in it changes with the number of calls in flight.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import agent_work
import anyio
from anyio.abc import SocketStream
from floor import Floor

_END = b"\r\n\r\n"


class SocketClient(Floor):
    """A request line, four headers and the body out; a status, a length and the body in."""

    def __init__(
        self, base_url: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> None:
        super().__init__(base_url, messages, tools)
        self._idle: list[SocketStream] = []

    def request(self) -> tuple[tuple[str, int], bytes]:
        """Where a request goes, and its bytes."""
        return self._address, b"%b%d\r\n\r\n%b" % (self._head, len(self._body), self._body)

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()

    def _aim_at(self, base_url: str) -> None:
        url = urlsplit(base_url)
        assert url.hostname is not None
        assert url.port is not None
        self._address = (url.hostname, url.port)
        self._head = (
            f"POST {url.path}/chat/completions HTTP/1.1\r\nhost: {url.netloc}\r\n"
            f"authorization: Bearer {agent_work.KEY}\r\ncontent-type: application/json\r\n"
            "content-length: "
        ).encode()

    async def _post(self, body: bytes) -> bytes:
        stream, head, received = await self._begin(body)
        start = head.index(b"\ncontent-length:") + 16
        length = int(head[start : head.index(b"\r", start)])
        while len(received) < length:
            received += await stream.receive()
        self._idle.append(stream)
        return received

    async def _receive(self, body: bytes) -> AsyncIterator[bytes]:
        stream, _, received = await self._begin(body)
        done = False
        while not done:
            place, chunks = 0, []
            while (line := received.find(b"\r\n", place)) >= 0:
                size = int(received[place:line], 16)
                if len(received) < line + 4 + size:
                    break
                chunks.append(received[line + 2 : line + 2 + size])
                place, done = line + 4 + size, size == 0
            if chunks:
                yield b"".join(chunks)
            received = received[place:] if done else received[place:] + await stream.receive()
        self._idle.append(stream)

    async def _begin(self, body: bytes) -> tuple[SocketStream, bytes, bytes]:
        """Send; the stream, the head of the answer in lower case, and what came after it."""
        stream = self._idle.pop() if self._idle else await anyio.connect_tcp(*self._address)
        await stream.send(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        received = await stream.receive()
        while (end := received.find(_END)) < 0:
            received += await stream.receive()
        assert received.startswith(b"HTTP/1.1 200")
        return stream, received[: end + 2].lower(), received[end + 4 :]
