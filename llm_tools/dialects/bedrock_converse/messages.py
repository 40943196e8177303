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
from ...content import JSON, Message, ResultWarning
from ...functions.preparing import PreparedFunctions
from ...spec import Body, Call, Target
from ...turns import Turn
from .blocks import Renderer, legal_id
from .quirks import ConverseQuirks

_BETWEEN: Body = {"role": "assistant", "content": [{"text": "."}]}
"""Parts a turn with results from a turn without; turns of one role would be joined again."""


def render_messages(
    target: Target[ConverseQuirks],
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
        return _write(renderer, messages)

    return render_conversation(call, _WIRE, write, (target, functions), instructions)


def _write(renderer: Renderer, messages: tuple[Message, ...]) -> Turns:
    target = renderer.target
    conversation = read_turns(messages, renderer.keeps)
    if conversation.turns[-1].role == "assistant" and not target.quirks.prefill:
        raise no_prefill(target)
    out: list[JSON] = []
    warnings = list(conversation.warnings)
    for turn in conversation.turns:
        rendered, warned = _render_turn(renderer, turn)
        out += rendered
        warnings += [warning for warning in warned if warning not in warnings]
    return Turns(out, conversation.system, tuple(warnings))


def _render_turn(renderer: Renderer, turn: Turn) -> tuple[list[Body], list[ResultWarning]]:
    """One turn: the results of all calls first, then the rest, apart where the family wants so."""
    results = [renderer.result(message) for message in turn.results]
    images = [block for message in turn.results for block in renderer.pushed_out(message)]
    rest = [*images, *[renderer.part(part) for part in turn.parts]]
    warnings = []
    if images:
        detail = "This model takes no images in results; they follow as the user's."
        warnings.append(ResultWarning(code="image_moved", detail=detail))
    if not (results and rest and renderer.target.quirks.results_alone):
        return [_message(turn, [*results, *rest])], warnings
    detail = "This model takes nothing beside results; an assistant turn was put between."
    warnings.append(ResultWarning(code="results_parted", detail=detail))
    return [_message(turn, results), _BETWEEN, _message(turn, rest)], warnings


def _message(turn: Turn, blocks: list[Block]) -> Body:
    return {"role": turn.role, "content": blocks}


def _content(texts: list[str]) -> JSON:
    return [{"text": text} for text in texts]


_WIRE = Wire(legal_id, _content)
