"""Public bug reports, as far as they touch the Responses wire; read from a folder, if there is one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dialects.responses_cases import DIALECT, body_of, input_of, plan_of

from llm_tools.content import StreamEvent
from llm_tools.errors import ProviderError
from llm_tools.transport.framing import create_framing

FOLDER = Path(os.environ.get("LLM_TOOLS_BUG_CASES", "/nonexistent"))

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no bug cases: LLM_TOOLS_BUG_CASES names no folder with them"
)


def load(name: str) -> Any:
    """A JSON file of the folder."""
    return json.loads((FOLDER / name).read_text())


def feed(name: str, size: int) -> tuple[list[StreamEvent], Any]:
    """A raw stream of the folder through framing and decoder, in pieces of a size."""
    data = (FOLDER / name).read_bytes()
    framer, decoder = create_framing("sse"), DIALECT.open_stream(plan_of(), {})
    events: list[StreamEvent] = []
    for start in range(0, len(data), size):
        for frame in framer.feed(data[start : start + size]):
            events += decoder.feed(frame)
    for frame in framer.close():
        events += decoder.feed(frame)
    return events, decoder


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_interleaved_arguments(size: int) -> None:
    """Fragments of two calls at once end up with the call they belong to."""
    expected = load("B10/expected.json")["responses_interleaved.sse.txt"]
    _, decoder = feed("B10/responses_interleaved.sse.txt", size)
    calls = decoder.close().function_calls
    assert [(call.name, call.input, call.function_id) for call in calls] == [
        (item["name"], item["input"], item["functionId"]) for item in expected
    ]


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_failure_in_the_stream(size: int) -> None:
    """A stream that fails raises what it names."""
    expected = load("B15/expected.json")["responses_failed.sse.txt"]
    with pytest.raises(ProviderError, match=expected["message_contains"]) as caught:
        feed("B15/responses_failed.sse.txt", size)
    assert caught.value.code == expected["code"]


def test_modes() -> None:
    """Every mode is mapped to this wire's own words."""
    expected = load("B08/expected.json")
    tools = load("B08/tools.json")
    tools = tools if isinstance(tools, list) else tools["tools"]
    for mode, choice in zip(
        expected["modes"], expected["tool_choice"]["openai_responses"], strict=True
    ):
        assert body_of(functions=tools, function_call=mode)["tool_choice"] == choice


def test_strict_schema() -> None:
    """Every object is closed and fully required, optional fields are nullable."""
    expected = load("B05/expected.json")
    tool = load("B05/tool.json")
    before = json.loads(json.dumps(tool))
    sent = body_of(functions=[tool], strict=True)["tools"][0]
    assert sent["strict"] is True
    assert sent["parameters"]["required"] == expected["one_valid_form"]["required"]
    assert sent["parameters"]["additionalProperties"] is False
    assert tool == before
    (open_map,) = body_of(functions=[load("B05/open_map_tool.json")], strict=True)["tools"]
    assert open_map["strict"] is False


def test_shape_of_a_replayed_call() -> None:
    """Arguments are text, results pair by call id, and no id of ours passes for an item's."""
    history = load("B27/history.json")
    result = history.pop()
    history.append(
        {"role": "function", "name": result["name"], "functionId": result["functionId"],
         "content": result["output"]}
    )  # fmt: skip
    for message in history:
        message.pop("provider_raw", None)
    call, output = input_of(history)[-2:]
    assert json.loads(call.pop("arguments")) == {"cmd": "ls", "n": 2, "u": "é"}
    assert call == {"type": "function_call", "call_id": "call_A", "name": "run"}
    assert output == {"type": "function_call_output", "call_id": "call_A", "output": "a.txt"}
