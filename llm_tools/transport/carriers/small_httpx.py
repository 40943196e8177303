"""httpx below its client: each connection is a transport of its own, kept in our free list.

httpx's pool looks at every connection twice per request; with one connection per transport, the
cost of a request does not grow with their number.
"""

from __future__ import annotations

from typing import Any

import httpx

from ..arrival import CONNECT_TIME, Arrival, Attempt, Broken
from ..head import Head
from ..quiet import KeysInHand, find_loggers
from ..slots import Slots
from ..tls import shared_context
from .connections import KEEP_ALIVE, Connections
from .httpx_request import BodyAtOnce, HttpxArrival, close_half_open, tracer, translated

_LOGGERS = find_loggers(("httpcore.connection", "httpcore.http11"))
_LIMITS = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_ALIVE)


class SmallHttpxPool:
    """The connections to one origin in one loop."""

    __slots__ = ("_connections", "_context")

    def __init__(self, slots: Slots, scheme: str) -> None:
        self._context = shared_context(scheme)
        self._connections: Connections[httpx.AsyncHTTPTransport] = Connections(slots, _close)

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send on a free connection, or a new one, and wait for the response head."""
        connections = self._connections
        transport = None if attempt.fresh else connections.take()
        if transport is None:
            transport = await connections.acquire(attempt)
        times = {"connect": CONNECT_TIME, "read": attempt.idle, "write": None, "pool": None}
        extensions: dict[str, Any] = {"timeout": times}
        reused = transport is not None
        if transport is None:
            transport = httpx.AsyncHTTPTransport(verify=self._context, limits=_LIMITS)
            extensions["trace"] = tracer(attempt)
        try:
            hand = KeysInHand(head.secrets, _LOGGERS)
            with hand:
                response = await transport.handle_async_request(_request(head, body, extensions))
        except Exception as error:  # noqa: BLE001 - ends as Broken, outside this frame
            broken = translated(error, "lost", head.secrets)
        except BaseException as interruption:  # noqa: BLE001 - it is raised again
            await close_half_open(attempt)
            await connections.drop(transport)
            raise interruption.with_traceback(None)  # noqa: B904 - the frames below hold the key
        else:
            return SmallArrival(response, head, connections, transport, hand)
        await connections.drop(transport)
        if reused and isinstance(broken, Broken) and broken.phase == "lost":
            broken.phase = "stale"
        return await self._start_again(head, body, attempt, broken)

    async def _start_again(
        self, head: Head, body: bytes, attempt: Attempt, error: Exception
    ) -> Arrival:
        """Once more, if there was no file left for a connection and now is one; or raise."""
        crowded = isinstance(error, Broken) and error.crowded
        if crowded and await self._connections.make_room(attempt):
            return await self.start(head, body, attempt)
        raise error

    async def aclose(self, *, at_once: bool = False) -> None:
        """Close what is free now, and what is in use as it comes back."""
        await self._connections.aclose()


class SmallArrival(HttpxArrival):
    """A response that gives its connection back once it was read to its end."""

    __slots__ = ("_connections", "_transport")
    keeps_time = True

    def __init__(
        self,
        response: httpx.Response,
        head: Head,
        connections: Connections[httpx.AsyncHTTPTransport],
        transport: httpx.AsyncHTTPTransport,
        hand: KeysInHand,
    ) -> None:
        super().__init__(response, head.secrets, hand)
        self._connections = connections
        self._transport: httpx.AsyncHTTPTransport | None = transport

    async def aclose(self) -> None:
        """Give the connection back, or drop it."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        kept = False
        try:
            if self.ended:  # nothing is left to wait for, so it needs no shield of ours
                await self._response.stream.aclose()
                kept = not _has_more(transport)
                kept = kept and "close" not in self.headers.get("connection", "").lower()
            else:
                await super().aclose()
        finally:
            if not (kept and self._connections.put_back(transport)):
                await self._connections.drop(transport)


def _has_more(transport: Any) -> bool:
    """Whether bytes came behind the response: h11 would read them as the next one."""
    try:
        return bool(transport._pool._connections[0]._connection._h11_state.trailing_data[0])  # noqa: SLF001 - nothing public tells
    except (AttributeError, IndexError):
        return False


async def _close(transport: httpx.AsyncHTTPTransport) -> None:
    await transport.aclose()


def _request(head: Head, body: bytes, extensions: dict[str, Any]) -> httpx.Request:
    if head.prepared is None:
        fields = [(b"host", head.netloc.encode())]
        fields += [(name.encode(), value.encode("latin-1")) for name, value in head.fields]
        head.prepared = httpx.URL(head.url), fields
    url, fields = head.prepared
    return httpx.Request(
        "POST",
        url,
        headers=[*fields, (b"content-length", b"%d" % len(body))],
        stream=_Body(body),
        extensions=extensions,
    )


class _Body(BodyAtOnce, httpx.AsyncByteStream):
    """The same for httpx, which asks for its own kind."""

    __slots__ = ()
