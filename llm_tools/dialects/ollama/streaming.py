"""A stream of JSON lines as events."""

from __future__ import annotations

from collections.abc import Mapping

from ...content import OutputResult, ReasoningDelta, StreamEvent, TextDelta
from ...errors import ResponseDecodeError, StreamError
from ...reply import decode_json, read_emulated_call
from ...spec import Frame, Plan, StreamDecoder
from ...streamed_calls import BROKE_OFF, WholeCalls
from .decoding import raise_error, read_answer, stop_reason
from .wire import ANSWERS, Answer, ToolCall, WireMessage


def open_stream(plan: Plan, headers: Mapping[str, str]) -> StreamDecoder:
    """A decoder for the stream of one call."""
    return OllamaStream(plan, headers)


class OllamaStream:
    """Lines in, events out. Calls come whole; the end mark is `done`.

    Text that stands in for a call (`Plan.emulation`) becomes events once it is complete.
    """

    __slots__ = ("_answer", "_calls", "_content", "_headers", "_plan", "_thinking", "_tool_calls")

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._calls = WholeCalls(plan)
        self._answer = Answer()
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._tool_calls: list[ToolCall] = []

    @property
    def ended(self) -> bool:
        """Whether the end mark has come."""
        return self._answer.done is True

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one line."""
        data = frame.data.strip()
        if not data or self._answer.done:
            return []
        try:
            line = decode_json(data, ANSWERS)
        except ResponseDecodeError as error:
            raise StreamError(
                f"A line of the stream could not be read ({error}); ask again.",
                result=self._read(BROKE_OFF),
            ) from error
        raise_error(self._plan, line, self._headers)
        self._take_fields(line)
        return [*self._take_message(line.message or WireMessage()), *self._end(line)]

    def close(self) -> OutputResult:
        """The whole answer, read as one that came whole."""
        if not self._answer.done:
            raise StreamError(
                "The stream ended before the answer did (no line said done); ask again.",
                result=self._read(BROKE_OFF),
            )
        return self._read(None)

    def _take_fields(self, line: Answer) -> None:
        for name in ("model", "created_at", "done", "done_reason", "prompt_eval_count"):
            value = getattr(line, name)
            if value is not None:
                setattr(self._answer, name, value)
        if line.eval_count is not None:
            self._answer.eval_count = line.eval_count

    def _take_message(self, message: WireMessage) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if message.thinking:
            self._thinking.append(message.thinking)
            events.append(ReasoningDelta(text=message.thinking))
        if message.content:
            self._content.append(message.content)
            if self._plan.emulation is None:
                events.append(TextDelta(text=message.content))
        for call in message.tool_calls or []:
            self._tool_calls.append(call)
            function = call.function
            events += self._calls.add(function.name, function.arguments, call.id, None)
        return events

    def _end(self, line: Answer) -> list[StreamEvent]:
        if not line.done:
            return []
        events: list[StreamEvent] = []
        content = "".join(self._content)
        if self._plan.emulation is not None and content:
            call = read_emulated_call(content)
            if call is None:
                events.append(TextDelta(text=content))
            else:
                events += self._calls.add(call.name, call.arguments, None, None)
        return events + self._calls.end(cut_off=stop_reason(line) == "length")

    def _read(self, broken: str | None) -> OutputResult:
        self._answer.message = WireMessage(
            content="".join(self._content),
            thinking="".join(self._thinking),
            tool_calls=self._tool_calls,
        )
        return read_answer(
            self._plan, self._answer, self._headers, ids=self._calls.ids, broken=broken
        )
