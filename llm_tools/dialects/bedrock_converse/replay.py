"""What the decoder leaves on parts, and the encoder reads back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...claude.blocks import Block, find, holds
from ...content import JSON, Message
from ...spec import Target
from .quirks import ConverseQuirks


def find_block(target: Target[ConverseQuirks], part: Any) -> Block | None:
    """What this host left on a part, unless the model cannot read it back.

    Reasoning goes back where something signs it, or to the families that want it so.
    """
    found = find(target, part)
    if found is None:
        return None
    block, foreign = found
    reasoning, quirks = block.get("reasoningContent"), target.quirks
    if reasoning is None:
        return block
    if not _is_signed(reasoning):
        return block if quirks.unsigned_reasoning else None
    return None if foreign and quirks.binds_thinking else block


def holds_signed(target: Target[ConverseQuirks], messages: Iterable[Message]) -> bool:
    """Whether the history holds reasoning signed over what stands before it."""
    return holds(
        messages,
        lambda part: find_block(target, part),
        lambda block: _is_signed(block.get("reasoningContent")),
    )


def cited_text(block: Block) -> str | None:
    """The text of a block with citations."""
    match block:
        case {"citationsContent": {"content": list(parts)}}:
            return "".join([part["text"] for part in parts if _is_text(part)])
    return None


def _is_text(part: JSON) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def _is_signed(reasoning: JSON) -> bool:
    match reasoning:
        case {"redactedContent": str()} | {"reasoningText": {"signature": str()}}:
            return True
    return False
