"""Structs are taken on trust; what is not what it says ends in a typed error or is made safe."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from types import FrameType
from typing import Any

import msgspec
import pytest
from matrix.scenes import ENDPOINTS, Aim

from llm_tools import (
    ConfigurationError,
    Dialogue,
    LlmToolsError,
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    create_dialogue,
)

AIMS = [
    Aim("openai.chat.v1", "gpt-4o-mini"),
    Aim("mistral.chat.v1", "mistral-large-latest"),
    Aim("openrouter.chat.v1", "z-ai/glm-5"),
    Aim("openai.responses.v1", "gpt-5.6"),
    Aim("anthropic.chat.v1", "claude-haiku-4-5"),
    Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    Aim("google.chat.v1", "gemini-3-pro"),
    Aim("ollama.chat.v1", "qwen3"),
]
every_dialect = pytest.mark.parametrize("aim", AIMS, ids=str)
USER = Message(role="user", content="Go")
KEPT_KEYS = ("item", "block", "part", "details", "extra_content", "chunk", "field", "functionCall",
             "image", "custom_call", "thinking", "after")  # fmt: skip


def itself() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["me"] = found
    return found


WRONG: list[Any] = [
    object(), {1, 2}, math.nan, 1 << 20_000, "\ud800", {"k": object()}, {("a",): 1}, itself(),
    b"\xff", [[]], None, True, {"id": 1},
]  # fmt: skip


def around(part: Any) -> list[Message]:
    return [USER, Message(role="assistant", content=(part,)), USER]


def calling(call: Any, content: Any = "ok") -> list[Message]:
    answer = Message(role="function", name="run", function_id="c_1", content=content)
    return [USER, Message(role="assistant", content=(call,)), answer]


def use(**fields: Any) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(**{"name": "run", "input": {}, "function_id": "c_1", **fields})


def placed(value: Any) -> Iterator[list[Message]]:
    """Messages that hold a value where it does not belong."""
    yield [Message(role="system", content=value), USER]
    yield [Message(role="user", content=value)]
    yield [Message(role="user", content=(OutputResultText(text=value),))]
    yield [Message(role="user", content=(OutputResultImage(url=value),))]
    yield [Message(role="user", content=(OutputResultImage(data=value, media_type="image/png"),))]
    yield [USER, Message(role="assistant", content=value), USER]
    yield around(OutputResultReasoning(text=value))
    yield around(OutputResultRefusal(text=value))
    yield around(OutputResultText(text="t", citations=(value,)))
    for field in ("name", "function_id", "raw_input", "input_error", "provider_metadata"):
        yield calling(use(**{field: value}))
    yield calling(use(input_error="bad", raw_input=value))
    yield calling(use(input=value))
    yield calling(use(input={"a": [value]}))
    yield calling(use(), value)
    yield calling(use(), {"a": [value]})
    yield calling(use(), (value,))


def kept(aim: Aim, value: Any) -> Iterator[list[Message]]:
    """Messages whose metadata somebody has changed."""
    key = aim.llm().target.replay_key
    for metadata in ({key: value}, {key: dict.fromkeys(KEPT_KEYS, value)}):
        yield around(OutputResultText(text="t", provider_metadata=metadata))
        yield around(OutputResultReasoning(text="t", provider_metadata=metadata))
        yield around(OutputResultReasoning(provider_metadata=metadata))
        yield calling(use(provider_metadata=metadata))
        image = OutputResultImage(data="aGk=", media_type="image/png", provider_metadata=metadata)
        yield around(image)


@every_dialect
@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_no_value_in_the_wrong_place_ends_in_another_error(aim: Aim, value: Any) -> None:
    """A request of valid JSON, or one of the library's own errors."""
    llm = aim.llm()
    for messages in (*placed(value), *kept(aim, value)):
        try:
            request = llm.build_request(messages)
        except LlmToolsError:
            continue
        assert json.loads(msgspec.json.encode(request.body)) == request.body


@every_dialect
def test_the_error_names_the_place(aim: Aim) -> None:
    """By the message's index and a JSON pointer, whatever the wire does with it."""
    with pytest.raises(ConfigurationError, match=r"messages\[1\] at /content/0/name"):
        aim.llm().build_request(calling(use(name=["run"])))
    with pytest.raises(ConfigurationError, match=r"messages\[1\] at /content/0/input"):
        aim.llm().build_request(calling(use(input="{}")))


