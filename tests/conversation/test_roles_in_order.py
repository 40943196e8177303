"""Where system messages may stand, who speaks first and last, and what of it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversation.bodies import complaints, dialect_of, said_in
from conversation.histories import call, result, system, turn, user
from conversation.test_rich_history import NO_FUNCTIONS
from matrix.scenes import ENDPOINTS, Aim

from llm_tools import Message, OutputResultRefusal, OutputResultText, Request

every_endpoint = pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
MISTRAL = Aim("mistral.chat.v1", "mistral-large-latest")
CHAT = Aim("openai.chat.v1", "gpt-4o-mini")


def ask(aim: Aim, messages: Any) -> Request:
    functions = None if aim.key in NO_FUNCTIONS else [{"name": "run"}]
    return aim.llm().build_request(messages, functions=functions)


def codes(request: Request) -> list[str]:
    return [warning.code for warning in request.warnings]


@every_endpoint
def test_instructions_may_come_in_parts(aim: Aim) -> None:
    """Structs and dicts, with metadata or not: all their text goes out, blank text does not."""
    parts = (
        OutputResultText(text="One."),
        OutputResultText(text=" "),
        OutputResultText(text="Two."),
    )
    kept = {"type": "text", "text": "Three.", "providerMetadata": {"openai": {"x": 1}}}
    messages = [
        Message(role="system", content=parts),
        {"role": "system", "content": [kept]},
        {"role": "system", "content": " \n"},
        user("Hi"),
    ]
    body = ask(aim, messages).body
    text = json.dumps(body)
    assert [text.count(word) for word in ("One.", "Two.", "Three.")] == [1, 1, 1]
    assert complaints(aim, body) == []


@every_endpoint
@pytest.mark.parametrize(
    "systems", [["Go.", " "], ["First.", "Go."], ["First.", "Go.", "\n", ""]], ids=str
)
def test_the_last_words_of_the_system_are_the_users_where_one_is_needed(
    aim: Aim, systems: list[str]
) -> None:
    """Blank ones do not count; nothing else is lost."""
    request = ask(aim, [system(text) for text in systems])
    said = said_in(aim, request.body)
    moved = "system_as_user" in codes(request)
    if moved:
        assert [turn.text for turn in said if turn.role == "user"] == ["Go."]
    else:
        assert [turn.role for turn in said if turn.role == "user"] == []
    text = json.dumps(request.body)
    assert [text.count(word) for word in ("First.", "Go.")] == ["First." in systems, 1]
    assert complaints(aim, request.body) == []


LATE = [
    system("Be brief."),
    user("Go"),
    system("Between users."),
    user("Go on"),
    turn("Well.", call("a")),
    result("a", "ok"),
    system("After a result."),
    turn("Done."),
    system("After a turn."),
    user("And?"),
]


@every_endpoint
def test_late_instructions_are_kept(aim: Aim) -> None:
    """In their place where the wire takes them there, else before all turns, and that is told."""
    request = ask(aim, LATE)
    text = json.dumps(request.body)
    wanted = ["Be brief.", "Between users.", "After a result.", "After a turn."]
    assert [text.count(word) for word in wanted] == [1, 1, 1, 1]
    assert complaints(aim, request.body) == []
    in_order = [text.index(word) for word in ("Between users.", "Well.", "After a turn.")]
    stays = in_order == sorted(in_order)
    assert stays == ("system_hoisted" not in codes(request))
    if dialect_of(aim) in ("anthropic_messages", "bedrock_converse", "gemini"):
        assert not stays


def test_mistral_takes_no_instructions_after_a_turn_or_result() -> None:
    """The order its own validator asks for; a user may speak right after a result."""
    roles = [m["role"] for m in ask(MISTRAL, LATE).body["messages"]]
    assert roles == ["system"] * 4 + ["user", "user", "assistant", "tool", "assistant", "user"]
    request = ask(MISTRAL, [user("Go"), turn(call("a")), result("a", "ok"), user("And?")])
    assert [m["role"] for m in request.body["messages"]] == ["user", "assistant", "tool", "user"]
    assert codes(request) == []
    before_any_turn = ask(MISTRAL, LATE[:4])
    assert [m["role"] for m in before_any_turn.body["messages"]] == [
        "system", "user", "system", "user",
    ]  # fmt: skip
    assert codes(before_any_turn) == []


def test_a_turn_that_mistral_is_to_continue_is_marked() -> None:
    """Only the last, and only there."""
    history = [user("Go"), turn("Well"), user("On"), turn("And so")]
    request = ask(MISTRAL, history)
    first, last = (m for m in request.body["messages"] if m["role"] == "assistant")
    assert first == {"role": "assistant", "content": "Well"}
    assert last == {"role": "assistant", "content": "And so", "prefix": True}
    assert complaints(MISTRAL, request.body) == []
    assert "prefix" not in json.dumps(ask(CHAT, history).body)


def test_a_refusal_without_words_is_not_sent() -> None:
    """Neither as a field nor as a turn; several become one field."""
    empty = Message(role="assistant", content=(OutputResultRefusal(text=" "),))
    assert ask(CHAT, [user("Go"), empty, user("On")]).body["messages"] == [user("Go"), user("On")]
    words = (OutputResultRefusal(text="No"), OutputResultRefusal(text=" way."))
    turn_ = Message(role="assistant", content=words)
    assert ask(CHAT, [user("Go"), turn_, user("On")].copy()).body["messages"][1] == {
        "role": "assistant",
        "content": None,
        "refusal": "No way.",
    }
