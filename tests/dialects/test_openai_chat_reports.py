"""Reported failures of other libraries on this wire, from the folder of cases."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dialects.openai_chat_cases import body_of, decode, encoded, plan_of, target_of

from llm_tools.content import FunctionUseDone, OutputResult, StreamEvent, Usage
from llm_tools.dialects.openai_chat import DIALECT
from llm_tools.errors import LlmToolsError, ProviderError, ResponseDecodeError
from llm_tools.spec import Plan
from llm_tools.transport.framing import create_framing

FOLDER = os.environ.get("LLM_TOOLS_BUG_CASES")
pytestmark = pytest.mark.skipif(not FOLDER, reason="LLM_TOOLS_BUG_CASES is not set")
CUTS = (0, 1, 7, 64)


def case(path: str) -> Any:
    """A JSON file of a case."""
    return json.loads((Path(FOLDER or "") / path).read_text())


def raw(path: str) -> bytes:
    """A stream of a case."""
    return (Path(FOLDER or "") / path).read_bytes()


def listed(pattern: str) -> list[str]:
    """The files of a case."""
    root = Path(FOLDER or "/nonexistent")
    return sorted(str(path.relative_to(root)) for path in root.glob(pattern))


def replay(data: bytes, cut: int, plan: Plan) -> tuple[list[StreamEvent], OutputResult]:
    """The events and the result of a stream's bytes, in pieces of a length."""
    framer, decoder = create_framing("sse"), DIALECT.open_stream(plan, {})
    events: list[StreamEvent] = []
    pieces = [data[i : i + cut] for i in range(0, len(data), cut)] if cut else [data]
    for frames in (*map(framer.feed, pieces), framer.close()):
        for one in frames:
            events += decoder.feed(one)
    return events, decoder.close()


def content(result: OutputResult) -> list[dict[str, Any]]:
    """A result's content in the cases' form."""
    out = []
    for item in result.content:
        kind = type(item).__name__.removeprefix("OutputResult")
        if kind == "Text":
            out.append({"type": "text", "text": item.text})  # type: ignore[union-attr]
        else:
            use = result.function_calls[sum("name" in made for made in out)]
            out.append(
                {
                    "type": "function_use",
                    "name": use.name,
                    "input": use.input,
                    "functionId": use.function_id,
                }
            )
    return out


KNOWN = plan_of(target_of("openai"), functions=[{"name": "read_file"}, {"name": "write_file"}])
STREAMS = [
    path
    for path in listed("B09/*.txt")
    + listed("B10/*.txt")
    + listed("B11/*.txt")
    + listed("B12/*.txt")
    if "responses" not in path
] + listed("B19/*.txt")


@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize("cut", CUTS)
def test_streams(path: str, cut: int) -> None:
    """The calls and texts that the case expects, however the bytes are cut."""
    folder, name = path.split("/")
    events, result = replay(raw(path), cut, KNOWN if folder == "B11" else plan_of())
    assert content(result) == case(f"{folder}/expected.json")[name]
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert sorted(done, key=lambda use: use.function_id) == sorted(
        result.function_calls, key=lambda use: use.function_id
    )
    if folder == "B12":
        assert result.usage == Usage(input_tokens=11, output_tokens=7)


@pytest.mark.parametrize(
    "key", ["openai", "xai", "deepseek", "groq", "openrouter", "vllm", "mistral"]
)
def test_modes(key: str) -> None:
    """Each mode is the word the case names for the host."""
    expected = case("B08/expected.json")
    wanted = expected["tool_choice"][{"openai": "openai_chat"}.get(key, key)]
    tools = case("B08/tools.json")
    for mode, words in zip(expected["modes"], wanted, strict=True):
        said = body_of(target_of(key), functions=tools, function_call=mode)["tool_choice"]
        assert said in (words if isinstance(words, list) else [words])
    with pytest.raises(LlmToolsError):
        encoded(target_of(key), functions=tools, function_call={"name": "nope"})


@pytest.mark.parametrize(
    "path", ["B15/openrouter_error_mid.sse.txt", "B15/openai_style_error_only.sse.txt"]
)
@pytest.mark.parametrize("cut", CUTS)
def test_errors_in_streams(path: str, cut: int) -> None:
    """The error is raised as what it names; no call of the broken answer may run."""
    expected = case("B15/expected.json")[path.split("/")[1]]
    with pytest.raises(ProviderError) as raised:
        replay(raw(path), cut, plan_of())
    assert raised.value.retryable is expected["retryable"]
    assert expected.get("message_contains", "") in str(raised.value)
    result = raised.value.result
    if isinstance(result, OutputResult):
        assert all(call.input_error for call in result.function_calls)


