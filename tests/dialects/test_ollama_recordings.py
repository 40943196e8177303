"""Real exchanges with Ollama, decoded and rebuilt, against a reading of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dialects.google_and_ollama import body_of, decoded, frame, plan_of

from llm_tools.content import (
    FunctionUseDone,
    OutputResult,
    OutputResultReasoning,
    ReasoningDelta,
    TextDelta,
)
from llm_tools.dialogue import create_dialogue
from llm_tools.errors import ProviderError

FOLDER = os.environ.get("LLM_TOOLS_RECORDINGS")


def _records() -> list[Any]:
    if not FOLDER:
        return [pytest.param(None, marks=pytest.mark.skip("LLM_TOOLS_RECORDINGS is not set"))]
    lines = (Path(FOLDER) / "ollama.chat.jsonl").read_text().splitlines()
    return [pytest.param(record, id=record["id"]) for record in map(json.loads, lines)]


RECORDS = _records()
ANSWERED = [p for p in RECORDS if p.values[0] is None or p.values[0]["status"] == 200]
STREAMED = [p for p in ANSWERED if p.values[0] is None or "stream" in p.values[0]["response"]]


def _lines(record: Any) -> list[Any]:
    response = record["response"]
    if "stream" in response:
        return [json.loads(line) for line in "".join(response["stream"]).splitlines() if line]
    return [response["body"]]


def _read(record: Any) -> tuple[list[Any], OutputResult]:
    plan = plan_of("ollama", record["model"])
    if "stream" not in record["response"]:
        return [], decoded(plan, record["response"]["body"])
    decoder = plan.target.dialect.open_stream(plan, {})
    events = [event for line in _lines(record) for event in decoder.feed(frame(line))]
    return events, decoder.close()


@pytest.mark.parametrize("record", ANSWERED)
def test_the_answer_says_what_the_bytes_say(record: Any) -> None:
    """Text, thinking, calls, counts and the reason come out as they went over the wire."""
    lines, (_, result) = _lines(record), _read(record)
    messages = [line["message"] for line in lines]
    assert result.text == "".join(message["content"] for message in messages)
    reasoning = [item.text for item in result.content if isinstance(item, OutputResultReasoning)]
    assert "".join(reasoning) == "".join(message.get("thinking", "") for message in messages)
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    uses = result.function_calls
    assert [(use.name, use.input) for use in uses] == [
        (call["function"]["name"], call["function"]["arguments"]) for call in calls
    ]
    for use, call in zip(uses, calls, strict=True):
        assert use.function_id == call.get("id", use.function_id)
    last = lines[-1]
    assert result.usage is not None
    assert result.usage.input_tokens == last["prompt_eval_count"]
    assert result.usage.output_tokens == last["eval_count"]
    assert result.provider_stop_reason == last["done_reason"]
    assert result.stop_reason == ("function_use" if calls else last["done_reason"])
    assert result.name == last["model"]
    assert result.created > 1_700_000_000


@pytest.mark.parametrize("record", STREAMED)
def test_deltas_are_the_lines(record: Any) -> None:
    """Each line's text is one delta, and calls are done before the end."""
    events, result = _read(record)
    texts = [line["message"]["content"] for line in _lines(record)]
    assert [e.text for e in events if isinstance(e, TextDelta)] == [t for t in texts if t]
    thoughts = [line["message"].get("thinking") for line in _lines(record)]
    assert [e.text for e in events if isinstance(e, ReasoningDelta)] == [t for t in thoughts if t]
    done = [e.function_use for e in events if isinstance(e, FunctionUseDone)]
    assert done == result.function_calls


@pytest.mark.parametrize("record", [p for p in RECORDS if p not in ANSWERED])
def test_error_bodies_are_errors_even_behind_a_200(record: Any) -> None:
    """An error body never passes for an answer."""
    with pytest.raises(ProviderError):
        decoded(plan_of("ollama", record["model"]), record["response"]["body"])


@pytest.mark.parametrize(
    "record",
    [p for p in ANSWERED if p.values[0] is None or "tool_call" in p.values[0]["tags"]],
)
def test_an_answer_goes_back_as_it_came(record: Any) -> None:
    """A kept answer is the wire's own message again: thinking, text, calls with object arguments."""
    _, result = _read(record)
    dialogue = create_dialogue("d").add_user_message("ask").add_from_output(result)
    for use in result.function_calls:
        dialogue.add_function_message({"ok": True}, use.name, use.function_id)
    _, assistant, *results = body_of("ollama", record["model"], dialogue.history)["messages"]
    messages = [line["message"] for line in _lines(record)]
    calls = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    assert assistant.get("thinking", "") == "".join(m.get("thinking", "") for m in messages)
    assert assistant["content"] == "".join(m["content"] for m in messages)
    assert [call["function"] for call in assistant["tool_calls"]] == [
        {"name": call["name"], "arguments": call["arguments"]} for call in calls
    ]
    assert [result["tool_call_id"] for result in results] == [
        call["id"] for call in assistant["tool_calls"]
    ]
    assert [result["tool_name"] for result in results] == [call["name"] for call in calls]
