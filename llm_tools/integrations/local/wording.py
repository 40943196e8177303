"""The prompts of the protocol's steps: wording and worked examples, in this order of care.

A model this small imitates more than it obeys, so each step shows three examples with functions
that no caller has, in exactly the form of the real question. Few words were changed freely here:
the wording was chosen by counting right answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from .conversation import Turn
from .wire import Function


class _Example(Struct, frozen=True):
    request: str
    function: str
    signature: str
    input: dict[str, Any]


_EXAMPLES = (
    _Example(
        "Remind me to call the dentist on Friday.",
        "create_reminder",
        "create_reminder(text: string, when: string) - Create a reminder.",
        {"text": "call the dentist", "when": "Friday"},
    ),
    _Example(
        "Book a table for 4 people at Luigi's.",
        "book_table",
        "book_table(restaurant: string, people: integer) - Book a table in a restaurant.",
        {"restaurant": "Luigi's", "people": 4},
    ),
    _Example(
        "Play the song Yesterday.",
        "play_song",
        "play_song(title: string) - Play a song.",
        {"title": "Yesterday"},
    ),
)
_ANSWERS = (
    (
        "Play the song Yesterday.",
        "status: playing",
        "The song Yesterday is playing now.",
    ),
    (
        "How far is it from Rome to Milan?",
        "distance_km: 572",
        "The distance from Rome to Milan is 572 km.",
    ),
    (
        "Book a table for 4 people at Luigi's.",
        "confirmation: B-17, table: 12",
        "Your table is booked: table 12, confirmation B-17.",
    ),
)
_NOTHING_FITS = "No function fits: answer in words."
_CHAT = "Tell me a story about a dragon."
_HELPFUL = Turn("system", "You are a helpful assistant.")


def choosing(functions: Sequence[Function], request: str, *, decline: str | None) -> list[Turn]:
    """Ask which function fits; `decline` is the answer that none does, if that is allowed."""
    signatures = [example.signature for example in _EXAMPLES] + [*map(signature, functions)]
    shown = [(example.request, example.function) for example in _EXAMPLES]
    if decline is not None:
        # First in both lists: in any other place the model declines most real requests.
        signatures.insert(0, f"{decline}() - {_NOTHING_FITS}")
        shown.insert(0, (_CHAT, decline))
    return _shown(
        "Choose the function for the request. Answer with its name only.\nFunctions:\n"
        + "\n".join(signatures),
        [(question, _json({"name": name})) for question, name in shown],
        request,
    )


def filling(function: Function, request: str) -> list[Turn]:
    """Ask for the arguments of one function."""
    return _shown(
        "Fill the arguments of the function from the request. Copy the values from the request.",
        [(_task(item.signature, item.request), _json(item.input)) for item in _EXAMPLES],
        _task(signature(function), request),
    )


def answering(question: str, results: Sequence[str]) -> list[Turn]:
    """Ask for a sentence that tells the user what the functions answered."""
    return _shown(
        "You answer the user in one short sentence with the given result.",
        [(_finding(asked, result), said) for asked, result, said in _ANSWERS],
        _finding(question, "; ".join(results)),
    )


def talking(turns: Sequence[Turn]) -> list[Turn]:
    """A plain conversation; without a system message the model talks about itself."""
    return [*turns] if turns[0].role == "system" else [_HELPFUL, *turns]


def signature(function: Function) -> str:
    """`name(argument: kind, optional?: this|that) - description`."""
    parameters = function.parameters or {}
    required = parameters.get("required") or ()
    properties = parameters.get("properties") or {}
    arguments = [
        f"{name}{'' if name in required else '?'}: {_kind(schema)}"
        for name, schema in properties.items()
    ]
    return f"{function.name}({', '.join(arguments)}) - {function.description or ''}".rstrip(" -")


def _kind(schema: Any) -> str:
    match schema:
        case {"enum": [*values]}:
            return "|".join([value if isinstance(value, str) else _json(value) for value in values])
        case {"type": str(kind)}:
            return kind
        case {"type": [*kinds]}:
            return "|".join(map(str, kinds))
        case {"anyOf": [*schemas]} | {"oneOf": [*schemas]}:
            return "|".join(dict.fromkeys(map(_kind, schemas)))
    return "any"


def _shown(instruction: str, examples: Sequence[tuple[str, str]], question: str) -> list[Turn]:
    turns = [Turn("system", instruction)]
    for asked, answer in examples:
        turns += [Turn("user", asked), Turn("assistant", answer)]
    return [*turns, Turn("user", question)]


def _task(signature: str, request: str) -> str:
    return f"Function: {signature}\nRequest: {request}"


def _finding(question: str, result: str) -> str:
    return f"{question}\nResult: {result}"


def _json(value: Any) -> str:
    """JSON with a blank after each colon and comma: the spelling the model writes best."""
    if isinstance(value, dict):
        members = [f"{_json(key)}: {_json(item)}" for key, item in value.items()]
        return "{" + ", ".join(members) + "}"
    return msgspec.json.encode(value).decode()
