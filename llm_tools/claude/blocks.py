"""Content blocks: how parts of messages become some, and what is kept of them for replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from ..content import (
    JSON,
    Message,
    Metadata,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from ..functions.preparing import PreparedFunctions
from ..rendering import own, parts_of
from ..spec import Target
from ..turns import TurnRole

Block: TypeAlias = dict[str, JSON]

FAILED = "Error: the function failed"
"""Stands for an error that says nothing, which neither wire takes."""


class Blocks(Protocol):
    """How one wire writes the kinds of parts."""

    @property
    def prepared(self) -> PreparedFunctions:
        """The functions, which know their names on the wire."""

    def kept(self, part: Any) -> Block | None:
        """What this host left on a part, unless the model cannot read it back."""

    def text(self, text: str) -> Block:
        """Text."""

    def text_of(self, block: Block) -> JSON:
        """The text of a block that is replayed."""

    def call(self, use: OutputResultFunctionUse, wire_name: str, value: JSON) -> Block:
        """A call, by its name and its input on the wire."""

    def image(self, image: OutputResultImage) -> Block:
        """An image."""


def takes(blocks: Blocks, role: TurnRole, part: OutputResultContent) -> bool:
    """Whether the wire takes this part of a turn of this role."""
    match part:
        case OutputResultText(text=text) | OutputResultRefusal(text=text):
            return bool(text.strip())
        case OutputResultFunctionUse():
            return True
        case OutputResultReasoning():
            return blocks.kept(part) is not None
        case _:
            return role == "user" or blocks.kept(part) is not None


def write_part(blocks: Blocks, part: OutputResultContent) -> Block:
    """One part the wire takes; what this host itself made goes back as it came."""
    match part:
        case OutputResultText(text=text):
            block = blocks.kept(part)
            same = block is not None and blocks.text_of(block) == text
            return block if block is not None and same else blocks.text(text)
        case OutputResultRefusal(text=text):
            return blocks.text(text)
        case OutputResultFunctionUse():
            functions = blocks.prepared
            value = functions.wire_input(part.name, part.input)
            return blocks.call(part, functions.wire_name(part.name), value)
        case OutputResultReasoning():
            return blocks.kept(part) or {}
        case _:
            return blocks.kept(part) or blocks.image(part)


def leave(target: Target[Any], block: Block) -> Metadata:
    """A block for replay, with the model it may be bound to."""
    return {target.replay_key: {"block": block, "model": target.model}}


def find(target: Target[Any], part: Any) -> tuple[Block, bool] | None:
    """What this host left on a part, and whether another model made it."""
    mine: Any = own(part, target.replay_key)
    if not isinstance(mine, dict) or not isinstance(block := mine.get("block"), dict):
        return None
    return block, mine.get("model") not in (None, target.model)


def holds(
    messages: Iterable[Message],
    kept: Callable[[Any], Block | None],
    is_signed: Callable[[Block], bool],
) -> bool:
    """Whether the history holds a signed block that goes back."""
    return any(
        (block := kept(part)) is not None and is_signed(block)
        for message in messages
        if message.role == "assistant"
        for part in parts_of(message)
        if hasattr(part, "provider_metadata")
    )
