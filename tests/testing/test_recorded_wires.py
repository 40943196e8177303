"""What is replayed is what was there, on every wire, by call, stream and run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from testing.answers import lines

from docs import fake_provider
from llm_tools import create_chat_prompt, create_llm_function_executor, tool, use_llm
from llm_tools.testing import RecordingTransport, ReplayTransport

pytestmark = pytest.mark.anyio

MODELS = [
    "openai.gpt-4o-mini",
    "openai.gpt-6",
    "anthropic.claude-sonnet-4-5",
    "google.gemini-3-pro",
    "mistral.mistral-large-latest",
]


@pytest.fixture(scope="module")
def provider() -> Iterator[fake_provider.FakeProvider]:
    """A provider on this machine that speaks four wires."""
    with fake_provider.running() as running:
        yield running


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def talk(model: str, wire: httpx.AsyncBaseTransport) -> list[Any]:
    """All that is seen of a call, a stream and two runs."""
    llm = use_llm(model, transport=wire)
    prompt = create_chat_prompt("You add.").add_user_message("{{ input }}")
    executor = create_llm_function_executor(llm=llm, prompt=prompt)
    async with llm.stream("Good morning!") as stream:
        events = [event async for event in stream]
    runs = [await executor.run("What is 17 and 25?", functions=[add]) for _ in range(2)]
    return [
        await llm.call("Hello!"),
        events,
        [(run.output, [result.content for result in run.results]) for run in runs],
    ]


@pytest.mark.parametrize("model", MODELS)
async def test_all_is_as_it_was(
    model: str, file: Path, provider: fake_provider.FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, events and outputs, with no further request, and with keys that are none."""
    for name, value in provider.environment().items():
        monkeypatch.setenv(name, value)
    before = len(provider.exchanges)
    live = await talk(model, RecordingTransport(file))
    asked = len(provider.exchanges) - before
    assert [results for _, results in live[2]] == [[42], [42]]
    assert len(lines(file)) == asked == 6
    for name in provider.environment():
        if name.endswith("_KEY"):
            monkeypatch.setenv(name, "not-a-key")
    assert await talk(model, ReplayTransport(file)) == live
    assert len(provider.exchanges) == before + asked
