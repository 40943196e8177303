"""What the decoder leaves on parts, and the encoder reads back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...claude.blocks import Block, find, holds
from ...content import Message
from ...spec import Target
from .quirks import AnthropicQuirks

_THINKING = frozenset({"thinking", "redacted_thinking"})


def find_block(target: Target[AnthropicQuirks], part: Any) -> Block | None:
    """What this host left on a part, unless it is thinking this model cannot read back."""
    found = find(target, part)
    if found is None:
        return None
    block, foreign = found
    return None if foreign and target.quirks.binds_thinking and _is_thinking(block) else block


def holds_thinking(target: Target[AnthropicQuirks], messages: Iterable[Message]) -> bool:
    """Whether the history holds thinking that goes back: it is signed over what stands before."""
    return holds(messages, lambda part: find_block(target, part), _is_thinking)


def _is_thinking(block: Block) -> bool:
    return block.get("type") in _THINKING
