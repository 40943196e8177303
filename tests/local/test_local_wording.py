"""What the model is asked, word by word."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools.integrations.local.conversation import Turn, read_conversation, readable
from llm_tools.integrations.local.wire import ChatMessage, Function, Part
from llm_tools.integrations.local.wording import (
    answering,
    choosing,
    filling,
    signature,
    talking,
)

LIGHT = Function(
    "turn_light",
    "Turn a light on or off.",
    {
        "type": "object",
        "properties": {"room": {"enum": ["hall", 1]}, "on": {"type": ["boolean", "null"]}},
        "required": ["room"],
    },
)


def test_signature() -> None:
    """A function is shown as one line: names, kinds, choices, what is optional."""
    assert (
        signature(LIGHT) == "turn_light(room: hall|1, on?: boolean|null) - Turn a light on or off."
    )
    union = {"properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "y": {}}}
    assert signature(Function("f", None, union)) == "f(x?: string|null, y?: any)"
    assert signature(Function("f")) == "f()"


def test_choosing_shows_examples_then_the_request() -> None:
    """The question has exactly the form of the worked examples."""
    turns = choosing([LIGHT], "Light, please.", decline=None)
    assert turns[0].role == "system"
    assert turns[0].content.splitlines()[0] == (
        "Choose the function for the request. Answer with its name only."
    )
    assert turns[0].content.splitlines()[-1] == signature(LIGHT)
    assert turns[-2] == Turn("assistant", '{"name": "play_song"}')
    assert turns[-1] == Turn("user", "Light, please.")
    assert len(turns) == 8


def test_declining_comes_first() -> None:
    """Where no function need fit, that is the first function and the first example."""
    turns = choosing([LIGHT], "Hello.", decline="none")
    assert turns[0].content.splitlines()[2] == "none() - No function fits: answer in words."
    assert turns[2] == Turn("assistant", '{"name": "none"}')
    assert len(turns) == 10


def test_filling_and_answering() -> None:
    """Arguments are asked for with the signature, sentences with the result."""
    assert filling(LIGHT, "On.")[-1].content == f"Function: {signature(LIGHT)}\nRequest: On."
    assert filling(LIGHT, "On.")[4].content == '{"restaurant": "Luigi\'s", "people": 4}'
    assert answering("How far?", ["km: 3", "ok"])[-1].content == "How far?\nResult: km: 3; ok"


def test_talking_has_a_system_message() -> None:
    """A conversation keeps its own instructions, or gets the plainest."""
    user = Turn("user", "Hi")
    own = Turn("system", "Be brief.")
    assert talking([user]) == [Turn("system", "You are a helpful assistant."), user]
    assert talking([own, user]) == [own, user]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": {"c": [true, null]}}', "a: 1, b: c: true, null"),
        ('["x", 2.5]', "x, 2.5"),
        ('"x"', "x"),
        ("Error: no", "Error: no"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_readable(text: str, expected: str) -> None:
    """JSON becomes words and values; everything else stays."""
    assert readable(text) == expected


def read(*messages: dict[str, Any]) -> Any:
    return read_conversation([ChatMessage(**message) for message in messages])


def test_a_whole_history() -> None:
    """Roles the model does not know become ones it does; the question is the last of the user's."""
    from llm_tools.integrations.local.wire import CalledFunction, ToolCall

    call = ToolCall("1", CalledFunction("f", "{}"))
    history = read(
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [Part("text", "Add"), Part("text", " 1.")]},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": '{"sum": 2}'},
        {"role": "assistant", "content": [Part("refusal", refusal="No.")]},
        {"role": "user", "content": "Again."},
    )
    assert history.turns == (
        Turn("system", "Be brief."),
        Turn("user", "Add 1."),
        Turn("user", "Result: sum: 2"),
        Turn("assistant", "No."),
        Turn("user", "Again."),
    )
    assert (history.question, history.results) == ("Again.", ())


def test_instructions_alone_are_the_question() -> None:
    """Without a user's message the instructions are what is asked."""
    assert read({"role": "system", "content": "Pick one."}).question == "Pick one."
