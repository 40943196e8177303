"""Reported faults of other clients at Gemini and Ollama, with their right answers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dialects.google_and_ollama import body_of, codes, decoded, encoded, plan_of, streamed

from llm_tools.content import OutputResult
from llm_tools.dialogue import create_dialogue
from llm_tools.errors import ConfigurationError

FOLDER = os.environ.get("LLM_TOOLS_BUG_CASES")
pytestmark = pytest.mark.skipif(not FOLDER, reason="LLM_TOOLS_BUG_CASES is not set")

GEMINI = plan_of("google", "gemini-3-flash")


def _load(case: str, name: str) -> Any:
    text = (Path(FOLDER or "") / case / name).read_text()
    if name.endswith(".json"):
        return json.loads(text)
    return [json.loads(row[5:]) for row in text.splitlines() if row.startswith("data:")]


def _history(case: str, name: str) -> list[Any]:
    """The neutral form of the cases, in our words."""
    messages = _load(case, name)
    for message in messages:
        message.pop("provider_raw", None)
        if message["role"] == "function":
            message["content"] = message.pop("output")
    return messages


def test_every_mode_is_spelled_right() -> None:
    """AUTO, NONE, ANY, and ANY with a name; an unknown name is an error before any I/O."""
    tools, expected = _load("B08", "tools.json"), _load("B08", "expected.json")
    configs = expected["tool_choice"]["gemini.toolConfig.functionCallingConfig"]
    for mode, config in zip(expected["modes"], configs, strict=True):
        body = body_of("google", "gemini-3-flash", functions=tools, function_call=mode)
        assert body["toolConfig"] == {"functionCallingConfig": config}
    with pytest.raises(ConfigurationError):
        encoded("google", "gemini-3-flash", functions=tools, function_call={"name": "nope"})


def test_ollama_has_no_modes() -> None:
    """`none` sends no tools, and a forced call is never reported as the wire's own."""
    tools = _load("B08", "tools.json")
    none = encoded("ollama", "m", functions=tools, function_call="none")
    assert "tools" not in none.body
    for choice in ("any", {"name": "get_weather"}):
        forced = encoded("ollama", "m", functions=tools, function_call=choice)
        assert "tool_choice" not in forced.body
        assert codes(forced) == ["function_call_emulated"]


def test_a_call_without_args_has_an_empty_input_and_goes_back() -> None:
    """No args is {}, both ways."""
    result = decoded(GEMINI, _load("B16", "gemini_no_args.json"))
    [use] = result.function_calls
    assert (use.input, use.input_error) == ({}, None)
    part = _replayed("google", result)[1]["parts"][0]
    assert part["functionCall"].get("args", {}) == {}


def test_a_cut_answer_says_so() -> None:
    """MAX_TOKENS is `length`, and the text is there."""
    expected = _load("B18", "expected.json")["gemini_max_tokens.json"]
    result = decoded(GEMINI, _load("B18", "gemini_max_tokens.json"))
    assert result.stop_reason == expected["finish"]
    assert [result.text] == [item["text"] for item in expected["content"]]


def test_answers_without_usable_content() -> None:
    """Each says why by name, and none passes for a good answer."""
    bodies, expected = _load("B20", "bodies.json"), _load("B20", "expected.json")
    for name, reason in expected["typed_error_naming_reason"].items():
        result = decoded(GEMINI, bodies[name])
        assert result.provider_stop_reason == reason
        assert result.stop_reason == ("error" if "CALL" in reason else "content_filter")
        assert all(use.input_error for use in result.function_calls)
    empty = decoded(GEMINI, bodies["stop_but_no_parts"])
    assert (empty.content, codes(empty)) == ((), ["empty_answer"])


def test_parallel_results_go_in_one_turn() -> None:
    """Two responses in call order, then the user's words."""
    expected = _load("B23", "expected.json")["gemini"]
    body = body_of("google", "gemini-2.5-flash", _history("B23", "history.json"))
    contents = body["contents"]
    assert [content["role"] for content in contents] == expected["contents_roles"]
    assert contents[1]["parts"] == expected["contents[1].parts"]
    responses = [part["functionResponse"] for part in contents[2]["parts"][:2]]
    assert [response["name"] for response in responses] == ["get_weather", "get_weather"]
    assert all(isinstance(response["response"], dict) for response in responses)
    assert contents[2]["parts"][2:] == [{"text": "Which is warmer?"}]


