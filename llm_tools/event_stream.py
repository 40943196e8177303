"""One streamed answer as an async iterator of events."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Self

import anyio

from .content import Finished, FunctionUseDone, OutputResult, StreamEvent
from .errors import LlmToolsError, StreamError
from .reply import check_answer
from .spec import Frame, Plan, StreamDecoder
from .transport import OpenStream, OutgoingRequest, Transport

_ENDING_TIME = 0.1


class EventStream:
    """Used as `async with llm.stream(…) as events: async for event in events: …`.

    Entering sends the request and raises what `Llm.call` raises for an HTTP error. Iterating
    yields events until `Finished`; `result` is there from then on. After it, iteration raises
    `UnmetFunctionCallError` or `ParserError` where the answer is not what was asked for. Leaving
    the block early closes the connection.
    """

    __slots__ = ("_decoder", "_ended", "_error", "_open", "_plan", "_ready", "_request", "_result",
                 "_transport")  # fmt: skip

    def __init__(self, transport: Transport, request: OutgoingRequest, plan: Plan) -> None:
        self._transport = transport
        self._request = request
        self._plan = plan
        self._ready: deque[StreamEvent] = deque()
        self._open: OpenStream | None = None
        self._decoder: StreamDecoder
        self._result: OutputResult | None = None
        self._error: LlmToolsError | None = None
        self._ended = False

    async def __aenter__(self) -> Self:
        if self._open is not None:
            raise StreamError("A stream is entered once; call .stream(…) again.", retryable=False)
        self._open = await self._transport.open(self._request)
        self._decoder = self._plan.target.dialect.open_stream(self._plan, self._open.headers)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._ended:
            self._interrupt()
        if self._open is None:
            return
        self._ready.clear()
        if self._result is not None:
            # Where the body ends with its end mark, its connection can be used again.
            with anyio.move_on_after(_ENDING_TIME), suppress(LlmToolsError):
                while await self._open.read_frames() is not None:
                    pass
        await self._open.aclose()

    @property
    def result(self) -> OutputResult:
        """The whole answer, once the last event has come.

        Raises:
            StreamError: it has not; `result` is what had come by then, if the stream is over.
        """
        if self._result is None:
            error = StreamError("The stream has not ended: read it to its last event first.")
            raise self._with_partial_result(error) if self._ended else error
        return self._result

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        ready, stream = self._ready, self._open
        while not ready:
            if self._ended or stream is None:
                raise self._stop()
            try:
                frames = stream.cut(await stream.read())
            except Exception as error:  # noqa: BLE001 - ends as what it means, outside this frame
                failure = stream.explain(error)
            except BaseException:
                self._interrupt()
                await stream.aclose()
                raise
            else:
                self._take(stream, frames)
                continue
            await self._end(stream, failure)
        return ready.popleft()

    def _stop(self) -> Exception:
        """Why there is no event: the error, once, else the end."""
        if not self._ended:
            return StreamError("Enter the stream first: async with llm.stream(…) as events.")
        error, self._error = self._error, None
        return error or StopAsyncIteration()

    def _take(self, stream: OpenStream, frames: list[Frame]) -> None:
        """Turn what has come into events."""
        decoder, ready = self._decoder, self._ready
        try:
            for frame in frames:
                for event in decoder.feed(frame):
                    whole = type(event) is FunctionUseDone
                    ready.append(stream.mask(event) if whole else event)
            if decoder.ended:  # some servers keep the response open after its end mark
                self._finish(stream)
        except LlmToolsError as error:
            self._fail(error)
        except BaseException:
            self._interrupt()
            raise

    async def _end(self, stream: OpenStream, failure: Exception | None) -> None:
        """No more will come: the last events, and the result."""
        try:
            self._take(stream, await stream.stop(failure))
            if not self._ended:
                self._finish(stream)
        except LlmToolsError as error:
            self._fail(error)
        except BaseException:
            self._interrupt()
            raise

    def _fail(self, error: LlmToolsError) -> None:
        """Events decoded before the failure are still the caller's; the error comes after them.

        It goes without its traceback, whose frames hold what came: a key may be in it.
        """
        self._ended = True
        self._error = self._with_partial_result(error).with_traceback(None)

    def _interrupt(self) -> None:
        self._ended = True
        self._error = StreamError("Reading the stream was interrupted; it cannot be resumed.")

    def _with_partial_result(self, error: LlmToolsError) -> LlmToolsError:
        """Give an error that came from below the decoder what had arrived by then."""
        if self._open is None:
            return error
        if error.result is None:
            try:
                error.result = self._decoder.close()
            except LlmToolsError as broken:
                error.result = broken.result
        if error.result is not None:
            try:
                error.result = self._open.mask(error.result)
            except LlmToolsError:
                error.result = None  # better nothing than a key
        return error

    def _finish(self, stream: OpenStream) -> None:
        result = stream.mask(self._decoder.close())
        self._ended = True
        self._result = result
        self._ready.append(Finished(result=result))
        self._error = check_answer(self._plan, result)
