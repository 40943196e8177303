"""Messages as `contents` and `systemInstruction`."""

from __future__ import annotations

from typing import NamedTuple

from ...content import JSON, ResultWarning
from ...functions.preparing import PreparedFunctions
from ...spec import Body, Call, Target
from ...turns import Turn, read_conversation
from .parts import PartRenderer
from .quirks import GeminiQuirks
from .results import ResultRenderer


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
    results = ResultRenderer(renderer)
    conversation = read_conversation(call.messages, renderer.keeps)
    body: Body = {
        "contents": [_render_turn(renderer, results, turn) for turn in conversation.turns]
    }
    system = [*conversation.system, *instructions]
    if system:
        body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
    return Rendered(body, (*conversation.warnings, *results.warnings))


def _render_turn(renderer: PartRenderer, results: ResultRenderer, turn: Turn) -> JSON:
    """One content: of the user, the results of all calls and then the rest."""
    if turn.role == "assistant":
        results.expect(turn.parts)
        return {"role": "model", "parts": renderer.model_parts(turn.parts)}
    answered = results.render(turn.results)
    return {"role": "user", "parts": [*answered, *map(renderer.part, turn.parts)]}
