"""Reading a stream: chunks in, events out, and at the end the one reader of whole answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...content import (
    FunctionInputDelta,
    OutputResult,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
)
from ...errors import LlmToolsError, ResponseDecodeError, StreamError
from ...spec import Frame, Plan
from ...streamed_calls import BROKE_OFF
from .assembling import ChoiceAssembler
from .blocks import thinking_text
from .calls import CallSlot
from .decoding import UNREAD, carried_error, decode_completion, decode_typed, error_event
from .emulating import call_in_text
from .reading import read_completion, stop_reason
from .repeating import Repetition
from .telling import CallTeller
from .wire import Choice, Completion, Function, Message, ToolCall, later_usage

_END = b"[DONE]"
_NOTHING = Message()
_LESSONS = 3
"""How often in a row the form of a call's chunks is learned: hosts that pad them never repeat."""


class ChatStream:
    """One stream of chunks. A finish reason or `[DONE]` is its end mark; some hosts send one."""

    __slots__ = (
        "_choices", "_failed", "_first", "_first_number", "_growing", "_headers",
        "_known", "_lessons", "_named", "_plan", "_repeated", "_stood_in", "_teller", "_whole",
        "ended",
    )  # fmt: skip

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._known = plan.functions.by_wire_name if plan.functions is not None else {}
        self._teller = CallTeller(plan, self._known)
        self._whole = Completion()
        self._choices: dict[int, ChoiceAssembler] = {}
        self._first: ChoiceAssembler | None = None
        self._first_number = 0
        self._growing: CallSlot | None = None
        self._repeated: Repetition | None = None
        self._lessons = 0
        self.ended: bool = False  # whether the end mark has come
        self._failed = False
        self._named = False
        self._stood_in = False

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame.

        Raises:
            ProviderError: it is an error of the provider's; `result` is what had come.
            StreamError: it is no chunk.
        """
        slot = self._growing
        if slot is None or frame.event is not None:
            return self._feed_any(frame)
        fragment = self._repeated.read(frame.data) if self._repeated is not None else None
        if not fragment:
            return self._feed_known(frame)
        slot.fragments.append(fragment)
        slot.sent += 1
        return [FunctionInputDelta(index=slot.number, partial_json=fragment)]

    def _feed_known(self, frame: Frame) -> list[StreamEvent]:
        """Events of a frame that most likely goes on with the call that grows."""
        try:
            chunk = decode_typed(frame.data)
        except UNREAD:
            return self._feed_any(frame)
        assert self._first is not None  # noqa: S101 - a call grows in it
        slot = self._first.go_on(chunk)
        if slot is None:
            return self._take(chunk, frame.data)
        fragment = slot.fragments[-1]
        if slot is not self._growing:
            self._growing, self._repeated, self._lessons = slot, None, _LESSONS
        elif self._lessons:
            self._lessons -= 1
            self._repeated = Repetition.learn(frame.data, fragment, read_fragment)
        return [FunctionInputDelta(index=slot.number, partial_json=fragment)]

    def _feed_any(self, frame: Frame) -> list[StreamEvent]:
        """Events of a frame that may be anything."""
        data = frame.data.strip()
        if self.ended or not data:
            return []
        if data == _END:
            self.ended, self._growing = True, None
            return self._finish(self._first) if self._first is not None else []
        if frame.event == "error":
            raise self._with_result(error_event(self._plan, data, self._headers))
        return self._take(self._decode(data), data)

    def _take(self, chunk: Completion, data: bytes) -> list[StreamEvent]:
        """Events of any chunk."""
        if not self._named or chunk.usage or chunk.x_groq or chunk.citations:
            self._keep(chunk)
        events: list[StreamEvent] = []
        for piece in chunk.choices or ():
            events += self._add(piece)
        error = carried_error(self._plan, chunk, data, self._headers)
        if error is not None:
            raise self._with_result(error)
        last = self._first.calls.last if self._first is not None and self._named else None
        self._growing = last if last is not None and last.started and last.touched else None
        self._repeated, self._lessons = None, _LESSONS
        return events

    def close(self) -> OutputResult:
        """The whole answer.

        Raises:
            StreamError: neither a finish reason nor `[DONE]` has come, or an error has; `result`
                is what came by then.
            ResponseDecodeError: the stream held no choice.
            ProviderError: the choice is an error.
        """
        if not self._choices and self.ended:
            raise ResponseDecodeError("The stream held no choices; try again.")
        if not self._failed and (self.ended or self._is_finished()):
            return self._result()
        broken = StreamError(
            "The stream broke off before its end; what came is in .result. Try again."
        )
        raise self._with_result(broken)

    def _is_finished(self) -> bool:
        told = [one.choice for one in self._choices.values()]
        return any(choice.finish_reason or choice.error for choice in told)

    def _decode(self, data: bytes) -> Completion:
        try:
            return decode_completion(data)
        except ResponseDecodeError as unread:
            error = StreamError(f"The stream holds something that is no chunk: {unread}")
            raise self._with_result(error) from unread

    def _keep(self, chunk: Completion) -> None:
        """Take over what stands beside the choices; of usage the last that counts something."""
        whole = self._whole
        if not self._named:
            whole.id = whole.id or chunk.id
            whole.model = whole.model or chunk.model
            whole.created = whole.created or chunk.created
            self._named = bool(whole.id and whole.model and whole.created)
        whole.usage = later_usage(whole.usage, chunk.usage)
        whole.x_groq = chunk.x_groq if chunk.x_groq and chunk.x_groq.usage else whole.x_groq
        whole.citations = chunk.citations or whole.citations
        whole.search_results = chunk.search_results or whole.search_results

    def _add(self, piece: Choice) -> list[StreamEvent]:
        number = piece.index or 0
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = ChoiceAssembler(self._known, number)
            if self._first is None or number < self._first_number:
                self._first, self._first_number = choice, number
        delta = piece.delta or piece.message or _NOTHING
        touched = choice.add(piece, delta)
        if choice is not self._first:
            return []
        events = self._text_events(delta)
        for slot in touched:
            events += self._teller.piece(slot)
        if piece.finish_reason or piece.error:
            events += self._finish(choice)
        return events

    def _text_events(self, delta: Message) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        reasoning = delta.reasoning_content or delta.reasoning
        if reasoning:
            events.append(ReasoningDelta(text=reasoning))
        elif delta.reasoning_details:
            events += _detail_events(delta.reasoning_details)
        if delta.content:
            events += _content_events(delta.content) if self._plan.emulation is None else []
        if delta.refusal:
            events.append(RefusalDelta(text=delta.refusal))
        return events

    def _finish(self, choice: ChoiceAssembler) -> list[StreamEvent]:
        events = self._stand_in(choice) if self._plan.emulation is not None else []
        return events + self._teller.end(choice.calls.in_order(), stop_reason(choice.choice))

    def _stand_in(self, choice: ChoiceAssembler) -> list[StreamEvent]:
        """The text that stands in for a call; text that does not is text after all."""
        text = choice.text
        if not text or self._stood_in or choice.calls.slots:
            return []
        self._stood_in = True
        call = call_in_text(text)
        if call is None:
            return [TextDelta(text=text)]
        choice.content_as_call(ToolCall(function=Function(call.name, call.arguments)))
        return []

    def _result(self, broken: str | None = None) -> OutputResult:
        whole = self._whole
        whole.choices = [self._choices[number].finished() for number in sorted(self._choices)]
        return read_completion(self._plan, whole, self._headers, broken=broken)

    def _with_result(self, error: LlmToolsError) -> LlmToolsError:
        """The error with what had come by then; after it the stream has no good end."""
        self._failed = True
        if self._choices:
            try:
                error.result = self._result(BROKE_OFF)
            except LlmToolsError as other:
                error.result = other.result
        return error


def open_stream(plan: Plan, headers: Mapping[str, str]) -> ChatStream:
    """A reader for the stream that answers the plan's request."""
    return ChatStream(plan, headers)


def read_fragment(data: bytes) -> str | None:
    """The arguments in a chunk that has some."""
    calls = (decode_typed(data).choices or [Choice()])[0].delta
    function = calls.tool_calls[0].function if calls is not None and calls.tool_calls else None
    return function.arguments if function is not None else None


def _detail_events(details: list[Any]) -> list[StreamEvent]:
    texts = [item.get("text") or item.get("summary") for item in details if isinstance(item, dict)]
    return [ReasoningDelta(text=text) for text in texts if isinstance(text, str) and text]


def _content_events(content: str | list[Any]) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    for chunk in [content] if isinstance(content, str) else content:
        match chunk:
            case str() as text:
                events.append(TextDelta(text=text))
            case {"type": "text", "text": str(text)}:
                events.append(TextDelta(text=text))
            case {"type": "thinking"}:
                events.append(ReasoningDelta(text=thinking_text(chunk)))
    return events
