"""Messages as `contents` and `systemInstruction`."""

from __future__ import annotations

from typing import NamedTuple

from ...content import JSON, Message, ResultWarning
from ...functions.preparing import PreparedFunctions
from ...remembering import Opening, Said, say
from ...spec import Body, Call, Target
from ...turns import Turn, read_conversation
from .parts import PartRenderer
from .quirks import GeminiQuirks
from .results import ResultRenderer

_OPENING = Opening(Message(role="user", content="-"), {"role": "user", "parts": [{"text": "-"}]})


class Rendered(NamedTuple):
    """The body's part, and what must be said."""

    body: Body
    warnings: tuple[ResultWarning, ...]


def render_messages(
    target: Target[GeminiQuirks],
    call: Call,
    functions: PreparedFunctions,
    instructions: tuple[str, ...] = (),
) -> Rendered:
    """Turns of `user` and `model` in alternation; `instructions` join the system texts.

    Expects mended messages.

    Raises:
        ConfigurationError: there is nothing to send.
    """
    renderer = PartRenderer(target, functions)

    def render(messages: tuple[Message, ...]) -> Said:
        results = ResultRenderer(renderer)
        conversation = read_conversation(messages, renderer.keeps)
        turns = [_render_turn(renderer, results, turn) for turn in conversation.turns]
        system = [*conversation.system, *(instructions if messages is call.messages else ())]
        parts = [{"text": text} for text in system]
        body: Body = {"systemInstruction": {"parts": parts}} if system else {}
        return Said(turns, body, (*conversation.warnings, *results.warnings))

    said = say(call, render, (target, functions), known_by=instructions, opening=_OPENING)
    return Rendered({"contents": said.elements, **said.body}, said.warnings)


def _render_turn(renderer: PartRenderer, results: ResultRenderer, turn: Turn) -> JSON:
    """One content: of the user, the results of all calls and then the rest."""
    if turn.role == "assistant":
        results.expect(turn.parts)
        return {"role": "model", "parts": renderer.model_parts(turn.parts)}
    answered = results.render(turn.results)
    return {"role": "user", "parts": [*answered, *map(renderer.part, turn.parts)]}
