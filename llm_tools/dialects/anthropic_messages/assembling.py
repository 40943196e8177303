"""The events of a stream, and the blocks they make."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ...claude.blocks import Block
from ...content import JSON, ReasoningDelta, StreamEvent, TextDelta
from ...streamed_calls import StreamedCall
from .decoding import StopDetails, WireMessage, WireUsage


class Delta(Struct):
    """What a block gains, or why the message ends."""

    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    citation: JSON = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None


class Event(Struct):
    """Any event; which keys it has follows from its type."""

    type: str | None = None
    index: int = 0
    message: WireMessage | None = None
    content_block: Block | None = None
    delta: Delta | None = None
    usage: WireUsage | None = None
    error: JSON = None
    request_id: JSON = None


class OpenBlock:
    """A block on its way in: what it started as, and what came since."""

    __slots__ = ("call", "citations", "json", "signature", "start", "text", "thinking")

    def __init__(self, start: Block) -> None:
        self.start: Block = start
        self.call: StreamedCall | None = None
        self.text: list[str] = []
        self.thinking: list[str] = []
        self.json: list[str] = []
        self.citations: list[JSON] = []
        self.signature: str | None = None

    def grow(self, delta: Delta) -> list[StreamEvent]:
        """Take in a delta; the events it is to the caller."""
        if delta.partial_json:
            if self.call is not None:
                return [self.call.add(delta.partial_json)]
            self.json.append(delta.partial_json)
        elif delta.text:
            self.text.append(delta.text)
            return [TextDelta(text=delta.text)]
        elif delta.thinking:
            self.thinking.append(delta.thinking)
            return [ReasoningDelta(text=delta.thinking)]
        elif delta.signature is not None:
            self.signature = delta.signature
        elif delta.citation is not None:
            self.citations.append(delta.citation)
        return []

    def whole(self) -> Block:
        """The block as an answer that is not streamed has it."""
        block = dict(self.start)
        if self.call is not None:
            return block | {"id": self.call.function_id, "input": self.call.arguments}
        for key, pieces in (("text", self.text), ("thinking", self.thinking)):
            if pieces:
                block[key] = (text_or_none(block.get(key)) or "") + "".join(pieces)
        if self.signature is not None:
            block["signature"] = self.signature
        if self.citations:
            first = block.get("citations")
            block["citations"] = [*(first if isinstance(first, list) else ()), *self.citations]
        if self.json:
            block["input"] = _read_input("".join(self.json), block.get("input"))
        return block


def untold(delta: Delta) -> Block:
    """The start of a block that began without saying so."""
    if delta.thinking is not None or delta.signature is not None:
        return {"type": "thinking", "thinking": ""}
    return {"type": "text", "text": ""}


def text_or_none(value: JSON) -> str | None:
    """A value that should be text."""
    return value if isinstance(value, str) else None


def _read_input(text: str, start: JSON) -> JSON:
    """The input of a tool the provider runs; unreadable, what the block started with."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return start
