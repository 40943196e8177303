"""The events of a stream, and the blocks they make."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ...claude.blocks import Block
from ...content import JSON, ReasoningDelta, StreamEvent, TextDelta
from ...streamed_calls import StreamedCall
from .decoding import WireUsage


class _ToolInput(Struct):
    input: str | None = None


class _Reasoning(Struct, rename="camel"):
    text: str | None = None
    signature: str | None = None
    redacted_content: str | None = None


class Delta(Struct, rename="camel"):
    """What a block gains; one of these."""

    text: str | None = None
    tool_use: _ToolInput | None = None
    reasoning_content: _Reasoning | None = None
    tool_result: list[JSON] | None = None
    citation: JSON = None
    image: Block | None = None


class Event(Struct, rename="camel"):
    """Any event; which keys it has follows from its name."""

    content_block_index: int = 0
    start: Block | None = None
    delta: Delta | None = None
    stop_reason: str | None = None
    usage: WireUsage | None = None


class OpenBlock:
    """A block on its way in: what it started as, and what came since."""

    __slots__ = ("call", "citations", "image", "input", "reasoning", "redacted", "results",
                 "signature", "start", "text")  # fmt: skip

    def __init__(self, start: Block) -> None:
        self.start: Block = start
        self.call: StreamedCall | None = None
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.redacted: list[str] = []
        self.input: list[str] = []
        self.results: list[JSON] = []
        self.citations: list[JSON] = []
        self.image: Block = {}
        self.signature: str | None = None

    def grow(self, delta: Delta) -> list[StreamEvent]:
        """Take in a delta; the events it is to the caller."""
        if delta.tool_use is not None:
            return self._add_input(delta.tool_use.input)
        if delta.reasoning_content is not None:
            return self._add_reasoning(delta.reasoning_content)
        if delta.text is not None:
            self.text.append(delta.text)
            return [TextDelta(text=delta.text)] if delta.text else []
        self.results += delta.tool_result or ()
        self.citations += [] if delta.citation is None else [delta.citation]
        self.image |= delta.image or {}
        return []

    def whole(self) -> Block:
        """The block as an answer that is not streamed has it."""
        match self.start:
            case {"toolUse": dict(start)}:
                return {"toolUse": start | self._finished_call()}
            case {"toolResult": dict(start)}:
                return {"toolResult": start | {"content": self.results}}
            case {"image": dict(start)}:
                return {"image": start | self.image}
        return self.start or self._untold()

    def _finished_call(self) -> Block:
        if self.call is None:
            return {"input": _read_input("".join(self.input))}
        return {"toolUseId": self.call.function_id, "input": self.call.arguments}

    def _untold(self) -> Block:
        """A block that began without saying what it is."""
        if self.citations:
            content = [{"text": "".join(self.text)}]
            return {"citationsContent": {"content": content, "citations": self.citations}}
        if self.redacted:
            return {"reasoningContent": {"redactedContent": "".join(self.redacted)}}
        if self.reasoning or self.signature is not None:
            return {"reasoningContent": {"reasoningText": self._reasoning_text()}}
        return {"image": self.image} if self.image else {"text": "".join(self.text)}

    def _reasoning_text(self) -> Block:
        text: Block = {"text": "".join(self.reasoning)}
        return text if self.signature is None else text | {"signature": self.signature}

    def _add_input(self, fragment: str | None) -> list[StreamEvent]:
        if not fragment:
            return []
        if self.call is not None:
            return [self.call.add(fragment)]
        self.input.append(fragment)
        return []

    def _add_reasoning(self, reasoning: _Reasoning) -> list[StreamEvent]:
        if reasoning.redacted_content is not None:
            self.redacted.append(reasoning.redacted_content)
        if reasoning.signature is not None:
            self.signature = reasoning.signature
        if not reasoning.text:
            return []
        self.reasoning.append(reasoning.text)
        return [ReasoningDelta(text=reasoning.text)]


def _read_input(text: str) -> JSON:
    """The input of a tool the provider runs; an empty object where it cannot be read."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
