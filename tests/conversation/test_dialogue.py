"""A dialogue keeps whole turns, is saved and loaded, and only grows."""

from __future__ import annotations

import copy
import datetime
import pickle
from typing import Any

import msgspec
import pytest

from llm_tools.content import (
    FunctionResult,
    Message,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from llm_tools.dialogue import Dialogue, create_dialogue
from llm_tools.errors import ConfigurationError

USE = OutputResultFunctionUse(
    name="f",
    input={"q": "{{ x }}"},
    function_id="c1",
    provider_metadata={"gemini": {"thoughtSignature": "abc"}},
)
ANSWER = OutputResult(
    id="r",
    name="m",
    created=1,
    usage=None,
    stop_reason="function_use",
    content=(
        OutputResultReasoning(text="", provider_metadata={"anthropic": {"redacted": "x"}}),
        OutputResultText(text="Checking."),
        USE,
        OutputResultRefusal(text="no"),
        OutputResultImage(data="aGk="),
    ),
)


def test_every_kind_of_message_can_be_added_in_a_row() -> None:
    """The add methods return the dialogue."""
    dialogue = (
        create_dialogue("chat")
        .add_system_message("Be brief.")
        .add_user_message("hi")
        .add_user_message([{"type": "image", "url": "u"}])
        .add_assistant_message("hello")
        .add_function_call_message("f", {"a": 1}, "c1")
        .add_function_message({"t": 3}, "f", "c1", is_error=True)
    )
    assert dialogue.name == "chat"
    assert dialogue.history == (
        Message(role="system", content="Be brief."),
        Message(role="user", content="hi"),
        Message(role="user", content=(OutputResultImage(url="u"),)),
        Message(role="assistant", content="hello"),
        Message(
            role="assistant",
            content=(OutputResultFunctionUse(name="f", input={"a": 1}, function_id="c1"),),
        ),
        Message(role="function", content={"t": 3}, name="f", function_id="c1", is_error=True),
    )


def test_a_turn_stays_one_message_with_all_it_holds() -> None:
    """Reasoning, text, calls and signatures stay in order, as they came."""
    dialogue = create_dialogue().add_from_output(ANSWER)
    assert dialogue.history == (Message(role="assistant", content=ANSWER.content),)
    assert dialogue.history[0].content[2] is USE


def test_what_execute_returned_can_be_added_too() -> None:
    """The list of content, its JSON form, and the text of an answer without calls."""
    from_list = create_dialogue().add_from_output(list(ANSWER.content))
    from_json = create_dialogue().add_from_output(msgspec.to_builtins(ANSWER.content))
    assert from_list == from_json == create_dialogue().add_from_output(ANSWER)
    assert create_dialogue().add_from_output("fine").history[0].content == "fine"


def test_an_answer_without_content_adds_nothing() -> None:
    """A blocked answer leaves no empty turn behind."""
    blocked = msgspec.structs.replace(ANSWER, content=())
    assert create_dialogue().add_from_output(blocked).history == ()


@pytest.mark.parametrize("value", [0, False, "", None, [], {}, 1.5, [1, {"a": None}], "text"])
def test_a_result_may_be_any_json_value(value: Any) -> None:
    """What a function returned is kept as it is, also what Python takes for false."""
    (kept,) = create_dialogue().add_function_message(value, "f", "c1").history
    assert kept.content == value
    assert type(kept.content) is type(value)


def test_results_of_dispatch_are_added_in_order() -> None:
    """Python values become JSON, parts stay parts, errors are marked."""
    results = [
        FunctionResult(name="f", function_id="c1", content=datetime.date(2026, 1, 2)),
        FunctionResult(name="g", function_id="c2", content=[OutputResultImage(url="u")]),
        FunctionResult(name="h", function_id="c3", content="bad", is_error=True),
    ]
    dialogue = create_dialogue().add_from_results(results)
    assert dialogue.history == (
        Message(role="function", content="2026-01-02", name="f", function_id="c1"),
        Message(role="function", content=(OutputResultImage(url="u"),), name="g", function_id="c2"),
        Message(role="function", content="bad", name="h", function_id="c3", is_error=True),
    )
    alone = create_dialogue().add_from_results(results[0])
    assert alone.history == dialogue.history[:1]
    again = create_dialogue().add_from_results(dialogue.history)
    assert again == dialogue
    loose = {"name": "f", "functionId": "c1", "content": "2026-01-02"}
    assert create_dialogue().add_from_results([loose]) == alone


@pytest.mark.parametrize(
    "calls",
    [
        USE,
        [USE],
        msgspec.to_builtins(USE),
        (use for use in (USE,)),
    ],
)
def test_calls_are_added_as_parts_too(calls: Any) -> None:
    """One call or several, as structs or in their JSON form."""
    assert create_dialogue().add_function_call_message(calls).history[0].content == (USE,)


def test_a_call_by_name_takes_its_input_as_an_object_or_as_text() -> None:
    """No input is an empty object."""
    dialogue = create_dialogue()
    dialogue.add_function_call_message("f", '{"a": 1}', "c1").add_function_call_message(
        "f", function_id="c2"
    )
    assert [message.content[0].input for message in dialogue.history] == [{"a": 1}, {}]


@pytest.mark.parametrize(
    ("add", "expected"),
    [
        (lambda d: d.add_function_call_message("f", {}), "needs a function_id"),
        (lambda d: d.add_function_call_message("f", "{", "c"), "is no JSON"),
        (lambda d: d.add_function_call_message("f", "[" * 5000, "c"), "is no JSON"),
        (lambda d: d.add_function_call_message("f", [1], "c"), r"`array` - at `\$.input`"),
        (lambda d: d.add_function_call_message(USE, {"a": 1}), "leave out the others"),
        (lambda d: d.add_function_call_message([OutputResultText(text="x")]), "'function_use'"),
        (lambda d: d.add_function_call_message(5), "expected a list, got int"),
        (lambda d: d.add_from_output(["a", "b"]), "got str"),
        (lambda d: d.add_from_output({"type": "text"}), "output: expected a list"),
        (lambda d: d.add_from_output(None), "output: expected a list, got NoneType"),
        (lambda d: d.add_from_results("x"), "results: expected a list"),
        (lambda d: d.add_from_results([Message(role="user", content="x")]), r"results\[0\]"),
        (lambda d: d.add_from_results([5]), r"results\[0\]: expected a message"),
        (lambda d: d.add_user_message(b"x"), "expected a list, got bytes"),
        (lambda d: d.add_function_message("x", "f", None), "/functionId"),
        (lambda d: d.add_from_history([{"role": "x"}]), r"messages\[0\] at /role"),
    ],
)
def test_a_malformed_message_is_refused_and_changes_nothing(add: Any, expected: str) -> None:
    """The error is typed and the dialogue stays as it was."""
    dialogue = create_dialogue().add_user_message("hi")
    with pytest.raises(ConfigurationError, match=expected):
        add(dialogue)
    assert len(dialogue) == 1


def test_a_snapshot_does_not_grow_with_the_dialogue() -> None:
    """The history is a tuple, made once for each length."""
    dialogue = create_dialogue().add_user_message("a")
    before = dialogue.history
    assert dialogue.history is before
    dialogue.add_user_message("b")
    assert [message.content for message in before] == ["a"]
    assert len(dialogue.history) == len(dialogue) == 2


def test_an_empty_dialogue_is_still_one() -> None:
    """It is no falsy value: `dialogue or create_dialogue()` must not lose it."""
    assert create_dialogue()


def test_the_messages_of_another_dialogue_are_appended() -> None:
    """Verbatim, and the two stay apart."""
    first = create_dialogue().add_user_message("{{ x }}").add_from_output(ANSWER)
    second = create_dialogue().add_from_history(first).add_from_history("more")
    assert second.history[:2] == first.history
    assert second.history[2] == Message(role="user", content="more")
    assert len(first) == 2


def rich() -> Dialogue:
    return (
        create_dialogue("rich")
        .add_system_message("s")
        .add_user_message([{"type": "text", "text": "é\x00"}, {"type": "image", "url": "u"}])
        .add_from_output(ANSWER)
        .add_from_results(
            [
                FunctionResult(name="f", function_id="c1", content=None),
                FunctionResult(name="f", function_id="c2", content=2**70, is_error=True),
                FunctionResult(name="f", function_id="c3", content=[OutputResultText(text="t")]),
            ]
        )
    )


def test_a_dialogue_survives_json() -> None:
    """Saved and loaded, it is the same, with the version of the schema in the JSON."""
    dialogue = rich()
    text = dialogue.to_json()
    assert isinstance(text, str)
    assert msgspec.json.decode(text)["version"] == 1
    for form in (text, text.encode()):
        loaded = Dialogue.from_json(form)
        assert loaded == dialogue
        assert loaded.to_json() == text


def test_the_saved_form_is_the_json_form_of_messages() -> None:
    """camelCase, tagged parts, nothing that is not needed."""
    dialogue = create_dialogue("d").add_function_call_message(USE)
    dialogue.add_function_message(None, "f", "c1", is_error=True)
    assert msgspec.json.decode(dialogue.to_json()) == {
        "version": 1,
        "name": "d",
        "messages": [
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "function_use",
                        "name": "f",
                        "input": {"q": "{{ x }}"},
                        "functionId": "c1",
                        "providerMetadata": {"gemini": {"thoughtSignature": "abc"}},
                    }
                ],
            },
            {
                "role": "function",
                "content": None,
                "name": "f",
                "functionId": "c1",
                "isError": True,
            },
        ],
    }