@pytest.mark.parametrize("key", ["openai.chat.v1", "openai.responses.v1"])
def test_what_is_no_json_is_made_json_where_arguments_are_text(key: str) -> None:
    """As it is in messages that are no structs."""
    call = use(input={"when": object, "half": "a\ud800"})
    body = Aim(key, "gpt-4o-mini").llm().build_request(calling(call)).body
    text = json.dumps(body, ensure_ascii=False)
    assert "a\ufffd" in text
    assert "class 'object'" in text


@pytest.mark.parametrize("field", ["rawInput", "inputError", "providerMetadata"])
def test_a_part_by_hand_is_checked_whole(field: str) -> None:
    """Also what a caller seldom writes."""
    call = {"type": "function_use", "name": "f", "input": {}, "functionId": "c", field: [1]}
    with pytest.raises(ConfigurationError, match=r"messages\[0\] at /content/0"):
        AIMS[0].llm().build_request([{"role": "assistant", "content": [call]}])


SURROGATES = ["\ud800", "a\udfffb", "\udc00\ud800", "\ud83d x"]


def with_half_characters(half: str) -> Dialogue:
    name = f"run{half}"
    call = use(name=name, function_id=f"c{half}", input={f"k{half}": [half]})
    return (
        create_dialogue(f"d{half}")
        .add_system_message(f"system {half}")
        .add_user_message(f"user {half}")
        .add_user_message([OutputResultText(text=f"part {half}")])
        .add_from_output([OutputResultText(text=f"model {half}"), call])
        .add_function_message({f"k{half}": half}, name, f"c{half}")
        .add_user_message("And?")
    )


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
@pytest.mark.parametrize("half", SURROGATES)
def test_half_characters_go_out_as_the_replacement_character(aim: Aim, half: str) -> None:
    """Text, names, ids, keys and values; kept, by hand, and in structs."""
    dialogue = with_half_characters(half)
    by_hand = json.loads(dialogue.to_json())["messages"]
    structs = [
        Message(role="user", content=f"user {half}"),
        Message(role="user", content=(OutputResultText(text=f"part {half}"),)),
    ]
    for messages in (dialogue, by_hand, structs, f"user {half}"):
        body = aim.llm().build_request(messages).body
        text = msgspec.json.encode(body).decode()
        assert "user" in text
        assert "\ufffd" in text
        assert half not in text


def calls_made(work: Any) -> int:
    """How many functions some work calls: a measure of effort without a clock."""
    count = 0

    def tell(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tell)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def long_dialogue(rounds: int) -> Dialogue:
    """Four messages a round, ids that most wires have to change."""
    dialogue = create_dialogue().add_system_message("Be brief.")
    for number in range(rounds):
        function_id = f"functions.run:{number} of a shape that no wire takes"
        call = use(function_id=function_id, input={"n": number})
        dialogue.add_user_message(f"Go {number}").add_from_output([call])
        dialogue.add_function_message({"n": number}, "run", function_id)
        dialogue.add_assistant_message("Done.")
    return dialogue.add_user_message("And?")


@every_dialect
@pytest.mark.parametrize("as_list", [False, True])
def test_a_thousand_messages_cost_four_times_two_hundred_and_fifty(aim: Aim, as_list: bool) -> None:
    """The effort of building a request grows with the history, not with its square."""
    llm = aim.llm()
    efforts = []
    for rounds in (62, 250):
        dialogue = long_dialogue(rounds)
        messages: Any = list(dialogue.history) if as_list else dialogue
        llm.build_request(messages, functions=[{"name": "run"}])
        ask = partial(llm.build_request, messages, functions=[{"name": "run"}])
        efforts.append(calls_made(ask))
    assert efforts[1] < efforts[0] * 4.4


def test_keeping_a_thousand_messages_costs_four_times_two_hundred_and_fifty() -> None:
    """Adding, saving and loading."""
    few, many = long_dialogue(62), long_dialogue(250)
    saved = few.to_json(), many.to_json()
    works = [
        (lambda: long_dialogue(62), lambda: long_dialogue(250)),
        (few.to_json, many.to_json),
        tuple(partial(Dialogue.from_json, text) for text in saved),
    ]
    for less, more in works:
        assert calls_made(more) < calls_made(less) * 4.4


@pytest.mark.parametrize("name", [None, 5, b"d"])
def test_a_name_is_text(name: Any) -> None:
    """So that it can be saved."""
    with pytest.raises(ConfigurationError, match="name is text"):
        create_dialogue(name)


def test_a_snapshot_is_made_once() -> None:
    """As long as nothing is added; and it does not grow with the dialogue."""
    dialogue = long_dialogue(2)
    snapshot = dialogue.history
    assert dialogue.history is snapshot
    dialogue.add_user_message("More.")
    assert len(dialogue.history) == len(snapshot) + 1
