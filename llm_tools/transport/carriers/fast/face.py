"""The fast client as an httpx transport, for whoever has an `httpx.AsyncClient`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx

from ...arrival import Attempt, Broken, deadline_of
from ...head import Head
from ...secret import KeyBytes
from ...slots import Slots
from .pool import FastArrival, FastPool

_FORBIDDEN = re.compile(rb"[\r\n\0]")
_CONNECTION_OF_ITS_OWN = (b"connection", b"keep-alive", b"transfer-encoding", b"content-length")


class FastTransport(httpx.AsyncBaseTransport):
    """HTTP/1.1 over plain or encrypted sockets: `httpx.AsyncClient(transport=FastTransport())`.

    Takes timeouts, headers and bodies as httpx gives them, and streams. Speaks neither HTTP/2 nor
    to a proxy. Connections stay open for 5 s; `aclose` closes them.
    """

    def __init__(self) -> None:
        self._slots = Slots()
        self._pools: dict[tuple[str, str, int], FastPool] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            httpx.TransportError: of the kind httpx's own transport raises.
        """
        if request.url.scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"{request.url.scheme!r} is not spoken here")
        head = Head(str(request.url.copy_with(fragment=None)), (), ())
        body = await request.aread()
        sent = (head, _lines_of(request, body), body)
        pool = self._pools.get(head.origin)
        if pool is None:
            pool = self._pools[head.origin] = FastPool(self._slots, head.scheme)
        times = request.extensions.get("timeout") or {}
        try:
            arrival = await self._start(pool, sent, times)
        except Broken as broken:
            failure = _httpx_error(broken)
        else:
            if request.method == "HEAD":  # its content-length is that of a body which never comes
                await arrival.aclose()
            return httpx.Response(
                arrival.status,
                headers=list(arrival.headers.items()),
                stream=_Body(arrival, times.get("read"), empty=request.method == "HEAD"),
            )
        raise failure

    async def aclose(self) -> None:
        """Close all connections that are not in use, and those in use as they come back."""
        pools = list(self._pools.values())
        self._pools.clear()
        for pool in pools:
            await pool.aclose()

    async def _start(
        self, pool: FastPool, sent: tuple[Head, KeyBytes, bytes], times: dict[str, Any]
    ) -> FastArrival:
        """Send, once more if a reused connection was dead before the first byte."""
        fresh = False
        while True:
            seconds = times.get("read")
            with anyio.CancelScope(deadline=deadline_of(seconds)) as scope:
                attempt = Attempt(scope, seconds, fresh=fresh, connect=times.get("connect"))
                try:
                    return await pool.exchange(*sent, attempt)
                except Broken as broken:
                    if broken.phase != "stale" or fresh:
                        raise
                    fresh = True
                    continue
            kind = httpx.ReadTimeout if attempt.sent else httpx.ConnectTimeout
            raise kind("no response head in time")


class _Body(httpx.AsyncByteStream):
    """A response's body; closing it early drops the connection."""

    def __init__(self, arrival: FastArrival, seconds: float | None, *, empty: bool) -> None:
        self._arrival = arrival
        self._seconds = seconds
        self._empty = empty

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._empty:
            raise StopAsyncIteration
        failure: httpx.TransportError = httpx.ReadTimeout("the body stalled")
        with anyio.move_on_after(self._seconds):
            try:
                return await self._arrival.read()
            except Broken as broken:
                failure = _httpx_error(broken)
        await self._arrival.aclose()
        raise failure

    async def aclose(self) -> None:
        await self._arrival.aclose()


def _lines_of(request: httpx.Request, body: bytes) -> KeyBytes:
    """The request's header lines, as they go on the wire; the body's length is known here."""
    fields = [
        field for field in request.headers.raw if field[0].lower() not in _CONNECTION_OF_ITS_OWN
    ]
    lines = [b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%b: %b" % field for field in fields]
    if body or request.method not in ("GET", "HEAD", "OPTIONS"):
        lines.append(b"content-length: %d" % len(body))
    for line in lines:
        if _FORBIDDEN.search(line):
            raise httpx.LocalProtocolError("a header of the request holds a line break")
    return KeyBytes(b"\r\n".join([*lines, b"", b""]))


def _httpx_error(broken: Broken) -> httpx.TransportError:
    kinds: dict[str, type[httpx.TransportError]] = {
        "connect": httpx.ConnectError,
        "protocol": httpx.RemoteProtocolError,
        "stale": httpx.RemoteProtocolError,
        "lost": httpx.RemoteProtocolError,
        "body": httpx.RemoteProtocolError,
    }
    kind = kinds[broken.phase]
    if broken.phase == "connect" and isinstance(broken.cause, TimeoutError):
        kind = httpx.ConnectTimeout
    return kind(str(broken.cause))
