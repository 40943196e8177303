"""Reading a stream: chunks in, events out, and at the end the one reader of whole answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import zip_longest
from typing import Any

from ...content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
)
from ...errors import LlmToolsError, ResponseDecodeError, StreamError
from ...ids import UniqueIds
from ...reply import caller_name, read_function_use
from ...spec import Frame, Plan
from .assembling import ChoiceAssembler
from .blocks import thinking_text
from .calls import CallSlot
from .decoding import carried_error, decode_completion, error_event
from .emulating import call_in_text
from .reading import read_completion, stop_reason
from .wire import Choice, Completion, Function, Message, ToolCall

_END = b"[DONE]"


class ChatStream:
    """One stream of chunks. A finish reason or `[DONE]` is its end mark; some hosts send one."""

    __slots__ = (
        "_choices", "_ended", "_failed", "_headers", "_ids", "_known", "_open", "_plan", "_told",
        "_whole", "_whole_names",
    )  # fmt: skip

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._known = plan.functions.by_wire_name if plan.functions is not None else {}
        self._whole_names = _whole_names(self._known)
        self._whole = Completion()
        self._choices: dict[int, ChoiceAssembler] = {}
        self._open: list[CallSlot] = []
        self._ids = UniqueIds()
        self._ended = False
        self._failed = False
        self._told = False

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame.

        Raises:
            ProviderError: it is an error of the provider's; `result` is what had come.
            StreamError: it is no chunk.
        """
        data = frame.data.strip()
        if self._ended or not data:
            return []
        if data == _END:
            self._ended = True
            return self._end()
        if frame.event == "error":
            raise self._with_result(error_event(self._plan, data, self._headers))
        chunk = self._decode(data)
        self._keep(chunk)
        events: list[StreamEvent] = []
        for piece in chunk.choices or ():
            events += self._add(piece)
        error = carried_error(self._plan, chunk, data, self._headers)
        if error is not None:
            raise self._with_result(error)
        return events

    def close(self) -> OutputResult:
        """The whole answer.

        Raises:
            StreamError: neither a finish reason nor `[DONE]` has come, or an error has; `result`
                is what came by then.
            ResponseDecodeError: the stream held no choice.
            ProviderError: the choice is an error.
        """
        if not self._choices and self._ended:
            raise ResponseDecodeError("The stream held no choices; try again.")
        if not self._failed and (self._ended or self._has_finish_reason()):
            return self._result()
        broken = StreamError(
            "The stream broke off before its end; what came is in .result. Try again."
        )
        raise self._with_result(broken)

    def _has_finish_reason(self) -> bool:
        return any(choice.choice.finish_reason for choice in self._choices.values())

    def _decode(self, data: bytes) -> Completion:
        try:
            return decode_completion(data)
        except ResponseDecodeError as unread:
            error = StreamError(f"The stream holds something that is no chunk: {unread}")
            raise self._with_result(error) from unread

    def _keep(self, chunk: Completion) -> None:
        whole = self._whole
        whole.id = whole.id or chunk.id
        whole.model = whole.model or chunk.model
        whole.created = whole.created or chunk.created
        whole.usage = chunk.usage or whole.usage
        whole.x_groq = chunk.x_groq if chunk.x_groq and chunk.x_groq.usage else whole.x_groq
        whole.citations = chunk.citations or whole.citations
        whole.search_results = chunk.search_results or whole.search_results

    def _add(self, piece: Choice) -> list[StreamEvent]:
        number = piece.index or 0
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = ChoiceAssembler(self._known)
        delta = piece.delta or piece.message or Message()
        before = len(choice.calls.slots)
        touched = choice.add(piece, delta)
        if number != min(self._choices):
            return []
        events = self._text_events(delta)
        for slot in touched:
            opened = slot in choice.calls.slots[before:]
            events += self._call_events(slot, opened=opened)
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
            texts = _content_events(delta.content)
            events += self._settle(None) if texts else []
            events += texts if self._plan.emulation is None else []
        if delta.refusal:
            events.append(RefusalDelta(text=delta.refusal))
        return events

    def _call_events(self, slot: CallSlot, *, opened: bool) -> list[StreamEvent]:
        """What a piece of a call brings; where it opens one, those before it may be complete."""
        if slot.custom:
            return []
        events = self._settle(slot) if opened else []
        if slot not in self._open:
            self._open.append(slot)
        named = slot.fragments or not self._known or slot.name in self._whole_names
        if slot.started or (slot.id and slot.name and named):
            events += self._progress(slot)
        return events

    def _progress(self, slot: CallSlot) -> list[StreamEvent]:
        """The start of a call if it was not told yet, and the fragments since."""
        events: list[StreamEvent] = []
        if not slot.started:
            slot.started = True
            slot.id = self._ids.claim(slot.id)
            name = caller_name(self._plan, slot.name)
            events.append(FunctionUseStart(index=slot.number, name=name, function_id=slot.id))
        events += [
            FunctionInputDelta(index=slot.number, partial_json=fragment)
            for fragment in slot.fragments[slot.sent :]
        ]
        slot.sent = len(slot.fragments)
        return events

    def _settle(self, but: CallSlot | None) -> list[StreamEvent]:
        """Something follows: calls touched since the last time that are whole are done.

        Pieces of several calls may interleave, so what is not whole stays open.
        """
        events: list[StreamEvent] = []
        for slot in self._open:
            if slot is not but and not slot.done and slot.is_whole():
                events += self._done(slot)
        self._open = []
        return events

    def _end(self) -> list[StreamEvent]:
        return self._finish(self._choices[min(self._choices)]) if self._choices else []

    def _finish(self, choice: ChoiceAssembler) -> list[StreamEvent]:
        """The answer ended: all its calls are done, unless it was cut off or failed."""
        events = self._stand_in(choice) if self._plan.emulation is not None else []
        cut_off = stop_reason(choice.choice) in ("length", "error")
        for slot in choice.calls.in_order():
            if slot.says_something and not slot.custom and not slot.done:
                events += self._progress(slot) if cut_off else self._done(slot)
        return events

    def _stand_in(self, choice: ChoiceAssembler) -> list[StreamEvent]:
        """The text that stands in for a call; text that does not is text after all."""
        text = choice.text
        if not text or self._told or choice.calls.slots:
            return []
        self._told = True
        call = call_in_text(text)
        if call is None:
            return [TextDelta(text=text)]
        choice.content_as_call(ToolCall(function=Function(call.name, call.arguments)))
        return []

    def _done(self, slot: CallSlot) -> list[StreamEvent]:
        events = self._progress(slot)
        slot.done = True
        key = self._plan.target.replay_key
        metadata = {key: {"extra_content": slot.extra}} if slot.extra else None
        use, _ = read_function_use(self._plan, slot.name, slot.arguments, slot.id, metadata)
        return [*events, FunctionUseDone(index=slot.number, function_use=use)]

    def _result(self) -> OutputResult:
        whole = self._whole
        whole.choices = [self._choices[number].finished() for number in sorted(self._choices)]
        return read_completion(self._plan, whole, self._headers)

    def _with_result(self, error: LlmToolsError) -> LlmToolsError:
        """The error with what had come by then; after it the stream has no good end."""
        self._failed = True
        if self._choices:
            try:
                error.result = self._result()
            except LlmToolsError as other:
                error.result = other.result
        return error


def open_stream(plan: Plan, headers: Mapping[str, str]) -> ChatStream:
    """A reader for the stream that answers the plan's request."""
    return ChatStream(plan, headers)


def _whole_names(names: Collection[str]) -> set[str]:
    """The names that are not the beginning of another, so that no piece can follow."""
    ordered = sorted(names)
    return {name for name, after in zip_longest(ordered, ordered[1:], fillvalue="")
            if not after.startswith(name)}  # fmt: skip


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
