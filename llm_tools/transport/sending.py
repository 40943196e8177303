"""`Transport`: auth, limits, attempts, timeouts around one exchange."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

import anyio

from .. import faults
from ..errors import RequestTimeoutError, ResponseDecodeError, TransportError
from .arrival import Arrival, Broken, Progress
from .carrying import Carriers
from .framing import create_framing
from .head import Head
from .heads import Heads
from .inflating import Inflater
from .locating import locate
from .masking import mask_answer, mask_error_body, mask_headers
from .message import HttpAnswer, Location, OutgoingRequest
from .opening import OpenStream
from .retrying import is_retried, wait_before
from .settings import TransportSettings

LARGEST_ANSWER = 64_000_000
_LARGEST_ERROR = 1_000_000
_log = logging.getLogger("llm_tools.transport")
_log.addHandler(logging.NullHandler())

T = TypeVar("T")


class Failed:
    """An attempt that failed: what to raise, and whether and when to try again."""

    __slots__ = ("error", "retried", "wait")

    def __init__(self, error: Exception, *, retried: bool = False, wait: float | None = None):
        self.error = error
        self.retried = retried
        self.wait = wait


class Transport:
    """Sends requests for one set of settings, in any event loop.

    Connections are shared within a loop by all transports of like settings; `async with` takes
    private ones, counted, until its last exit.
    """

    __slots__ = ("_carriers", "_heads", "_settings")

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._heads = Heads(allow_http=settings.allow_http)
        self._carriers = Carriers(settings)

    async def send(self, request: OutgoingRequest) -> HttpAnswer:
        """One request, one whole answer.

        Raises:
            ConfigurationError: address or key are missing or impossible; nothing was sent.
            ProviderError: the answer's status is 300 or above.
            TransportError: no answer came; `RequestTimeoutError`: not in time.
            ResponseDecodeError: the answer is too large, or no answer of an API.
        """
        return await self._within_deadline(request, self._receive)

    async def open(self, request: OutgoingRequest) -> OpenStream:
        """One request, its answer as a stream; raises what `send` does until its head is there."""
        return await self._within_deadline(request, self._open_stream)

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

    async def _within_deadline(
        self, request: OutgoingRequest, use: Callable[..., Awaitable[T | Failed]]
    ) -> T:
        seconds = self._settings.deadline
        if seconds is None:
            return await self._attempts(request, use, None)
        deadline = anyio.current_time() + seconds
        with anyio.CancelScope(deadline=deadline):
            return await self._attempts(request, use, deadline)
        raise RequestTimeoutError(
            f"{request.target.endpoint.key} did not answer within the deadline of {seconds:g} s; "
            "raise deadline=, or ask for less.",
            endpoint=request.target.endpoint.key,
        )

    async def _attempts(
        self,
        request: OutgoingRequest,
        use: Callable[..., Awaitable[T | Failed]],
        deadline: float | None,
    ) -> T:
        attempt = 1
        while True:
            head = await self._heads.find(request)
            outcome = await use(request, head, deadline)
            if not isinstance(outcome, Failed):
                return outcome
            wait = wait_before(attempt, outcome.wait)
            late = deadline is not None and anyio.current_time() + wait >= deadline
            if not outcome.retried or attempt >= self._settings.max_attempts or late:
                break
            _log.info(
                "%s: attempt %d failed (%s), the next in %.1f s",
                request.target.endpoint.key,
                attempt,
                type(outcome.error).__name__,
                wait,
            )
            await anyio.sleep(wait)
            attempt += 1
        raise outcome.error

    async def _receive(
        self, request: OutgoingRequest, head: Head, deadline: float | None
    ) -> HttpAnswer | Failed:
        carrier = self._carriers.choose(head)
        progress = Progress()
        with anyio.move_on_after(self._settings.timeout):
            try:
                arrival = await carrier.start(head, request.body, progress)
                try:
                    body = await _read_whole(arrival, LARGEST_ANSWER)
                finally:
                    await arrival.aclose()
            except Broken as broken:
                return _broken(request, broken)
            except ResponseDecodeError as error:
                return Failed(error)
            if arrival.status >= 300:
                return _refused(request, head, arrival, body)
            return HttpAnswer(arrival.status, arrival.headers, mask_answer(body, head.secrets))
        return _timed_out(request, progress, self._settings.timeout)

    async def _open_stream(
        self, request: OutgoingRequest, head: Head, deadline: float | None
    ) -> OpenStream | Failed:
        carrier = self._carriers.choose(head)
        progress = Progress()
        with anyio.move_on_after(self._settings.timeout):
            try:
                arrival = await carrier.start(head, request.body, progress)
                if arrival.status >= 300:
                    try:
                        body = await _read_whole(arrival, _LARGEST_ERROR)
                    finally:
                        await arrival.aclose()
                    return _refused(request, head, arrival, body)
            except Broken as broken:
                return _broken(request, broken)
            except ResponseDecodeError as error:
                return Failed(error)
            return OpenStream(
                arrival,
                framer=create_framing(request.framing or "sse"),
                endpoint=request.target.endpoint.key,
                secrets=head.secrets,
                idle=self._settings.timeout,
                deadline=deadline,
            )
        return _timed_out(request, progress, self._settings.timeout)


async def _read_whole(arrival: Arrival, limit: int) -> bytes:
    inflater = Inflater(arrival.headers, limit)
    parts: list[bytes] = []
    while chunk := await arrival.read():
        parts.append(inflater.feed(chunk))
    parts.append(inflater.close())
    return b"".join(parts)


def _refused(request: OutgoingRequest, head: Head, arrival: Arrival, body: bytes) -> Failed:
    headers = mask_headers(arrival.headers, head.secrets)
    error = faults.provider_error(
        request.target.endpoint.key,
        status=arrival.status,
        body=mask_error_body(body, head.secrets),
        headers=headers,
    )
    return Failed(error, retried=is_retried(error, headers), wait=error.retry_after)


def _broken(request: OutgoingRequest, broken: Broken) -> Failed:
    key = request.target.endpoint.key
    error = TransportError(f"The connection to {key} broke: {broken.cause}", endpoint=key)
    error.__cause__ = broken.cause
    return Failed(error, retried=broken.phase in ("connect", "stale", "lost") and not broken.final)


def _timed_out(request: OutgoingRequest, progress: Progress, seconds: float | None) -> Failed:
    key = request.target.endpoint.key
    error = RequestTimeoutError(f"{key} did not answer within {seconds:g} s.", endpoint=key)
    return Failed(error, retried=not progress.sent)
