"""Messages as `system` and `messages`."""

from __future__ import annotations

from typing import NamedTuple

from ...content import JSON, Message, ResultWarning
from ...errors import UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...remembering import Opening, Said, say
from ...rendering import legal_ids
from ...spec import Body, Call, Target
from ...turns import Turn, read_conversation
from .blocks import Renderer, legal_id
from .quirks import AnthropicQuirks
from .replay import Block

_NO_FUNCTIONS = PreparedFunctions(())
_OPENING = Opening(Message(role="user", content="-"), {"role": "user", "content": "-"})


class Rendered(NamedTuple):
    """The body's part, and what must be said."""

    body: Body
    warnings: tuple[ResultWarning, ...]


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
    functions = prepared or _NO_FUNCTIONS
    renderer = Renderer(target, functions)

    def render(messages: tuple[Message, ...]) -> Said:
        conversation = read_conversation(legal_ids(messages, legal_id), renderer.keeps)
        turns: list[Body] = [_render_turn(renderer, turn) for turn in conversation.turns]
        _check_end(target, turns[-1])
        system = [*conversation.system, *(instructions if messages is call.messages else ())]
        body = {"system": _collapse([_text(text) for text in system])} if system else {}
        return Said(turns, body, conversation.warnings)

    said = say(
        call,
        render,
        (target, functions),
        known_by=instructions,
        is_legal=legal_id,
        opening=_OPENING,
    )
    return Rendered({**said.body, "messages": said.elements}, said.warnings)


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
    if last["role"] == "user" or target.quirks.prefill or _is_paused(last["content"]):
        return
    raise UnsupportedOptionError(
        f"{target.model} does not continue an assistant turn: let the messages end with the "
        "user's, and use json_schema to shape the answer."
    )


def _is_paused(content: JSON) -> bool:
    """Whether a turn holds tools the provider runs: it may be paused and is resent as it is."""
    return isinstance(content, list) and any(
        block["type"] not in ("text", "tool_use", "thinking", "redacted_thinking")
        for block in content
    )


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
