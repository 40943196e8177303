"""What the decoder leaves on parts, and the encoder reads back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...content import JSON, Message, Metadata
from ...rendering import own, parts_of
from ...spec import Target
from .quirks import AnthropicQuirks

Block = dict[str, JSON]

_THINKING = frozenset({"thinking", "redacted_thinking"})


def leave(target: Target[Any], block: Block) -> Metadata:
    """A block for replay, with the model it may be bound to."""
    return {target.replay_key: {"block": block, "model": target.model}}


def find_block(target: Target[AnthropicQuirks], part: Any) -> Block | None:
    """What this host left on a part, unless it is thinking this model cannot read back."""
    mine: Any = own(part, target.replay_key)
    if not isinstance(mine, dict) or not isinstance(block := mine.get("block"), dict):
        return None
    foreign = mine.get("model") not in (None, target.model)
    if foreign and target.quirks.binds_thinking and block.get("type") in _THINKING:
        return None
    return block


def holds_thinking(target: Target[AnthropicQuirks], messages: Iterable[Message]) -> bool:
    """Whether the history holds thinking that goes back: it is signed over what stands before."""
    return any(
        (block := find_block(target, part)) is not None and block.get("type") in _THINKING
        for message in messages
        if message.role == "assistant"
        for part in parts_of(message)
        if hasattr(part, "provider_metadata")
    )
