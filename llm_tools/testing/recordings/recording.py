"""A transport that writes down what goes through it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from os import PathLike
from pathlib import Path

import httpx
from anyio import CancelScope, CapacityLimiter, to_thread

from ...transport.headers import decode_headers
from ...transport.tls import shared_context
from .exchange import write_line
from .file import RecordingFile
from .taping import Tape, make_exchange


class RecordingTransport(httpx.AsyncBaseTransport):
    """Records real exchanges: `use_llm(…, transport=RecordingTransport("answers.jsonl"))`.

    Every request goes out as it is; when its answer has ended, or was left, the exchange becomes a
    line of the file, without any key. `ReplayTransport` answers from it. A request that got no
    answer leaves no line.

    One transport makes one file, which must not be there before, and may serve any number of models
    and calls at the same time.
    """

    def __init__(
        self, path: str | PathLike[str], transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        """Say where to.

        Args:
            path: the file; its folder is made if need be.
            transport: what sends the requests; httpx's own if not given, without a proxy.
        """
        self._file = RecordingFile(Path(path))
        self._transport = transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; its answer is recorded while it is read.

        Raises:
            ConfigurationError: the file holds something already, or cannot be written; nothing was
                sent.
        """
        await _in_thread(self._file.begin)
        if self._transport is None:
            self._transport = _make_transport()
        body = await request.aread()
        response = await self._transport.handle_async_request(request)

        async def keep(chunks: tuple[bytes, ...], ended: bool, error: Exception | None) -> None:
            tape = _make_tape(request, body, response, chunks, ended=ended, error=error)
            await _in_thread(lambda: self._file.append(write_line(make_exchange(tape))))

        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Taped(response, keep),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the transport that sends the requests."""
        if self._transport is not None:
            await self._transport.aclose()


class _Taped(httpx.AsyncByteStream):
    """The chunks of an answer, remembered as they are read, and kept when it is closed."""

    def __init__(
        self,
        response: httpx.Response,
        keep: Callable[[tuple[bytes, ...], bool, Exception | None], Awaitable[None]],
    ) -> None:
        self._response = response
        self._keep = keep
        self._source: AsyncIterator[bytes] | None = None
        self._chunks: list[bytes] = []
        self._end: BaseException | None = None
        self._kept = False

    def __aiter__(self) -> _Taped:
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101 - an async transport's
        self._source = aiter(stream)
        return self

    async def __anext__(self) -> bytes:
        assert self._source is not None  # noqa: S101 - made by __aiter__
        try:
            chunk = await anext(self._source)
        except BaseException as end:
            # What comes after the first is that the iterator has ended, whatever ended it.
            self._end = self._end or end
            raise
        self._chunks.append(chunk)
        return chunk

    async def aclose(self) -> None:
        """Let go of the answer, and write the exchange down, also where that is cancelled."""
        try:
            await self._response.aclose()
        finally:
            if not self._kept:
                self._kept = True
                ended = isinstance(self._end, StopAsyncIteration)
                broken = self._end if isinstance(self._end, Exception) and not ended else None
                with CancelScope(shield=True):
                    await self._keep(tuple(self._chunks), ended, broken)


def _make_tape(
    request: httpx.Request,
    body: bytes,
    response: httpx.Response,
    chunks: tuple[bytes, ...],
    *,
    ended: bool,
    error: Exception | None,
) -> Tape:
    return Tape(
        method=request.method,
        url=str(request.url),
        request_headers=decode_headers(request.headers.raw),
        request_body=body,
        status=response.status_code,
        headers=decode_headers(response.headers.raw),
        chunks=chunks,
        ended=ended,
        error=error,
    )


def _make_transport() -> httpx.AsyncBaseTransport:
    """What sends where the caller gave nothing.

    Nobody closes it, so no connection may outlive its answer: it might outlive its event loop.
    """
    return httpx.AsyncHTTPTransport(
        verify=shared_context("https"), limits=httpx.Limits(max_keepalive_connections=0)
    )


async def _in_thread(work: Callable[[], None]) -> None:
    """Wait for the disk beside the loop, whatever else the process uses its threads for."""
    await to_thread.run_sync(work, limiter=CapacityLimiter(1))
