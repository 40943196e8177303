"""Messages as `system` and `messages`."""

from __future__ import annotations

from typing import NamedTuple

from ...content import ResultWarning
from ...errors import UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...rendering import legal_ids
from ...spec import Body, Call, Target
from ...turns import Turn, read_conversation
from .blocks import Renderer, legal_id
from .quirks import ConverseQuirks
from .replay import Block

_BETWEEN: Body = {"role": "assistant", "content": [{"text": "."}]}
"""Parts a turn with results from a turn without; turns of one role would be joined again."""

_NO_FUNCTIONS = PreparedFunctions(())


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
    renderer = Renderer(target, prepared or _NO_FUNCTIONS)
    conversation = read_conversation(legal_ids(call.messages, legal_id), renderer.keeps)
    if conversation.turns[-1].role == "assistant" and not target.quirks.prefill:
        raise UnsupportedOptionError(
            f"{target.model} does not continue an assistant turn: let the messages end with the "
            "user's, and use json_schema to shape the answer."
        )
    messages: list[Body] = []
    warnings = list(conversation.warnings)
    for turn in conversation.turns:
        rendered, warned = _render_turn(renderer, turn)
        messages += rendered
        warnings += [warning for warning in warned if warning not in warnings]
    body: Body = {"messages": messages}
    system = [*conversation.system, *instructions]
    if system:
        body = {"system": [{"text": text} for text in system], **body}
    return Rendered(body, tuple(warnings))


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
