"""A stream of Converse: frames of the AWS event stream, one event each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

import msgspec

from ...claude.streaming import OpenBlocks, decode_event, ended_early, with_partial
from ...content import OutputResult, StreamEvent
from ...errors import StreamError
from ...faults import error_in_body, exception_frame
from ...spec import Frame, Plan
from ...streamed_calls import BROKE_OFF
from .assembling import Event, OpenBlock
from .decoding import STOPS, Answer, WireUsage, read_answer

_decoder = msgspec.json.Decoder(Event)
_any_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


class ConverseStream:
    """Reads one stream; see `spec.StreamDecoder`."""

    __slots__ = ("_blocks", "_headers", "_plan", "_stop_reason", "_usage", "ended")

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._blocks = OpenBlocks(plan, OpenBlock)
        self._stop_reason: str | None = None
        self._usage: WireUsage | None = None
        self.ended: bool = False  # by the counts, which follow the end mark

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame.

        Raises:
            ProviderError: the frame is an exception; its `result` is what had come.
            StreamError: the frame is none of this wire.
        """
        if self.ended:
            return []
        if frame.event is None:
            self._refuse(frame)
        elif frame.event.startswith("exception:"):
            error = exception_frame(self._endpoint, frame, self._headers)
            raise with_partial(error, self._partial())
        read = self._readers.get(frame.event)
        if read is None:
            return []
        return read(self, decode_event(self._plan, frame.data, _decoder, self._partial))

    def close(self) -> OutputResult:
        """The whole answer.

        Raises:
            StreamError: `messageStop` has not come; `result` is what has.
        """
        if self._stop_reason is not None:
            return read_answer(self._plan, self._whole(), self._headers)
        raise ended_early(self._plan, self._partial())

    @property
    def _endpoint(self) -> str:
        return self._plan.target.endpoint.key

    def _open_block(self, event: Event) -> list[StreamEvent]:
        start = event.start or {}
        block = self._blocks.open(event.content_block_index, start)
        match start:
            case {"toolUse": {"name": str(name), **call}} if call.get("type") != "server_tool_use":
                function_id = call.get("toolUseId")
                known = function_id if isinstance(function_id, str) else None
                block.call, events = self._blocks.calls.start(name, known, whole={})
                return events
        return []

    def _grow_block(self, event: Event) -> list[StreamEvent]:
        if event.delta is None:
            return []
        block = self._blocks.at(event.content_block_index)
        if block is None:
            # Text and reasoning come without a start.
            block = self._blocks.open(event.content_block_index, {})
        return block.grow(event.delta)

    def _stop_block(self, event: Event) -> list[StreamEvent]:
        return self._blocks.stop(event.content_block_index)

    def _stop(self, event: Event) -> list[StreamEvent]:
        """The reason why the message ends."""
        self._stop_reason = event.stop_reason or "end_turn"
        reason = STOPS.get(self._stop_reason)
        return [] if reason == "error" else self._blocks.calls.end(cut_off=reason == "length")

    def _add_metadata(self, event: Event) -> list[StreamEvent]:
        self._usage = event.usage
        self.ended = self._stop_reason is not None
        return []

    def _refuse(self, frame: Frame) -> NoReturn:
        """Raise what a frame without a name stands for: an error as a whole body, or nothing."""
        body = decode_event(self._plan, frame.data, _any_decoder, self._partial)
        error = error_in_body(self._endpoint, body, self._headers)
        if error is not None:
            raise with_partial(error, self._partial())
        raise StreamError(
            f"{self._endpoint} sent something that is no event of Converse; check base_url and the "
            "region.",
            result=self._partial(),
            retryable=False,
        )

    def _whole(self) -> Answer:
        return Answer(self._blocks.whole(), self._stop_reason, self._usage)

    def _partial(self) -> OutputResult:
        return read_answer(self._plan, self._whole(), self._headers, broken=BROKE_OFF)

    _readers: ClassVar[dict[str, Callable[[ConverseStream, Event], list[StreamEvent]]]] = {
        "contentBlockStart": _open_block,
        "contentBlockDelta": _grow_block,
        "contentBlockStop": _stop_block,
        "messageStop": _stop,
        "metadata": _add_metadata,
    }
