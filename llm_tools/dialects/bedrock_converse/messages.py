"""Messages as `system` and `messages`."""

from __future__ import annotations

from typing import NamedTuple

from ...content import Message, ResultWarning
from ...errors import UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...remembering import Opening, Said, say
from ...rendering import legal_ids
from ...spec import Body, Call, Target
from ...turns import Turn, read_conversation
from .blocks import Renderer, legal_id
from .quirks import ConverseQuirks
from .replay import Block

_BETWEEN: Body = {"role": "assistant", "content": [{"text": "."}]}
"""Parts a turn with results from a turn without; turns of one role would be joined again."""

_NO_FUNCTIONS = PreparedFunctions(())
_OPENING = Opening(Message(role="user", content="-"), {"role": "user", "content": [{"text": "-"}]})


class Rendered(NamedTuple):
    """The body's part, and what must be said."""

    body: Body
    warnings: tuple[ResultWarning, ...]


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
    functions = prepared or _NO_FUNCTIONS
    renderer = Renderer(target, functions)

    def render(messages: tuple[Message, ...]) -> Said:
        said = _render(renderer, legal_ids(messages, legal_id))
        system = [*said.system, *(instructions if messages is call.messages else ())]
        body: Body = {"system": [{"text": text} for text in system]} if system else {}
        return Said(said.messages, body, said.warnings)

    said = say(
        call,
        render,
        (target, functions),
        known_by=instructions,
        is_legal=legal_id,
        opening=_OPENING,
    )
    return Rendered({**said.body, "messages": said.elements}, said.warnings)


class _Rendered(NamedTuple):
    messages: list[Body]
    system: tuple[str, ...]
    warnings: tuple[ResultWarning, ...]


def _render(renderer: Renderer, messages: tuple[Message, ...]) -> _Rendered:
    target = renderer.target
    conversation = read_conversation(messages, renderer.keeps)
    if conversation.turns[-1].role == "assistant" and not target.quirks.prefill:
        raise UnsupportedOptionError(
            f"{target.model} does not continue an assistant turn: let the messages end with the "
            "user's, and use json_schema to shape the answer."
        )
    out: list[Body] = []
    warnings = list(conversation.warnings)
    for turn in conversation.turns:
        rendered, warned = _render_turn(renderer, turn)
        out += rendered
        warnings += [warning for warning in warned if warning not in warnings]
    return _Rendered(out, conversation.system, tuple(warnings))


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
