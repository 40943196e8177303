"""A stream of the Messages API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import msgspec

from ...claude.streaming import OpenBlocks, decode_event, ended_early, with_partial
from ...content import OutputResult, ReasoningDelta, RefusalDelta, StreamEvent, TextDelta
from ...errors import StreamError
from ...faults import error_in_body, exception_frame
from ...spec import Frame, Plan
from ...streamed_calls import BROKE_OFF
from .assembling import Event, OpenBlock, text_or_none, untold
from .decoding import WireMessage, call_metadata, explanation, newer, read_message, way_out

_CUTS_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
_PING = Event(type="ping")

_decoder = msgspec.json.Decoder(Event)


class MessageStream:
    """Reads one stream; see `spec.StreamDecoder`."""

    __slots__ = ("_blocks", "_headers", "_message", "_plan", "ended")

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._message = WireMessage()
        self._blocks = OpenBlocks(plan, OpenBlock)
        self.ended: bool = False  # whether the end mark has come

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame.

        Raises:
            ProviderError: the frame is an error; its `result` is what had come.
            StreamError: the frame is none of this wire.
        """
        if self.ended:
            return []
        if frame.event is not None and frame.event.startswith("exception:"):
            error = exception_frame(self._endpoint, frame, self._headers)
            raise with_partial(error, self._partial())
        event = self._decode(frame)
        read = self._readers.get(event.type or frame.event)
        return [] if read is None else read(self, event)

    def close(self) -> OutputResult:
        """The whole answer.

        Raises:
            StreamError: `message_stop` has not come; `result` is what has.
        """
        if self.ended:
            return read_message(self._plan, self._whole(), self._headers)
        raise ended_early(self._plan, self._partial())

    @property
    def _endpoint(self) -> str:
        return self._plan.target.endpoint.key

    def _decode(self, frame: Frame) -> Event:
        if frame.data.strip() == b"[DONE]":
            return _PING  # a gateway's end mark, beside this wire's own
        return decode_event(self._plan, frame.data, _decoder, self._partial)

    def _start(self, event: Event) -> list[StreamEvent]:
        if event.message is not None:
            self._message = event.message
        return []

    def _open_block(self, event: Event) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        start = event.content_block or {}
        block = self._blocks.open(event.index, start)
        match start:
            case {"type": "tool_use", "name": str(name)}:
                block.call, events = self._blocks.calls.start(
                    name,
                    text_or_none(start.get("id")),
                    metadata=call_metadata(self._plan, start),
                    whole=start.get("input"),
                )
            case {"type": "text", "text": str(text)} if text:
                events.append(TextDelta(text=text))
            case {"type": "thinking", "thinking": str(text)} if text:
                events.append(ReasoningDelta(text=text))
        return events

    def _grow_block(self, event: Event) -> list[StreamEvent]:
        delta = event.delta
        if delta is None:
            return []
        block = self._blocks.at(event.index)
        if block is None:
            block = self._blocks.open(event.index, untold(delta))
        return block.grow(delta)

    def _stop_block(self, event: Event) -> list[StreamEvent]:
        return self._blocks.stop(event.index)

    def _stop(self, event: Event) -> list[StreamEvent]:
        """The reason why the message ends."""
        message, delta = self._message, event.delta
        message.usage = newer(message.usage, event.usage)
        if delta is None or delta.stop_reason is None:
            return []
        message.stop_reason, message.stop_details = delta.stop_reason, delta.stop_details
        events = self._blocks.calls.end(cut_off=delta.stop_reason in _CUTS_OFF)
        refused = explanation(message)
        return [*events, RefusalDelta(text=refused)] if refused else events

    def _end(self, _: Event) -> list[StreamEvent]:
        self.ended = True
        return self._blocks.calls.end(cut_off=self._message.stop_reason in _CUTS_OFF)

    def _fail(self, event: Event) -> list[StreamEvent]:
        """Raise what an error event stands for, or an event of another wire."""
        body = {"error": event.error, "request_id": event.request_id}
        error = error_in_body(self._endpoint, body, self._headers)
        if error is not None:
            raise with_partial(error, self._partial())
        raise StreamError(
            f"{self._endpoint} sent an event that is none of the Messages API. "
            f"{way_out(self._plan)}",
            result=self._partial(),
            retryable=False,
        )

    def _partial(self) -> OutputResult:
        return read_message(self._plan, self._whole(), self._headers, broken=BROKE_OFF)

    def _whole(self) -> WireMessage:
        self._message.content = self._blocks.whole()
        return self._message

    _readers: ClassVar[dict[str | None, Callable[[MessageStream, Event], list[StreamEvent]]]] = {
        "message_start": _start,
        "content_block_start": _open_block,
        "content_block_delta": _grow_block,
        "content_block_stop": _stop_block,
        "message_delta": _stop,
        "message_stop": _end,
        "error": _fail,
        "completion": _fail,
        None: _fail,
    }
