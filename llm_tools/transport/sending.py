"""`Transport`: auth, limits, attempts and timeouts around one exchange."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeAlias, TypeVar

import anyio

from ..errors import ResponseDecodeError
from .arrival import Arrival, Attempt, Broken
from .carrying import Carriers
from .framing import create_framing
from .head import Head
from .heads import Heads
from .judging import Failed, broke, no_api, past_deadline, refused, timed_out
from .locating import locate
from .masking import mask_answer
from .message import HttpAnswer, Location, OutgoingRequest
from .observing import Watch, is_observed
from .opening import OpenStream
from .receiving import is_web_page, read_answer, read_error
from .retrying import wait_before
from .settings import TransportSettings

T = TypeVar("T")
Take: TypeAlias = Callable[
    [Arrival, OutgoingRequest, Head, Attempt, float | None], Awaitable[T | Failed]
]
"""What is done with a 2xx response: read it whole, or hand it on as a stream."""


class Transport:
    """Sends requests for one set of settings, in any event loop.

    Connections are shared within a loop by all transports of like settings; `async with` takes
    private ones, counted, until its last exit.
    """

    __slots__ = ("_carriers", "_heads", "_settings")

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        proxied = settings.client is None and isinstance(settings.transport, str)
        self._heads = Heads(allow_http=settings.allow_http, proxied=proxied)
        self._carriers = Carriers(settings)

    @property
    def settings(self) -> TransportSettings:
        """What it was made with."""
        return self._settings

    async def send(self, request: OutgoingRequest) -> HttpAnswer:
        """One request, one whole answer.

        Raises:
            ConfigurationError: address or key are missing or impossible; nothing was sent.
            ProviderError: the answer's status is 300 or above.
            TransportError: no answer came; `RequestTimeoutError`: not in time.
            ResponseDecodeError: the answer is too large, or no answer of an API.
        """
        seconds = self._settings.deadline
        if seconds is None:
            return await self._attempts(request, _take_whole, None)
        return await self._within_deadline(request, _take_whole, seconds)

    async def open(self, request: OutgoingRequest) -> OpenStream:
        """One request, its answer as a stream; raises what `send` does, until its head is there."""
        seconds = self._settings.deadline
        if seconds is None:
            return await self._attempts(request, self._take_stream, None)
        return await self._within_deadline(request, self._take_stream, seconds)

    def locate(self, request: OutgoingRequest) -> Location:
        """Where the request would go. No I/O, no key needed.

        Raises:
            ConfigurationError: the address is incomplete or impossible.
        """
        return locate(request)

    async def __aenter__(self) -> Self:
        self._carriers.hold()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._carriers.release()

    async def aclose(self) -> None:
        """Close the private connections of this loop, if there are any; a later call reopens."""
        await self._carriers.aclose()

    async def _within_deadline(self, request: OutgoingRequest, take: Take[T], seconds: float) -> T:
        deadline = anyio.current_time() + seconds
        with anyio.CancelScope(deadline=deadline):
            return await self._attempts(request, take, deadline)
        raise past_deadline(request.target.endpoint.key, seconds)

    async def _attempts(self, request: OutgoingRequest, take: Take[T], deadline: float | None) -> T:
        number = 1
        fresh = False
        while True:
            watch = Watch(request, number) if is_observed() else None
            outcome = await self._attempt(request, take, deadline, fresh=fresh)
            if not isinstance(outcome, Failed):
                if watch is not None:
                    watch.succeeded()
                return outcome
            if outcome.stale and number == 1 and not fresh:
                # The server had most likely closed it before it saw the request: that is no failed
                # attempt; but where there are attempts left it is counted, so they stay the limit.
                if watch is not None:
                    watch.failed(outcome.error, 0.0)
                fresh = True
                number = min(2, self._settings.max_attempts)
                continue
            wait = self._wait_after(outcome, number, deadline)
            if watch is not None:
                watch.failed(outcome.error, wait)
            if wait is None:
                break
            await anyio.sleep(wait)
            number += 1
        raise outcome.error

    async def _attempt(
        self, request: OutgoingRequest, take: Take[T], deadline: float | None, *, fresh: bool
    ) -> T | Failed:
        settings = self._settings
        endpoint = request.target.endpoint.key
        if settings.limiter is not None:
            await settings.limiter.acquire(request.body)
        head = await self._heads.find(request)
        carrier = self._carriers.choose(head)
        cause: Exception | None = None
        with anyio.move_on_after(settings.timeout) as scope:
            idle = None if request.framing is None else settings.timeout
            attempt = Attempt(scope, settings.timeout, fresh=fresh, idle=idle)
            try:
                arrival = await carrier.start(head, request.body, attempt)
                if settings.limiter is not None:
                    settings.limiter.observe(arrival.status, arrival.headers)
                if arrival.status >= 300:
                    body = await read_error(arrival, attempt)
                    return refused(endpoint, head, arrival.status, body, arrival.headers)
                return await take(arrival, request, head, attempt, deadline)
            except Broken as broken:
                if broken.phase != "idle":
                    return broke(endpoint, head, broken)
                cause = broken.cause
            except ResponseDecodeError as error:
                return Failed(error.with_traceback(None))
        return timed_out(endpoint, attempt, settings.timeout, cause)

    async def _take_stream(
        self,
        arrival: Arrival,
        request: OutgoingRequest,
        head: Head,
        attempt: Attempt,
        deadline: float | None,
    ) -> OpenStream | Failed:
        if "html" in arrival.headers.get("content-type", ""):
            page = await read_error(arrival, attempt)
            return Failed(no_api(request.target.endpoint.key, head, page))
        try:
            return OpenStream(
                arrival,
                framer=create_framing(request.framing or "sse"),
                endpoint=request.target.endpoint.key,
                needles=head.needles,
                idle=self._settings.timeout,
                deadline=deadline,
            )
        except BaseException:
            await arrival.aclose()
            raise

    def _wait_after(self, failed: Failed, number: int, deadline: float | None) -> float | None:
        """Seconds until the next attempt; None where there is none."""
        if not failed.retried or number >= self._settings.max_attempts:
            return None
        wait = wait_before(number, failed.wait)
        late = deadline is not None and anyio.current_time() + wait >= deadline
        return None if late else wait


async def _take_whole(
    arrival: Arrival,
    request: OutgoingRequest,
    head: Head,
    attempt: Attempt,
    deadline: float | None,
) -> HttpAnswer | Failed:
    body = await read_answer(arrival)
    if is_web_page(arrival.headers, body):
        return Failed(no_api(request.target.endpoint.key, head, body))
    headers = head.needles.mask_values(arrival.headers)
    return HttpAnswer(arrival.status, headers, mask_answer(body, head.needles))
