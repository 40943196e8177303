"""Putting a streamed choice together, into the message a whole answer would have."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .blocks import add_chunk, add_detail, finished_chunk, finished_detail
from .calls import CallAssembler, CallSlot
from .wire import Choice, Completion, Message, ToolCall, later_usage

_NOTHING = Message()


class ChoiceAssembler:
    """One choice in the making."""

    __slots__ = ("_annotations", "_chunks", "_content", "_details", "_extra", "_images",
                 "_reasoning", "_reasoning_content", "_refusal", "calls", "choice",
                 "number")  # fmt: skip

    def __init__(self, known: Collection[str], number: int) -> None:
        self.number: int = number
        self.choice: Choice = Choice()
        self.calls: CallAssembler = CallAssembler(known)
        self._annotations: list[Any] = []
        self._details: list[Any] = []
        self._extra: dict[str, Any] = {}
        self._images: list[Any] = []
        self._content: list[str] = []
        self._chunks: list[Any] = []
        self._reasoning: list[str] = []
        self._reasoning_content: list[str] = []
        self._refusal: list[str] = []

    @property
    def text(self) -> str:
        """The text since the last chunk that was none."""
        return "".join(self._content)

    def go_on(self, chunk: Completion) -> CallSlot | None:
        """Take in a chunk that is nothing but more arguments of a call that has started.

        None if it is anything else. Nearly every chunk of a call is one of these, so this looks at
        no more than it must.
        """
        choices = chunk.choices
        if choices is None or len(choices) != 1 or chunk.usage is not None:
            return None
        if chunk.error is not None or chunk.x_groq is not None or chunk.citations is not None:
            return None
        piece = choices[0]
        delta = piece.delta
        if delta is None or piece.finish_reason is not None or piece.error is not None:
            return None
        calls = delta.tool_calls
        if calls is None or len(calls) != 1 or piece.index != self.number:
            return None
        delta.tool_calls = None
        if delta == _NOTHING:
            slot = self.calls.go_on(calls[0])
            if slot is not None:
                return slot
        delta.tool_calls = calls
        return None

    def add(self, piece: Choice, delta: Message) -> list[CallSlot]:
        """Take in one chunk of this choice; returns the calls it touched, in order."""
        self._add_ending(piece)
        if delta.content:
            self._add_content(delta.content)
        if delta.reasoning_content:
            self._reasoning_content.append(delta.reasoning_content)
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
        if delta.refusal:
            self._refusal.append(delta.refusal)
        if delta.reasoning_details or delta.images or delta.annotations or delta.extra_content:
            self._add_rest(delta)
        legacy = delta.function_call
        if legacy is not None and (legacy.name or legacy.arguments):
            return self.calls.add_all([ToolCall(index=0, function=legacy)])
        return self.calls.add_all(delta.tool_calls) if delta.tool_calls else []

    def content_as_call(self, call: ToolCall) -> CallSlot:
        """Put a call in the place of the text that stood in for it."""
        self._content.clear()
        return self.calls.add_all([call])[0]

    def finished(self) -> Choice:
        """The choice as a whole answer would have it."""
        done = self.choice
        message = Message(
            content=self._finished_content(),
            refusal="".join(self._refusal),
            reasoning_content="".join(self._reasoning_content),
            reasoning="".join(self._reasoning),
            reasoning_details=[finished_detail(detail) for detail in self._details],
            tool_calls=[slot.finished() for slot in self.calls.in_order()],
            images=self._images,
            annotations=self._annotations,
            extra_content=self._extra,
        )
        return Choice(
            message=message,
            finish_reason=done.finish_reason,
            native_finish_reason=done.native_finish_reason,
            error=done.error,
            usage=done.usage,
        )

    def _add_ending(self, piece: Choice) -> None:
        choice = self.choice
        choice.finish_reason = piece.finish_reason or choice.finish_reason
        choice.native_finish_reason = piece.native_finish_reason or choice.native_finish_reason
        choice.error = piece.error or choice.error
        choice.usage = later_usage(choice.usage, piece.usage)

    def _add_content(self, content: str | list[Any]) -> None:
        if isinstance(content, str):
            self._content.append(content)
            return
        for chunk in content:
            match chunk:
                case str() as text:
                    self._content.append(text)
                case {"type": "text", "text": str(text)}:
                    self._content.append(text)
                case _:
                    self._flush_text()
                    add_chunk(self._chunks, chunk)

    def _add_rest(self, delta: Message) -> None:
        for detail in delta.reasoning_details or ():
            add_detail(self._details, detail)
        self._images += delta.images or ()
        self._annotations += delta.annotations or ()
        self._extra.update(delta.extra_content or {})

    def _flush_text(self) -> None:
        if self._content:
            self._chunks.append({"type": "text", "text": self.text})
            self._content.clear()

    def _finished_content(self) -> str | list[Any]:
        if not self._chunks:
            return self.text
        tail = [{"type": "text", "text": self.text}] if self._content else []
        return [finished_chunk(chunk) for chunk in self._chunks] + tail