def test_later_additions_are_passed_over() -> None:
    """A newer version may add keys anywhere; what is known is read."""
    text = """{"version": 2, "name": "d", "colour": 1, "messages": [
        {"role": "user", "content": "hi", "mood": "good"},
        {"role": "assistant", "content": [{"type": "text", "text": "t", "tone": 1}]}]}"""
    assert Dialogue.from_json(text).history == (
        Message(role="user", content="hi"),
        Message(role="assistant", content=(OutputResultText(text="t"),)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "\ud800",
        b"\xff",
        None,
        5,
        '{"messages": []}',
        '{"version": 1, "messages": [{"role": "user"}]}',
        '{"version": 1, "messages": [{"role": "king", "content": "x"}]}',
        '{"version": 1, "messages": [{"role": "user", "content": 5}]}',
        '{"version": 1, "messages": [{"role": "user", "content": [{"type": "new"}]}]}',
        '{"version": 1, "messages": [{"role": "function", "content": "x"}]}',
        '{"version": 1, "messages": ' + "[" * 100_000,
    ],
)
def test_what_is_no_saved_dialogue_is_refused(text: Any) -> None:
    """A typed error, whatever is wrong with it."""
    with pytest.raises(ConfigurationError):
        Dialogue.from_json(text)


def test_dialogues_are_copied_and_pickled() -> None:
    """A copy goes its own way."""
    dialogue = rich()
    for twin in (copy.deepcopy(dialogue), pickle.loads(pickle.dumps(dialogue))):
        assert twin == dialogue
        twin.add_user_message("more")
        assert twin != dialogue
    assert dialogue != "something else"
    assert repr(dialogue) == "<Dialogue 'rich': 6 messages>"