@pytest.mark.parametrize("name", ["gemini_two_chunks_ids", "gemini_two_chunks_no_ids"])
def test_one_call_per_chunk_is_two_calls(name: str) -> None:
    """Both run, under different ids; the provider's are kept, and only those go back."""
    chunks = _load("B26", f"{name}.sse.txt")
    _, result = streamed(GEMINI, chunks)
    assert [use.input for use in result.function_calls] == [{"q": "x"}, {"q": "y"}]
    ids = [use.function_id for use in result.function_calls]
    assert len(set(ids)) == 2
    given = [part["functionCall"].get("id") for part in _replayed("google", result)[1]["parts"]]
    assert given == (["g1", "g2"] if name.endswith("chunks_ids") else [None, None])
    if name.endswith("chunks_ids"):
        assert ids == given


def test_ollama_calls_without_ids_are_two_calls() -> None:
    """Each gets an id of its own."""
    result = decoded(plan_of("ollama", "m"), _load("B26", "ollama_no_ids.json"))
    assert [use.input for use in result.function_calls] == [{"q": "x"}, {"q": "y"}]
    assert len({use.function_id for use in result.function_calls}) == 2


def test_ids_used_again_stay_paired() -> None:
    """Turn 1 is answered by rx, turn 2 by ry, at both wires."""
    history = _history("B26", "id_reused_next_turn_history.json")
    parts = [
        p for c in body_of("google", "gemini-2.5-flash", history)["contents"] for p in c["parts"]
    ]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    assert answers == [{"output": "rx"}, {"output": "ry"}]
    messages = body_of("ollama", "m", history)["messages"]
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["rx", "ry"]


def test_arguments_go_back_as_objects() -> None:
    """At both wires."""
    expected, history = _load("B27", "expected.json"), _history("B27", "history.json")
    parts = body_of("google", "gemini-2.5-flash", history)["contents"][1]["parts"]
    assert parts == [expected["gemini"]]
    [call] = body_of("ollama", "m", history)["messages"][1]["tool_calls"]
    assert call["function"] == expected["ollama_native.assistant.tool_calls[0]"]["function"]


def test_signatures_stay_on_their_parts() -> None:
    """In one content, unchanged, on the first call only; thoughts are no text."""
    expected = _load("B28", "expected.json")
    whole = decoded(GEMINI, _load("B28", "response.json"))
    _, stream = streamed(GEMINI, _load("B28", "stream_signature_on_own_part.sse.txt"))
    assert whole.text == ""
    for result, key in ((whole, "replay_of_response"), (stream, "replay_of_stream")):
        uses = [(use.name, use.input) for use in result.function_calls]
        assert uses == [(item["name"], item["input"]) for item in expected["normalized"]]
        contents = _replayed("google", result)
        assert [content["role"] for content in contents] == ["user", "model", "user"]
        signed = {
            part["functionCall"]["args"]["city"]: part.get("thoughtSignature", "ABSENT")
            for part in contents[1]["parts"]
            if "functionCall" in part
        }
        assert signed == expected[key]["signature_on_part"]
    assert contents[1]["parts"][-1] == {"text": "", "thoughtSignature": "U0lHLUI="}


@pytest.mark.parametrize("model", ["gemini-3-flash", "gemini-2.5-flash"])
def test_siblings_never_get_a_placeholder(model: str) -> None:
    """A foreign turn has it on its first call or nowhere."""
    contents = body_of("google", model, _history("B28", "foreign_history.json"))["contents"]
    first, second = [part.get("thoughtSignature") for part in contents[1]["parts"]]
    assert first in (None, "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=")
    assert second is None


def _replayed(endpoint: str, result: OutputResult) -> list[Any]:
    dialogue = create_dialogue("replay").add_user_message("Go").add_from_output(result)
    for use in result.function_calls:
        dialogue.add_function_message("ok", use.name, use.function_id)
    return body_of(endpoint, "gemini-3-flash", dialogue.history)["contents"]
