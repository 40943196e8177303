"""httpx below its client: each connection is a transport of its own, kept in our free list.

httpx's pool looks at every connection twice per request; with one connection per transport, the
cost of a request does not grow with their number.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import anyio
import httpx

from ..arrival import Arrival, Broken, Progress
from ..head import Head
from ..tls import shared_context
from .httpx_request import CLOSING_TIME, HttpxArrival, tracer, translated

KEEP_ALIVE = 5.0
_TIMEOUT = {"connect": 10.0, "read": None, "write": None, "pool": None}
_LIMITS = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_ALIVE)


class SmallHttpxPool:
    """The connections to one origin in one loop; the one used last is used first."""

    __slots__ = ("_closings", "_idle")

    def __init__(self) -> None:
        self._idle: deque[tuple[httpx.AsyncHTTPTransport, float]] = deque()
        self._closings = 0

    async def start(self, head: Head, body: bytes, progress: Progress) -> Arrival:
        """Send on a free connection, or a new one, and wait for the response head."""
        transport = await self._free()
        extensions: dict[str, Any] = {"timeout": _TIMEOUT}
        reused = transport is not None
        if transport is None:
            transport = httpx.AsyncHTTPTransport(verify=shared_context(head.scheme), limits=_LIMITS)
            extensions["trace"] = tracer(progress)
        if head.prepared is None:
            head.prepared = _prepare(head)
        url, fields = head.prepared
        try:
            response = await transport.handle_async_request(
                httpx.Request(
                    "POST",
                    url,
                    headers=[*fields, (b"content-length", b"%d" % len(body))],
                    stream=httpx.ByteStream(body),
                    extensions=extensions,
                )
            )
        except Exception as error:
            broken = translated(error, "lost", head.secrets)
        except BaseException:
            await self._drop(transport)
            raise
        else:
            return _SmallArrival(response, head, self, transport)
        await self._drop(transport)
        if reused and isinstance(broken, Broken) and broken.phase == "lost":
            broken.phase = "stale"
        raise broken

    async def aclose(self) -> None:
        """Close what is idle now, and what is in use as it comes back."""
        self._closings += 1
        while self._idle:
            await self._drop(self._idle.pop()[0])

    @property
    def closings(self) -> int:
        """How often this pool was closed; a connection from before is not taken back."""
        return self._closings

    def take_back(self, transport: httpx.AsyncHTTPTransport) -> None:
        """A connection whose response was read to its end."""
        self._idle.append((transport, anyio.current_time() + KEEP_ALIVE))

    async def _free(self) -> httpx.AsyncHTTPTransport | None:
        """The connection used last; those that were idle for too long are closed."""
        idle = self._idle
        if not idle:
            return None
        now = anyio.current_time()
        transport, until = idle.pop()
        if until > now:
            if idle and idle[0][1] <= now:
                await self._drop(idle.popleft()[0])
            return transport
        idle.append((transport, until))
        while idle:
            await self._drop(idle.pop()[0])
        return None

    @staticmethod
    async def _drop(transport: httpx.AsyncHTTPTransport) -> None:
        with anyio.move_on_after(CLOSING_TIME, shield=True):
            await transport.aclose()


class _SmallArrival(HttpxArrival):
    """A response that gives its connection back once it was read to its end."""

    __slots__ = ("_closings", "_ended", "_pool", "_transport")

    def __init__(
        self,
        response: httpx.Response,
        head: Head,
        pool: SmallHttpxPool,
        transport: httpx.AsyncHTTPTransport,
    ) -> None:
        super().__init__(response, head.secrets)
        self._pool = pool
        self._closings = pool.closings
        self._transport: httpx.AsyncHTTPTransport | None = transport
        self._ended = False

    async def read(self) -> bytes:
        """The next bytes of the body; empty at the end."""
        chunk = await super().read()
        self._ended = not chunk
        return chunk

    async def aclose(self) -> None:
        """Give the connection back, or drop it."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        await super().aclose()
        if self._ended and self._pool.closings == self._closings:
            self._pool.take_back(transport)
        else:
            with anyio.move_on_after(CLOSING_TIME, shield=True):
                await transport.aclose()


def _prepare(head: Head) -> tuple[httpx.URL, list[tuple[bytes, bytes]]]:
    fields = [(b"host", head.netloc.encode())]
    fields += [(name.encode(), value.encode("latin-1")) for name, value in head.fields]
    return httpx.URL(head.url), fields
