"""One answer of the model, in the steps it can do: choose, fill, answer.

The engine's own tool calling does not hold a small model to anything, but its decoding can be
held to a schema. So a call is made in two steps: which function (one of its names), then its
arguments (its schema). What functions answered is put into words in a third.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from ...functions.validating import validate
from .asking import Ask
from .bounding import bounded, is_empty
from .refusing import ApiError
from .session import Prompt, Session
from .wire import Function
from .wording import answering, choosing, filling, talking

_NAME_TOKENS = 40
_INPUT_TOKENS = 256
_SENTENCE_TOKENS = 80
_TEXT_TOKENS = 256
_DECLINE_BIAS = -2.0
"""Without it the model declines about every second request that a function fits."""


class TextPiece(Struct, frozen=True):
    """More text."""

    text: str


class CallStart(Struct, frozen=True):
    """The function is chosen."""

    name: str


class InputPiece(Struct, frozen=True):
    """More of the arguments' JSON text."""

    text: str


class End(Struct, frozen=True):
    """The answer is complete and has been checked."""

    reason: Literal["stop", "length", "tool_calls"]


Event: TypeAlias = TextPiece | CallStart | InputPiece | End
Events: TypeAlias = Generator[Event, None, None]


def respond(ask: Ask, session: Session) -> Events:
    """Answer, piece by piece, as the model writes.

    Raises:
        ApiError: what came does not fit the schema, or was cut off; or the engine refused.
        ClientGone: nobody is there to read it.
    """
    function = _choose(ask, session)
    if function is None:
        yield from _say(ask, session)
    else:
        yield from _call(function, ask, session)


def _choose(ask: Ask, session: Session) -> Function | None:
    """The function to call, or None to answer in text.

    Where the choice is free and functions have just answered, that answer is told: the model is
    too small to see by itself that it has what it asked for.
    """
    functions = ask.functions
    if not functions or (ask.conversation.results and not ask.must_call):
        return None
    if ask.must_call and len(functions) == 1:
        return functions[0]
    names = [function.name for function in functions]
    decline = None if ask.must_call else _free_name(names)
    answers = names if decline is None else [decline, *names]
    options: dict[str, Any] = {} if decline is None else {"logit_bias": [[decline, _DECLINE_BIAS]]}
    prompt = Prompt(
        turns=choosing(functions, ask.conversation.question, decline=decline),
        limit=_NAME_TOKENS,
        schema={
            "type": "object",
            "properties": {"name": {"enum": answers}},
            "required": ["name"],
            "additionalProperties": False,
        },
        options=options,
    )
    with session.complete(prompt) as completion:
        text = "".join(completion)
    if completion.finish_reason != "stop":
        raise ApiError("A function's name is too long for the local model.", code="output_limit")
    chosen = msgspec.json.decode(text)["name"]
    return None if chosen == decline else functions[names.index(chosen)]


def _free_name(taken: list[str]) -> str:
    name = "none"
    while name in taken:
        name += "_"
    return name


def _call(function: Function, ask: Ask, session: Session) -> Events:
    yield CallStart(function.name)
    schema = function.parameters or {}
    if is_empty(schema):
        yield InputPiece("{}")
        yield End("tool_calls")
        return
    prompt = Prompt(
        turns=filling(function, ask.conversation.question),
        limit=min(ask.limit or _INPUT_TOKENS, _INPUT_TOKENS),
        schema=bounded(schema),
        options=_without_stop(ask.sampling),
    )
    with session.complete(prompt) as completion:
        text = ""
        for piece in completion:
            text += piece
            yield InputPiece(piece)
    if completion.finish_reason != "stop":
        raise ApiError(
            f"The arguments of {function.name} were cut off after {prompt.limit} tokens: raise "
            "max_tokens, or ask for less.",
            code="output_limit",
        )
    _check(schema, text, f"The arguments of {function.name}")
    yield End("tool_calls")


def _say(ask: Ask, session: Session) -> Events:
    conversation = ask.conversation
    about_results = bool(conversation.results)
    prompt = Prompt(
        turns=answering(conversation.question, conversation.results)
        if about_results
        else talking(conversation.turns),
        limit=ask.limit or (_SENTENCE_TOKENS if about_results else _TEXT_TOKENS),
        schema=None if ask.schema is None else bounded(ask.schema),
        options=ask.sampling,
    )
    with session.complete(prompt) as completion:
        text = ""
        for piece in completion:
            text += piece
            yield TextPiece(piece)
    reason = completion.finish_reason
    if ask.schema is not None and reason == "stop":
        _check(ask.schema, text, "The answer")
    yield End(reason)


def _without_stop(sampling: dict[str, Any]) -> dict[str, Any]:
    """Stop sequences are about text; in arguments they would cut the JSON."""
    return {name: value for name, value in sampling.items() if name != "stop"}


def _check(schema: dict[str, Any], text: str, what: str) -> None:
    """Hold what was written to the caller's own schema.

    Raises:
        ApiError: the grammar could not express something that the schema demands.
    """
    try:
        complaint = validate(schema, msgspec.json.decode(text))
    except msgspec.DecodeError as error:
        complaint = str(error)
    if complaint is not None:
        raise ApiError(
            f"{what} did not come out as the schema demands ({complaint}): the local model's "
            "grammar cannot hold it to every keyword. Make the schema simpler, or use a larger "
            "model.",
            code="schema_not_supported",
        )
