"""Public bug reports, as far as they touch Claude's two wires; read from a folder, if there is one."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from dialects.anthropic_and_bedrock import (
    FUNCTIONS,
    body_of,
    decoded,
    encoded,
    plan_of,
    sent,
    streamed,
    target_of,
)

from llm_tools.content import FunctionUseDone, OutputResult, StreamEvent
from llm_tools.errors import ConfigurationError, ProviderError
from llm_tools.spec import Frame, Plan
from llm_tools.transport.framing import create_framing

FOLDER = Path(os.environ.get("LLM_TOOLS_BUG_CASES", "/nonexistent"))
WIRES = ["anthropic", "amazon"]

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no bug cases: LLM_TOOLS_BUG_CASES names no folder with them"
)


def load(name: str) -> Any:
    """A JSON file of the folder."""
    return json.loads((FOLDER / name).read_text())


def history(name: str) -> list[dict[str, Any]]:
    """A conversation of the folder in our spelling."""
    return [_message(message) for message in load(name)]


def _message(message: dict[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in message.items() if key != "provider_raw"}
    return {("content" if key == "output" else key): value for key, value in known.items()}


def feed(plan: Plan, name: str, size: int) -> tuple[list[StreamEvent], OutputResult]:
    """A raw stream of the folder through framing and decoder, in pieces of a size."""
    data = (FOLDER / name).read_bytes()
    framer, decoder = create_framing("sse"), plan.target.dialect.open_stream(plan, {})
    events: list[StreamEvent] = []
    for start in range(0, len(data), size):
        for frame in framer.feed(data[start : start + size]):
            events += decoder.feed(frame)
    for frame in framer.close():
        events += decoder.feed(frame)
    return events, decoder.close()


def tools_of(wire: str, body: Any) -> list[dict[str, Any]]:
    """The declared functions as name and schema."""
    if wire == "anthropic":
        return [{"name": tool["name"], "schema": tool["input_schema"]} for tool in body["tools"]]
    specs = [tool["toolSpec"] for tool in body["toolConfig"]["tools"]]
    return [{"name": spec["name"], "schema": spec["inputSchema"]["json"]} for spec in specs]


def results_of(wire: str, body: Any) -> list[tuple[str, str, bool]]:
    """Every result: id, text, whether it is an error."""
    found = []
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else []:
            if wire == "anthropic" and block["type"] == "tool_result":
                text = block.get("content", "")
                found.append((block["tool_use_id"], text, block.get("is_error", False)))
            elif "toolResult" in block:
                result = block["toolResult"]
                text = result["content"][0]["text"]
                found.append((result["toolUseId"], text, result["status"] == "error"))
    return found


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "B01/tool",
        "B02/recursive",
        "B02/draft7_definitions",
        "B02/self_root",
        "B03/tool",
        "B05/tool",
    ],
)
def test_schemas_pass(wire: str, strict: bool, name: str) -> None:
    """Recursion, unions and keywords as names end quickly in an object schema."""
    body = body_of(wire, functions=[load(f"{name}.json")], strict=strict)
    (tool,) = tools_of(wire, body)
    assert tool["schema"]["type"] == "object"


@pytest.mark.parametrize("wire", WIRES)
def test_functions_without_parameters(wire: str) -> None:
    """Three spellings of nothing give one form."""
    tools = tools_of(wire, body_of(wire, functions=load("B04/tools.json")))
    assert [tool["schema"]["type"] for tool in tools] == ["object"] * 4
    assert tools[0]["schema"] == tools[1]["schema"] == tools[2]["schema"]


@pytest.mark.parametrize("wire", WIRES)
def test_names(wire: str) -> None:
    """Legal, unique, stable, and mapped back."""
    pattern = load("B07/expected.json")["wire_pattern"]["bedrock_converse"]
    names = load("B07/names.json")
    request = encoded(wire, functions=[{"name": name} for name in names])
    wired = [tool["name"] for tool in tools_of(wire, sent(request))]
    assert len(set(wired)) == len(names)
    assert all(re.fullmatch(pattern, name) for name in wired)
    assert [name in wired for name in ("stock_find", "dry-run", "dry_run")] == [True] * 3
    assert request.plan.functions is not None
    back = [request.plan.functions.by_wire_name[name].definition.name for name in wired]
    assert back == names


@pytest.mark.parametrize(
    ("endpoint", "column"),
    [
        ("anthropic", "anthropic"),
        ("amazon:anthropic", "bedrock_invoke_anthropic"),
        ("amazon", "bedrock_converse"),
    ],
)
def test_modes(endpoint: str, column: str) -> None:
    """Every mode says what it means."""
    expected, functions = load("B08/expected.json"), load("B08/tools.json")
    for mode, choice in zip(expected["modes"], expected["tool_choice"][column], strict=True):
        body = body_of(endpoint, functions=functions, function_call=mode)
        if isinstance(choice, str):
            assert "toolConfig" not in body
        else:
            found = body.get("tool_choice") or body["toolConfig"]["toolChoice"]
            assert found == choice
    with pytest.raises(ConfigurationError, match="nope"):
        encoded(endpoint, functions=functions, function_call={"name": "nope"})


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("name", ["anthropic_error_first", "anthropic_error_mid_tool"])
def test_error_in_the_stream(name: str, size: int) -> None:
    """It is raised, and no half call is offered."""
    expected = load("B15/expected.json")[f"{name}.sse.txt"]
    with pytest.raises(
        ProviderError, match=expected.get("message_contains", "Overloaded")
    ) as caught:
        feed(plan_of("anthropic"), f"B15/{name}.sse.txt", size)
    assert caught.value.code == expected["error_type"]
    assert caught.value.retryable is expected["retryable"]
    assert caught.value.status == expected.get("treat_like_status", 529)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("anthropic_no_delta", {}),
        ("anthropic_empty_delta", {}),
        ("anthropic_placeholder_then_deltas", {"city": "Oslo"}),
    ],
)
def test_arguments_that_are_missing(name: str, value: Any, size: int) -> None:
    """A placeholder is replaced, absence is `{}`."""
    events, result = feed(plan_of("anthropic", functions=FUNCTIONS), f"B16/{name}.sse.txt", size)
    assert [call.input for call in result.function_calls] == [value]
    assert [item.function_use for item in events if isinstance(item, FunctionUseDone)] == [
        *result.function_calls
    ]


def test_call_without_input_on_converse() -> None:
    """Nothing arrives for a tool without arguments."""
    frames = [
        Frame(kind, json.dumps(payload).encode())
        for item in load("B16/bedrock_converse_events_no_input.json")
        for kind, payload in item.items()
    ]
    _, result = streamed(plan_of("amazon", functions=FUNCTIONS), frames)
    assert [call.input for call in result.function_calls] == [{}]


def test_call_cut_off() -> None:
    """It is never run, whatever its JSON looks like."""
    result = decoded(plan_of("anthropic"), load("B18/anthropic_max_tokens.json"))
    (call,) = result.function_calls
    assert result.stop_reason == "length"
    assert call.input_error
    assert call.input == {}


def test_results_of_parallel_calls() -> None:
    """One user turn, in call order, before the text."""
    expected = load("B23/expected.json")
    body = body_of("anthropic", history("B23/history.json"))
    assert body["system"] == expected["anthropic"]["system"]
    assert body["messages"] == expected["anthropic"]["messages"]
    body = body_of("amazon", history("B23/history.json"))
    wanted = expected["bedrock_converse"]
    assert body["system"] == wanted["system"]
    assert body["messages"][:2] == wanted["messages"][:2]
    blocks = body["messages"][2]["content"]
    assert [list(block) for block in blocks] == [["toolResult"], ["toolResult"], ["text"]]
    assert [block["toolResult"]["toolUseId"] for block in blocks[:2]] == ["c_1", "c_2"]


@pytest.mark.parametrize("wire", WIRES)
def test_block_rules(wire: str) -> None:
    """Results first, no blank text at any depth, roles alternating, nothing lost."""
    target = target_of(wire)
    late = body_of(target, history("B24/result_after_text.json"))["messages"]
    first, text = late[-1]["content"]
    assert "c_1" in json.dumps(first)
    assert text["text"] == "(also: hurry)"
    body = body_of(target, history("B24/blank_text.json"))
    texts = re.findall(r'"text": "([^"]*)"', json.dumps(body["messages"]))
    assert all(text.encode().decode("unicode_escape").strip() for text in texts)
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    assert [function_id for function_id, _, _ in results_of(wire, body)] == ["c_1", "c_2"]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("complete", [("c_1", "out1", False), ("c_2", "out2", False)]),
        ("reversed", [("c_1", "out1", False), ("c_2", "out2", False)]),
        ("one_missing", [("c_1", None, True), ("c_2", "out2", False)]),
        ("all_missing_then_user", [("c_1", None, True), ("c_2", None, True)]),
        ("ends_with_calls", [("c_1", None, True), ("c_2", None, True)]),
        ("orphan_result", []),
    ],
)
def test_broken_histories(wire: str, name: str, answers: Any) -> None:
    """Each call is answered exactly once, and nothing else is."""
    found = results_of(wire, body_of(wire, history(f"B25/{name}.json")))
    assert [(call, is_error) for call, _, is_error in found] == [
        (call, is_error) for call, _, is_error in answers
    ]
    texts = [(text, wanted) for (_, text, _), (_, wanted, _) in zip(found, answers, strict=True)]
    assert all(text == wanted for text, wanted in texts if wanted is not None)


@pytest.mark.parametrize("wire", WIRES)
def test_id_reused_in_the_next_turn(wire: str) -> None:
    """Both turns stay paired."""
    body = body_of(wire, history("B26/id_reused_next_turn_history.json"))
    assert [text for _, text, _ in results_of(wire, body)] == ["rx", "ry"]
    assert len({call for call, _, _ in results_of(wire, body)}) == 2


def test_arguments_are_objects() -> None:
    """On both wires."""
    expected = load("B27/expected.json")
    for wire in WIRES:
        key = "anthropic" if wire == "anthropic" else "bedrock_converse"
        assert body_of(wire, history("B27/history.json"))["messages"][1]["content"] == [
            expected[key]
        ]
