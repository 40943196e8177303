"""What a run's prompt and dialogue make together."""

from __future__ import annotations

from collections.abc import Sequence

from ..content import Message
from ..dialogue import Dialogue


def split_prompt(messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """What leads every request (instructions, examples), and the user turn that asks.

    The asking turn is the user messages a prompt ends with; it becomes part of the dialogue.
    """
    end = len(messages)
    while end and messages[end - 1].role == "user":
        end -= 1
    return tuple(messages[:end]), tuple(messages[end:])


def is_continued(dialogue: Dialogue, asking: Sequence[Message]) -> bool:
    """Whether the dialogue already holds this turn and only waits for the model to go on."""
    history = dialogue.history
    if not history or history[-1].role != "function":
        return False
    last_user = next((i for i in range(len(history), 0, -1) if history[i - 1].role == "user"), 0)
    return tuple(history[last_user - len(asking) : last_user]) == tuple(asking)
