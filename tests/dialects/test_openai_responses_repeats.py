"""An item of the provider's goes out once by its id: the server refuses an input with two."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.responses_cases import (
    FUNCTIONS,
    answer,
    codes_of,
    decode,
    encoded_of,
    function_call,
    input_of,
    message,
    reasoning,
)

from llm_tools import use_llm
from llm_tools.content import Message, OutputResult, OutputResultText

ASK = Message(role="user", content="Oslo?")
AGAIN = Message(role="user", content="And now?")


def turn(*items: Any) -> Message:
    """A turn this provider made, as a dialogue keeps it."""
    result: OutputResult = decode(answer(*items))
    return Message(role="assistant", content=result.content)


THOUGHT = turn(reasoning(), message("Rain."))


def test_a_turn_handed_in_twice() -> None:
    """Side by side the second is left out whole, and that is told."""
    once = input_of([ASK, THOUGHT, AGAIN])
    twice = [ASK, THOUGHT, THOUGHT, AGAIN]
    assert input_of(twice) == once
    assert codes_of(twice) == ["item_repeated"]
    assert codes_of([ASK, THOUGHT, AGAIN]) == []


def test_content_handed_in_twice_in_one_turn() -> None:
    """The same within one turn."""
    content: Any = THOUGHT.content
    doubled = Message(role="assistant", content=(*content, *content))
    assert input_of([ASK, doubled, AGAIN]) == input_of([ASK, THOUGHT, AGAIN])


def test_a_turn_that_comes_back_later() -> None:
    """Behind another message its words are said again, under no id; its reasoning is not."""
    items = input_of([ASK, THOUGHT, AGAIN, THOUGHT, AGAIN])
    first = input_of([ASK, THOUGHT, AGAIN])
    assert items == [*first, {"role": "assistant", "content": "Rain."}, first[-1]]


def test_a_call_handed_in_twice() -> None:
    """Two calls under one item: the later goes out under an id of its own call only."""
    call = turn(function_call())
    done = {"function_id": call.content[0].function_id, "content": "12"}
    history = [ASK, call, call, Message(role="function", name="get_weather", **done)]
    items = input_of(history, functions=FUNCTIONS)
    calls = [item for item in items if item.get("type") == "function_call"]
    assert len(calls) == 2
    assert "id" in calls[0]
    assert "id" not in calls[1]
    assert calls[0]["call_id"] != calls[1]["call_id"]


def test_real_repeats_stay() -> None:
    """What has no id of the provider's is said as often as it was given."""
    plain = Message(role="assistant", content=(OutputResultText(text="Rain."),))
    items = input_of([ASK, plain, AGAIN, plain, AGAIN])
    said = {"role": "assistant", "content": "Rain."}
    assert [item for item in items if item.get("role") == "assistant"] == [said, said]


@pytest.mark.parametrize("copies", [1, 2])
def test_in_a_conversation_that_is_remembered(copies: int) -> None:
    """A turn of an earlier call is known as such when it comes back in a later one."""
    llm = use_llm("openai.responses.v1", model="gpt-5.6", api_key="k")
    history = [ASK, THOUGHT, AGAIN]
    for _ in range(copies):
        llm.build_request(history)
        history = [*history, THOUGHT, AGAIN]
    sent = llm.build_request(history).body["input"]
    assert sent == encoded_of(history).body["input"]
    named = [item["id"] for item in sent if "id" in item]
    assert len(named) == len(set(named)) == 2
