"""A whole client: the caller's own, or ours where a proxy or HTTP/2 asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import anyio

from ...errors import ConfigurationError
from ..arrival import CONNECT_TIME, Arrival, Attempt, Reader
from ..head import Head
from ..quiet import KeysInHand
from ..slots import allowed_connections
from ..tls import shared_context
from .connections import KEEP_ALIVE
from .httpx_request import (
    CLOSING_TIME,
    BodyAtOnce,
    HttpxArrival,
    close_half_open,
    tracer,
    translated,
)


class ClientCarrier:
    """Sends through an `httpx.AsyncClient` or one with its interface; follows no redirect."""

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send, and wait for the response head.

        Raises:
            ConfigurationError: the client has been closed.
        """
        client = self._client
        if getattr(client, "is_closed", False):
            raise ConfigurationError("client= has been closed: give one that is open.")
        try:
            request = client.build_request(
                "POST",
                head.url,
                headers=dict(head.fields),
                content=body,
                timeout=(CONNECT_TIME, None, None, None),
                extensions={"trace": tracer(attempt)},
            )
            library: Any = type(getattr(request, "stream", None))
            kind = _body_kind(library)
            if kind is not None:
                request.stream = kind(body)
            if _has_pool(client, request):
                attempt.pause()
            hand = KeysInHand(head.secrets)
            with hand:
                response = await client.send(request, stream=True, follow_redirects=False)
            return HttpxArrival(response, head.secrets, hand)
        except Exception as error:  # noqa: BLE001 - ends as Broken, outside this frame
            broken = translated(error, "lost", head.secrets)
        except BaseException as interruption:  # noqa: BLE001 - it is raised again
            await close_half_open(attempt)
            raise interruption.with_traceback(None)  # noqa: B904 - the frames below hold the key
        raise broken


class ClientPool(ClientCarrier):
    """A client of our own, with the proxies of the environment."""

    __slots__ = ("_closed", "_in_use")

    def __init__(self, scheme: str, *, http2: bool) -> None:
        import httpx

        try:
            client = httpx.AsyncClient(
                verify=shared_context(scheme, http2=http2),
                http2=http2,
                limits=httpx.Limits(
                    max_connections=allowed_connections(), keepalive_expiry=KEEP_ALIVE
                ),
            )
        except ImportError as missing:
            raise ConfigurationError(
                f"A package is missing ({missing}): pip install 'llm-tools[http2]' for http2=True, "
                "or 'httpx[socks]' for a SOCKS proxy."
            ) from None
        super().__init__(client)
        self._in_use = 0
        self._closed = False

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send, and wait for the response head."""
        self._in_use += 1
        try:
            return _PoolArrival(await super().start(head, body, attempt), self)
        except BaseException:
            await self.leave()
            raise

    async def leave(self) -> None:
        """A request is done; the last one after `aclose` closes the client."""
        self._in_use -= 1
        if self._closed and not self._in_use:
            with anyio.move_on_after(CLOSING_TIME, shield=True):
                await self._client.aclose()

    async def aclose(self, *, at_once: bool = False) -> None:
        """Close all its connections; where some are in use and have time, with the last of them."""
        self._closed = True
        if at_once or not self._in_use:
            await self._client.aclose()


class _PoolArrival:
    """A response that keeps its client open until it was let go."""

    __slots__ = ("_arrival", "_pool", "ended", "headers", "status")
    keeps_time = False

    def __init__(self, arrival: Arrival, pool: ClientPool) -> None:
        self._arrival = arrival
        self._pool: ClientPool | None = pool
        self.status: int = arrival.status
        self.headers: Mapping[str, str] = arrival.headers
        self.ended: bool = False

    def open_reader(self) -> Reader:
        """What gives the next bytes; see `Arrival`."""
        return self._arrival.open_reader()

    def explain(self, error: Exception) -> Exception | None:
        """What the reader's error means; see `Arrival`."""
        failure = self._arrival.explain(error)
        self.ended = self._arrival.ended
        return failure

    async def aclose(self) -> None:
        """Let go of the connection, at any time."""
        pool, self._pool = self._pool, None
        try:
            await self._arrival.aclose()
        finally:
            if pool is not None:
                await pool.leave()


@lru_cache
def _body_kind(stream: type) -> Any:
    """A stream for the library whose stream this is; None where it has no such thing."""
    base = next((kind for kind in stream.__mro__ if kind.__name__ == "AsyncByteStream"), None)
    if base is None:
        return None

    class Body(base):  # type: ignore[misc, valid-type]  # httpx's, or httpx2's
        def __init__(self, body: bytes) -> None:
            self._body = body

        def __aiter__(self) -> BodyAtOnce:
            return BodyAtOnce(self._body)

    return Body


def _has_pool(client: Any, request: Any) -> bool:
    """Whether the request may have to wait for a connection of httpcore's, which is no failure.

    The clock stands until httpcore's first word about it. Of other transports none may come.
    """
    find = getattr(client, "_transport_for_url", None)
    return find is not None and hasattr(find(request.url), "_pool")
