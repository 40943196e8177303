"""A stream of Converse: frames of the AWS event stream, one event each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

import msgspec

from ...content import OutputResult, StreamEvent
from ...errors import ProviderError, ResponseDecodeError, StreamError
from ...faults import error_in_body, exception_frame
from ...reply import decode_json
from ...spec import Frame, Plan
from ...streamed_calls import BROKE_OFF, StreamedCalls
from .assembling import Event, OpenBlock
from .decoding import STOPS, Answer, WireUsage, read_answer
from .replay import Block

_decoder = msgspec.json.Decoder(Event)
_any_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder()

T = TypeVar("T")


class ConverseStream:
    """Reads one stream; see `spec.StreamDecoder`."""

    __slots__ = ("_blocks", "_calls", "_counted", "_current", "_headers", "_plan", "_stop_reason",
                 "_usage")  # fmt: skip

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._blocks: list[OpenBlock] = []
        self._current: dict[int, OpenBlock] = {}
        self._calls = StreamedCalls(plan, objects=True)
        self._stop_reason: str | None = None
        self._usage: WireUsage | None = None
        self._counted = False

    @property
    def ended(self) -> bool:
        """Whether the counts have come, which follow the end mark."""
        return self._counted

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame.

        Raises:
            ProviderError: the frame is an exception; its `result` is what had come.
            StreamError: the frame is none of this wire.
        """
        if self._counted:
            return []
        if frame.event is None:
            self._refuse(frame)
        elif frame.event.startswith("exception:"):
            raise self._with_partial(exception_frame(self._endpoint, frame, self._headers))
        read = self._readers.get(frame.event)
        return [] if read is None else read(self, self._decode(frame, _decoder))

    def close(self) -> OutputResult:
        """The whole answer.

        Raises:
            StreamError: `messageStop` has not come; `result` is what has.
        """
        if self._stop_reason is not None:
            return read_answer(self._plan, self._whole(), self._headers)
        raise StreamError(
            f"{self._endpoint} ended the stream before its end mark; ask again, or look at "
            ".result for what had come.",
            result=self._partial(),
        )

    @property
    def _endpoint(self) -> str:
        return self._plan.target.endpoint.key

    def _decode(self, frame: Frame, decoder: msgspec.json.Decoder[T]) -> T:
        try:
            return decode_json(frame.data, decoder)
        except ResponseDecodeError as error:
            raise StreamError(
                f"{self._endpoint} sent an event that could not be read ({error.__cause__}); ask "
                "again, or look at .result for what had come.",
                result=self._partial(),
            ) from error

    def _open_block(self, event: Event) -> list[StreamEvent]:
        start = event.start or {}
        block = self._add(event.content_block_index, start)
        match start:
            case {"toolUse": {"name": str(name), **call}} if call.get("type") != "server_tool_use":
                function_id = call.get("toolUseId")
                known = function_id if isinstance(function_id, str) else None
                block.call, events = self._calls.start(name, known, whole={})
                return events
        return []

    def _grow_block(self, event: Event) -> list[StreamEvent]:
        if event.delta is None:
            return []
        block = self._current.get(event.content_block_index)
        if block is None:
            # Text and reasoning come without a start.
            block = self._add(event.content_block_index, {})
        return block.grow(event.delta)

    def _add(self, index: int, start: Block) -> OpenBlock:
        block = self._current[index] = OpenBlock(start)
        self._blocks.append(block)
        return block

    def _stop_block(self, event: Event) -> list[StreamEvent]:
        block = self._current.get(event.content_block_index)
        if block is None or block.call is None:
            return []
        return self._calls.stop(block.call)

    def _stop(self, event: Event) -> list[StreamEvent]:
        """The reason why the message ends."""
        self._stop_reason = event.stop_reason or "end_turn"
        reason = STOPS.get(self._stop_reason)
        return [] if reason == "error" else self._calls.end(cut_off=reason == "length")

    def _add_metadata(self, event: Event) -> list[StreamEvent]:
        self._usage = event.usage
        self._counted = self._stop_reason is not None
        return []

    def _refuse(self, frame: Frame) -> NoReturn:
        """Raise what a frame without a name stands for: an error as a whole body, or nothing."""
        body = self._decode(frame, _any_decoder)
        error = error_in_body(self._endpoint, body, self._headers)
        if error is not None:
            raise self._with_partial(error)
        raise StreamError(
            f"{self._endpoint} sent something that is no event of Converse; check base_url and the "
            "region.",
            result=self._partial(),
            retryable=False,
        )

    def _with_partial(self, error: ProviderError) -> ProviderError:
        error.result = self._partial()
        return error

    def _whole(self) -> Answer:
        content = [block.whole() for block in self._blocks]
        return Answer(content, self._stop_reason, self._usage)

    def _partial(self) -> OutputResult:
        return read_answer(self._plan, self._whole(), self._headers, broken=BROKE_OFF)

    _readers: ClassVar[dict[str, Callable[[ConverseStream, Event], list[StreamEvent]]]] = {
        "contentBlockStart": _open_block,
        "contentBlockDelta": _grow_block,
        "contentBlockStop": _stop_block,
        "messageStop": _stop,
        "metadata": _add_metadata,
    }
