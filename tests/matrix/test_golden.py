"""The main cells of each wire, to the letter.

A golden file holds the whole body of a call that says nothing of functions but what there are, and
for each other cell the keys of the body that differ from it (null: the key is gone).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matrix.scenes import Aim, Cell

GOLDEN = Path(__file__).parent / "golden"

WIRES = {
    "openai_chat": Aim("openai.chat.v1", "gpt-4o-mini"),
    "openai_chat_compatible": Aim("together.chat.v1", "some/model"),
    "openai_chat_wordless": Aim("zai.chat.v1", "glm-5"),
    "openai_responses": Aim("openai.responses.v1", "gpt-5.6"),
    "anthropic_messages": Aim("anthropic.chat.v1", "claude-opus-4-6"),
    "anthropic_invoke": Aim("amazon:anthropic.chat.v1", "us.anthropic.claude-opus-4-6-v1"),
    "bedrock_converse": Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "bedrock_converse_bare": Aim("amazon.converse.v1", "meta.llama3-3-70b-instruct-v1:0"),
    "gemini": Aim("google.chat.v1", "gemini-4-carbon"),
    "ollama": Aim("ollama.chat.v1", "qwen3"),
}
MAIN = [
    *map(Cell, ("auto", "none", "any", "name", "subset_any", "subset_auto")),
    Cell("auto", strict=True),
    Cell("auto", schema=True),
    Cell("auto", history="loop"),
    Cell("none", history="loop"),
    Cell("name", strict=True, schema=True, history="loop"),
]


def golden(wire: str) -> dict[str, Any]:
    """The golden file of a wire."""
    content: dict[str, Any] = json.loads((GOLDEN / f"{wire}.json").read_text("utf-8"))
    return content


@pytest.mark.parametrize("wire", WIRES)
def test_what_goes_out_if_nothing_is_said(wire: str) -> None:
    """The address and the whole body."""
    request = Cell("unsaid").ask(WIRES[wire])
    assert {"url": request.url, "body": request.body} == golden(wire)["unsaid-fresh"]


@pytest.mark.parametrize("cell", MAIN, ids=str)
@pytest.mark.parametrize("wire", WIRES)
def test_what_a_cell_changes(wire: str, cell: Cell) -> None:
    """The body of a cell, to the letter."""
    kept = golden(wire)
    changed = kept["unsaid-fresh"]["body"] | kept[str(cell)]
    expected = {key: value for key, value in changed.items() if value is not None}
    assert cell.ask(WIRES[wire]).body == expected


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_says_the_same(wire: str) -> None:
    """A stream's body differs from the other in what asks for a stream alone."""
    body = Cell("name").ask(WIRES[wire], stream=True).body
    asks = {"stream", "stream_options"}
    still = Cell("name").ask(WIRES[wire]).body
    assert {key: value for key, value in body.items() if key not in asks} == {
        key: value for key, value in still.items() if key not in asks
    }
    assert {key: body.get(key) for key in asks} == golden(wire)["stream"]
