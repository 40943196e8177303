"""Messages as `system` and `messages`."""

from __future__ import annotations

from ...claude.blocks import Block
from ...claude.messages import (
    NO_FUNCTIONS,
    Rendered,
    Turns,
    Wire,
    no_prefill,
    read_turns,
    render_conversation,
)
from ...content import JSON, Message
from ...functions.preparing import PreparedFunctions
from ...spec import Body, Call, Target
from ...turns import Turn
from .blocks import Renderer, legal_id
from .quirks import AnthropicQuirks


def render_messages(
    target: Target[AnthropicQuirks],
    call: Call,
    prepared: PreparedFunctions | None,
    instructions: tuple[str, ...] = (),
) -> Rendered:
    """The conversation; `instructions` join the system texts.

    Raises:
        ConfigurationError: there is nothing to send, or it ends with the assistant's turn.
    """
    functions = prepared or NO_FUNCTIONS
    renderer = Renderer(target, functions)

    def write(messages: tuple[Message, ...]) -> Turns:
        conversation = read_turns(messages, renderer.keeps)
        turns: list[Body] = [_render_turn(renderer, turn) for turn in conversation.turns]
        _check_end(target, turns[-1])
        return Turns(turns, conversation.system, conversation.warnings)

    return render_conversation(call, _WIRE, write, (target, functions), instructions)


def _render_turn(renderer: Renderer, turn: Turn) -> Body:
    """One message: the results of all calls first, then the rest."""
    blocks = [renderer.result(message) for message in turn.results]
    blocks += [renderer.part(part) for part in turn.parts]
    return {"role": turn.role, "content": _collapse(blocks)}


def _collapse(blocks: list[Block]) -> JSON:
    """A lone plain text as a string, which says the same in fewer bytes."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


def _check_end(target: Target[AnthropicQuirks], last: Body) -> None:
    if last["role"] != "user" and not target.quirks.prefill and not _is_paused(last["content"]):
        raise no_prefill(target)


def _is_paused(content: JSON) -> bool:
    """Whether a turn holds tools the provider runs: it may be paused and is resent as it is."""
    return isinstance(content, list) and any(
        block["type"] not in ("text", "tool_use", "thinking", "redacted_thinking")
        for block in content
    )


def _content(texts: list[str]) -> JSON:
    return _collapse([{"type": "text", "text": text} for text in texts])


_WIRE = Wire(legal_id, _content)