def test_missing_arguments() -> None:
    """Absence is an empty object, in bodies and streams."""
    for name, body in case("B16/openai_chat_bodies.json").items():
        calls = decode(body).function_calls
        assert calls, name
        assert calls[0].input == {} or calls[0].input_error


def test_a_placeholder_is_replaced() -> None:
    """An empty object in front of the real one is a stand-in for it."""
    _, result = replay(raw("B16/openai_braces_then_real.sse.txt"), 0, plan_of())
    assert result.function_calls[0].input == {"city": "Oslo"}
    body = case("B16/openai_braces_glued_body.json")
    assert decode(body).function_calls[0].input == {"city": "Oslo"}


def test_malformed_arguments() -> None:
    """The bad call cannot run and keeps its text; the good one is untouched."""
    repairable = case("B17/expected.json")["may_repair"]
    for name, body in case("B17/openai_bodies.json").items():
        bad, good = decode(body).function_calls
        assert good.input == {"tz": "CET"}
        assert good.input_error is None
        if bad.input_error is None:
            assert name in repairable
        else:
            assert bad.input == {}
            assert bad.raw_input


@pytest.mark.parametrize("path", listed("B18/openai*.json") + listed("B18/router*.json"))
def test_cut_off_calls(path: str) -> None:
    """The write is never whole, and the reader can see why."""
    calls = decode(case(path)).function_calls
    assert all(call.input_error for call in calls if call.name == "write_file")


def test_reasons_and_contents() -> None:
    """What is in the message decides, and no text item is empty."""
    expected = case("B19/expected.json")["bodies.json"]
    for name, body in case("B19/bodies.json").items():
        assert content(decode(body)) == expected[name]


def test_error_payloads() -> None:
    """A 200 that is no answer is one of our errors, with the status it names."""
    expected = case("B21/expected.json")
    for item in case("B21/cases.json"):
        if item["status"] != 200:
            continue
        data = item["raw"].encode() if "raw" in item else json.dumps(item["body"]).encode()
        with pytest.raises((ProviderError, ResponseDecodeError)) as raised:
            DIALECT.decode(plan_of(), data, {})
        wanted = expected[item["name"]]
        assert str(raised.value)
        if "effective_status" in wanted:
            assert isinstance(raised.value, ProviderError)
            assert raised.value.status == wanted["effective_status"]
        if "retryable" in wanted:
            assert raised.value.retryable is wanted["retryable"]


def test_ids() -> None:
    """Two calls stay two, with ids of their own."""
    for name, body in case("B26/bodies.json").items():
        calls = decode(body).function_calls
        wanted = ["z", "x", "y"] if name == "suffix_already_taken" else ["x", "y"]
        assert [call.input["q"] for call in calls] == wanted
        assert len({call.function_id for call in calls}) == len(calls)


def neutral(history: Any) -> list[dict[str, Any]]:
    """A case's history in our JSON form."""
    return [
        {key: value for key, value in message.items() if key not in ("output", "provider_raw")}
        | ({"content": message["output"]} if "output" in message else {})
        for message in history
    ]


def test_an_id_of_two_turns() -> None:
    """Both turns stay paired."""
    out = body_of(target_of("openai"), neutral(case("B26/id_reused_next_turn_history.json")))[
        "messages"
    ]
    results = {
        message["tool_call_id"]: message["content"] for message in out if message["role"] == "tool"
    }
    calls = [call for message in out for call in message.get("tool_calls", ())]
    paired = [
        (json.loads(call["function"]["arguments"])["q"], results[call["id"]]) for call in calls
    ]
    assert paired == [("x", "rx"), ("y", "ry")]


@pytest.mark.parametrize("key", ["openai", "vllm", "ollama:openai"])
def test_arguments_are_a_string(key: str) -> None:
    """Replayed arguments are JSON text, and content is no list of blanks."""
    turn = body_of(target_of(key), neutral(case("B27/history.json")))["messages"][1]
    (call,) = turn["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"cmd": "ls", "n": 2, "u": "é"}
    assert call["id"] == "call_A"
    assert turn["content"] is None
