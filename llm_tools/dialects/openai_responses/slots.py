"""The output items of a stream, while they grow."""

from __future__ import annotations

from typing import Any

from ...content import ReasoningDelta, RefusalDelta, StreamEvent, TextDelta
from ...reply import Reply
from ...streamed_calls import StreamedCall
from .items import UNFINISHED, Item, content_of, reasoning_text, text_of

_SEPARATOR = "\n\n"
_REFUSAL = ("refusal",)
_NOTHING = frozenset({"", "null", "{}"})
"""Arguments that hosts put in the place of those they have told."""


class Slot:
    """One output item: its last known form and the pieces that came for it.

    Attributes:
        item: as it was added; once `done`, as it ended.
        order: its place in the output.
        added: whether the stream said that it begins.
        call: its arguments and events, if it is a call whose name has come.
    """

    __slots__ = ("added", "call", "done", "item", "order", "pieces", "section")

    def __init__(self, item: Item, order: int, *, added: bool) -> None:
        self.item: Item = item
        self.order: int = order
        self.added: bool = added
        self.done: bool = False
        self.call: StreamedCall | None = None
        self.pieces: list[str] = []
        self.section: tuple[Any, ...] = ()

    @property
    def kind(self) -> str:
        """The item's type."""
        return text_of(self.item, "type") or "message"

    def arguments(self, piece: str) -> list[StreamEvent]:
        """More of a call's arguments; kept until the call has a name."""
        self.pieces.append(piece)
        return [] if self.call is None else [self.call.add(piece)]

    def text(self, piece: str) -> list[StreamEvent]:
        """More text of a message."""
        self.pieces.append(piece)
        return [TextDelta(text=piece)]

    def refusal(self, piece: str) -> list[StreamEvent]:
        """More of a refusal."""
        self.section = _REFUSAL
        self.pieces.append(piece)
        return [RefusalDelta(text=piece)]

    def reasoning(self, piece: str, section: tuple[Any, ...]) -> list[StreamEvent]:
        """More reasoning; a further section is set off as in the text of the whole item."""
        if self.pieces and section != self.section:
            piece = _SEPARATOR + piece
        self.section = section
        self.pieces.append(piece)
        return [ReasoningDelta(text=piece)]

    def is_silent(self) -> bool:
        """Whether nothing has come for it: a host may say it whole when it is done."""
        return not (self.pieces or self.done)

    def finish(self, item: Item) -> list[StreamEvent]:
        """The item has ended; what a terse host did not send in pieces is told now."""
        self.item, self.done = item, True
        if self.pieces:
            self.item = self._with_pieces() if _is_bare(item) else item
            return []
        match self.kind:
            case "function_call" if text := text_of(item, "arguments"):
                return self.arguments(text)
            case "reasoning" if text := reasoning_text(item):
                return self.reasoning(text, ())
            case "message":
                return self._whole_message(item)
        return []

    def _whole_message(self, item: Item) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for part in content_of(item):
            if text := text_of(part, "text"):
                events += self.text(text)
            if refusal := text_of(part, "refusal"):
                events += self.refusal(refusal)
        return events

    def whole(self) -> Item:
        """The item as far as it is known: as it ended, or put together from its pieces."""
        item = self.item if self.done or not self.pieces else self._with_pieces()
        if self.call is not None and self.call.function_id != item.get("call_id"):
            return {**item, "call_id": self.call.function_id}
        return item

    def _with_pieces(self) -> Item:
        """The item with what came for it in pieces."""
        item, text = self.item, "".join(self.pieces)
        match self.kind:
            case "function_call":
                return {**item, "arguments": text}
            case "reasoning":
                return {**item, "summary": [{"type": "summary_text", "text": text}]}
            case _ if self.section == _REFUSAL:
                return {**item, "content": [{"type": "refusal", "refusal": text}]}
            case _:
                return {**item, "content": [{"type": "output_text", "text": text}]}

    def broken_off(self) -> Item:
        """The item as far as it is known, marked as one that never ended."""
        return {**self.whole(), "status": "incomplete"}

    def tell_unfinished(self, reply: Reply) -> None:
        """What had come of an item that never ended: nothing of it can be replayed or run."""
        text = "".join(self.pieces)
        if self.call is not None:
            wire_name, function_id = self.call.wire_name, self.call.function_id
            reply.function_use(wire_name, text, function_id, error=UNFINISHED)
        elif self.kind == "reasoning":
            reply.reasoning(text)
        elif self.kind == "message" and self.section == _REFUSAL:
            reply.refusal(text)
        elif self.kind == "message":
            reply.text(text)


def _is_bare(item: Item) -> bool:
    """Whether an item that has ended lacks what its type is there for."""
    match text_of(item, "type") or "message":
        case "function_call":
            arguments = item.get("arguments")
            return not arguments or (isinstance(arguments, str) and arguments.strip() in _NOTHING)
        case "reasoning":
            return not reasoning_text(item)
        case "message":
            parts = content_of(item)
            return not any(text_of(part, "text") or text_of(part, "refusal") for part in parts)
        case _:
            return False
