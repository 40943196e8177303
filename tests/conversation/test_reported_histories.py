"""Histories that failed elsewhere go out legal on every endpoint, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from conversation.bodies import complaints, dialect_of, said_in
from conversation.histories import (
    History,
    call,
    functions_in,
    handed,
    handed_in,
    load,
    messages_of,
    ours,
    result,
    system,
    turn,
    user,
)
from conversation.test_rich_history import IMAGE, NO_FUNCTIONS, assert_answered
from matrix.scenes import ENDPOINTS, FAMILIES, Aim

from llm_tools import ConfigurationError, Request, create_dialogue
from llm_tools.history import NOT_COMPLETED

BLOCKS = {
    "anthropic_messages": ("tool_use", "tool_result"),
    "bedrock_converse": ("toolUse", "toolResult"),
    "gemini": ("functionCall", "functionResponse"),
}
TARGETS = [
    *[aim for aim in ENDPOINTS if aim.key not in NO_FUNCTIONS],
    *[aim for aim in FAMILIES if dialect_of(aim) in BLOCKS],
]
every_aim = pytest.mark.parametrize("aim", TARGETS, ids=str)


def ask(aim: Aim, history: History, **options: Any) -> Request:
    """The request of a kept history, which it does not change."""
    dialogue = create_dialogue().add_from_history(history)
    before = dialogue.to_json()
    functions = functions_in(history) or None
    request = aim.llm(**options).build_request(dialogue, functions=functions)
    assert dialogue.to_json() == before
    return request


def raw_turns(dialect: str, body: Any) -> list[list[Any]]:
    """The blocks of each message, on the wires that have blocks."""
    if dialect == "gemini":
        return [content["parts"] for content in body["contents"]]
    contents = [message["content"] for message in body["messages"]]
    return [
        [{"type": "text", "text": content}] if isinstance(content, str) else content
        for content in contents
    ]


def assert_one_turn_each(aim: Aim, body: Any) -> None:
    """All calls of a turn are in one message and all results begin the next; roles alternate."""
    dialect = dialect_of(aim)
    if dialect not in BLOCKS:
        return
    call_key, result_key = BLOCKS[dialect]
    waiting = 0
    for blocks in raw_turns(dialect, body):
        assert blocks
        kinds = [block.get("type") if dialect == "anthropic_messages" else next(
            (key for key in (call_key, result_key) if key in block), "") for block in blocks]  # fmt: skip
        results = kinds.count(result_key)
        assert results == waiting
        assert kinds[:results] == [result_key] * results
        waiting = kinds.count(call_key)
    assert waiting == 0
    roles = [m["role"] for m in body["contents" if dialect == "gemini" else "messages"]]
    assert all(one != other for one, other in pairwise(roles))


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a body that stands where a provider looks for words."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("text", "content") and isinstance(inner, str):
                yield inner
            elif key not in ("input", "args", "arguments", "json", "response"):
                yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


# ---------------------------------------------------------------- results of parallel calls


PARALLEL = ours(
    three_then_an_image=[
        user("Go"),
        turn("One moment.", call("a", n=1), call("b", n=2), call("c", "look")),
        result("a", "ra"),
        result("b", {"of": "b"}),
        result("c", "rc", "look"),
        user([{"type": "text", "text": "And this?"}]),
    ],
    two_rounds_in_a_row=[
        system("Be brief."),
        user("Go"),
        turn(call("a"), call("b")),
        result("a", "ra"),
        result("b", "rb"),
        turn(call("c"), "Meanwhile.", call("d")),
        result("c", "rc", isError=True),
        result("d", ["rd"]),
    ],
    user_speaks_twice_after=[
        user("Go"),
        turn(call("a"), call("b")),
        result("b", "rb"),
        result("a", "ra"),
        user("first"),
        user("second"),
    ],
)


@every_aim
@pytest.mark.parametrize("history", [*handed_in("B23/history.json"), *PARALLEL])
def test_results_of_parallel_calls_go_together(aim: Aim, history: History) -> None:
    """In one turn, in the order of the calls, before anything else."""
    body = ask(aim, history).body
    assert_answered(said_in(aim, body))
    assert_one_turn_each(aim, body)
    assert complaints(aim, body) == []


@handed
def test_the_reported_bodies() -> None:
    """To the letter, as far as the report says."""
    history, expected = messages_of(load("B23/history.json")), load("B23/expected.json")
    claude = ask(Aim("anthropic.chat.v1", "claude-haiku-4-5"), history).body
    assert {key: claude[key] for key in ("system", "messages")} == expected["anthropic"]
    converse = ask(Aim("amazon.converse.v1", "amazon.nova-pro-v1:0"), history).body
    for message in converse["messages"]:
        for block in message["content"]:
            if "toolResult" in block:
                content = block["toolResult"].pop("content")
                assert all(part.keys() <= {"text", "json"} for part in content)
                assert block["toolResult"].pop("status") == "success"
                block["toolResult"]["content"] = "[{text}|{json}]"
    assert {key: converse[key] for key in ("system", "messages")} == expected["bedrock_converse"]
    contents = ask(Aim("google.chat.v1", "gemini-2.5-flash"), history).body["contents"]
    wanted = expected["gemini"]
    assert [content["role"] for content in contents] == wanted["contents_roles"]
    assert contents[1]["parts"] == wanted["contents[1].parts"]
    for part in contents[2]["parts"][:2]:
        assert isinstance(part["functionResponse"]["response"], dict)
        part["functionResponse"]["response"] = "<object>"
    assert contents[2]["parts"][:2] == wanted["contents[2].first_two_parts"]
    chat = ask(Aim("openai.chat.v1", "gpt-4o-mini"), history).body
    assert [m["role"] for m in chat["messages"]] == expected["openai_chat"]["roles"]


# ---------------------------------------------------------------- blank text, results that come late


BLANKS = ours(
    around_calls=[
        system(" \n"),
        user("Go"),
        turn("", call("a"), "\t", call("b"), "\u2003"),
        result("a", "  "),
        result("b", [{"type": "text", "text": " "}, {"type": "text", "text": "\n"}]),
        turn("  "),
        user(" "),
    ],
    nothing_but_blanks=[
        user("Go"),
        turn(call("a")),
        result("a", []),
        turn(""),
        turn("\n", "\n"),
        user([{"type": "text", "text": ""}, {"type": "text", "text": "Next"}]),
        turn(call("b")),
        result("b", "", isError=True),
    ],
    an_empty_turn=[user("Go"), turn(), user("Again"), turn(call("a")), result("a", None)],
)
LATE = ours(
    after_two_messages=[
        user("Go"),
        turn(call("a"), call("b")),
        user("(hurry)"),
        result("b", "rb"),
        user("(please)"),
        result("a", "ra"),
    ],
    after_the_next_turn=[
        user("Go"),
        turn(call("a")),
        turn("Still waiting."),
        user("So?"),
        result("a", "ra"),
    ],
    beside_words_of_the_users=[
        user("Go"),
        turn(call("a")),
        user([{"type": "text", "text": "(hurry)"}]),
        result("a", "ra"),
        turn("Done."),
        user("Thanks."),
    ],
)


@every_aim
@pytest.mark.parametrize("history", [*handed_in("B24/blank_text.json"), *BLANKS])
def test_blank_text_is_not_sent(aim: Aim, history: History) -> None:
    """No blank block, no empty message; calls and results are all kept."""
    body = ask(aim, history).body
    said = said_in(aim, body)
    assert_answered(said)
    assert_one_turn_each(aim, body)
    wanted = json.dumps(history).count('"function_use"')
    assert sum(len(turn.calls) for turn in said) == wanted
    if dialect_of(aim) in ("anthropic_messages", "bedrock_converse"):
        assert [text for text in texts_in(body) if not text.strip()] == []
    for turn_ in said:
        if turn_.role == "model":
            assert turn_.text.strip() or turn_.parts
    assert complaints(aim, body) == []


@every_aim
@pytest.mark.parametrize("history", [*handed_in("B24/result_after_text.json"), *LATE])
def test_late_results_go_first(aim: Aim, history: History) -> None:
    """Right after their calls; the words that came between follow."""
    request = ask(aim, history)
    said = said_in(aim, request.body)
    assert_answered(said)
    assert_one_turn_each(aim, request.body)
    roles = [turn.role for turn in said if turn.role != "system"]
    assert roles[:3] == ["user", "model", "result"]
    assert "result_moved" in [warning.code for warning in request.warnings]
    assert complaints(aim, request.body) == []


# ---------------------------------------------------------------- calls and results that miss each other


TWO = turn(call("c_1", "a"), call("c_2", "b"))
BROKEN = [
    *handed_in(
        "B25/one_missing.json",
        "B25/all_missing_then_user.json",
        "B25/ends_with_calls.json",
        "B25/orphan_result.json",
    ),
    *ours(
        cut_after_the_first_result=[user("Go"), TWO, result("c_1", "out_1", "a")],
        cut_before_the_calls=[result("c_1", "out_1", "a"), result("c_2", "out_2", "b"), user("Go")],
        answered_twice=[
            user("Go"),
            TWO,
            result("c_1", "out_1", "a"),
            result("c_1", "again", "a"),
            result("c_2", "out_2", "b"),
        ],
        two_turns_open=[
            user("Go"),
            turn(call("c_1", "a")),
            turn(call("c_2", "b")),
            result("c_2", "out_2", "b"),
            user("So?"),
        ],
        answered_before_it_was_asked=[
            user("Go"),
            result("c_2", "out_0", "b"),
            turn(call("c_2", "b")),
        ],
        of_nobody=[user("Go"), TWO, result("", "out_9", "a"), result("c_1", "out_1", "a")],
        stopped_by_the_user=[
            user("Go"),
            turn("Well", call("c_1", "a")),
            user("Stop"),
            turn("Ok."),
            user("Go on"),
        ],
        one_id_for_two=[
            user("Go"),
            turn(call("c_1", "a", n=1), call("c_1", "a", n=2)),
            result("c_1", "out_1", "a"),
        ],
    ),
]
COMPLETE = [
    *handed_in("B25/complete.json", "B25/reversed.json"),
    *ours(
        in_another_order=[
            user("Go"),
            turn(call("c_1", "a"), call("c_2", "b"), call("c_3", "a")),
            result("c_3", "out_3", "a"),
            result("c_1", "out_1", "a"),
            result("c_2", "out_2", "b"),
        ]
    ),
]


@every_aim
@pytest.mark.parametrize("history", COMPLETE)
def test_a_complete_turn_gets_nothing_invented(aim: Aim, history: History) -> None:
    """Paired by id, in the order of the calls, and nothing is said of it."""
    request = ask(aim, history, strict_history=False)
    said = said_in(aim, request.body)
    assert_answered(said)
    results = [turn for turn in said if turn.role == "result"]
    asked = sorted(r["content"] for r in history if r["role"] == "function")
    assert [turn.text for turn in results] == asked
    assert not any(turn.failed for turn in results)


@every_aim
@pytest.mark.parametrize("history", BROKEN)
def test_a_broken_history_is_mended_and_that_is_told(aim: Aim, history: History) -> None:
    """Each call is answered once, by its own result or a failure; results of nothing are left out."""
    request = ask(aim, history)
    said = said_in(aim, request.body)
    assert_answered(said)
    assert_one_turn_each(aim, request.body)
    calls = json.dumps(history).count('"function_use"')
    results = [turn for turn in said if turn.role == "result"]
    assert len(results) == calls
    for turn_ in results:
        made_up = NOT_COMPLETED in turn_.text
        assert made_up == (turn_.failed or turn_.text.startswith("Error:"))
    sent = [turn.text for turn in results if NOT_COMPLETED not in turn.text]
    assert len(set(sent)) == len(sent)
    assert set(sent) <= {str(m["content"]) for m in history if m["role"] == "function"}
    codes = {warning.code for warning in request.warnings}
    assert codes & {"call_not_completed", "orphan_result", "duplicate_result"}
    assert complaints(aim, request.body) == []


@every_aim
@pytest.mark.parametrize("history", BROKEN)
def test_strict_history_refuses_it_by_its_ids(aim: Aim, history: History) -> None:
    """Before anything is sent; the kept dialogue stays as it was."""
    with pytest.raises(ConfigurationError, match=r"The history is broken: .*('c_\d'|'')"):
        ask(aim, history, strict_history=True)


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_a_result_alone_is_nothing_to_send(aim: Aim) -> None:
    """Of a conversation cut down to that, nothing is left."""
    with pytest.raises(ConfigurationError, match="nothing to send"):
        ask(aim, [result("c_1", "out_1")])


# ---------------------------------------------------------------- arguments


def calling(**given: Any) -> History:
    return [user("Go"), turn(call("call_A", **given)), result("call_A", "ok")]


ARGUMENTS = ours(
    numbers=calling(a=2**63 + 1, b=-0.5, c=1e21, d=[0, None, True]),
    words=calling(**{"": "", "ü/ \"'": "\u2028<b>&\\n\0", "$ref": "#"}),
    nested=calling(a={"b": {"c": [{"d": {}}, []]}}),
    nothing=calling(),
    json_in_a_string=calling(code='{"a": "{}"}'),
)
AS_OBJECT = {"ollama", "anthropic_messages", "bedrock_converse", "gemini"}


def arguments_in(dialect: str, body: Any) -> Iterator[Any]:
    """The arguments of the calls in a body, as they are."""
    if dialect == "openai_responses":
        for item in body["input"]:
            if item.get("type") == "function_call":
                assert not item.get("id", "fc_").startswith("call_")
                yield item["arguments"]
    elif dialect in BLOCKS:
        key = BLOCKS[dialect][0]
        for block in (block for blocks in raw_turns(dialect, body) for block in blocks):
            inner = block if block.get("type") == key else block.get(key)
            if inner is not None:
                yield inner["args" if dialect == "gemini" else "input"]
    else:
        for message in body["messages"]:
            for item in message.get("tool_calls", []):
                yield item["function"]["arguments"]


@every_aim
@pytest.mark.parametrize("history", [*handed_in("B27/history.json"), *ARGUMENTS])
def test_arguments_go_out_in_the_wires_own_shape(aim: Aim, history: History) -> None:
    """An object, or a string that holds one; the same value in both."""
    dialect = dialect_of(aim)
    body = json.loads(json.dumps(ask(aim, history).body))
    (arguments,) = arguments_in(dialect, body)
    assert isinstance(arguments, dict if dialect in AS_OBJECT else str)
    value = arguments if dialect in AS_OBJECT else json.loads(arguments)
    given = history[1]["content"][0]["input"]
    assert value == given
    assert json.dumps(value, sort_keys=True) == json.dumps(given, sort_keys=True)
    assert [part.id for turn in said_in(aim, body) for part in turn.calls]
    assert_answered(said_in(aim, body))


def test_an_image_of_the_users_stands_after_results() -> None:
    """On the wires that have both in one message."""
    history = [user("Go"), turn(call("a")), result("a", "ra"), user([IMAGE])]
    body = ask(Aim("anthropic.chat.v1", "claude-haiku-4-5"), history).body
    kinds = [block["type"] for block in body["messages"][2]["content"]]
    assert kinds == ["tool_result", "image"]
