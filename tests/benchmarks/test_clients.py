"""The clients that are measured side by side give the same answers to the same work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import adapter
import agent_work
import anyio
import pytest
from clients import DEFAULT, FAST, HTTPX, SOCKETS, open_one, opened

from llm_tools.testing import ScriptedTransport

pytestmark = pytest.mark.anyio
CLIENTS = (HTTPX, SOCKETS, DEFAULT, FAST)


@pytest.fixture(params=CLIENTS)
async def client_at(request: pytest.FixtureRequest, address: str) -> AsyncIterator[Any]:
    """Opens a client at a path of the server."""
    opened_here = []

    async def open_at(path: str) -> Any:
        opened_here.append(await open_one(request.param, f"{address}/{path}"))
        return opened_here[-1]

    yield open_at
    for client in opened_here:
        await client.aclose()


async def test_a_call_is_decoded(client_at: Any) -> None:
    """Name, input and id, as the server says them."""
    client = await client_at("one")
    assert await client.call() == [agent_work.CALL]
    assert await client.call() == [agent_work.CALL]


async def test_a_stream_is_put_together(client_at: Any) -> None:
    """Of its 200 pieces; and the connection is free for the next."""
    client = await client_at("stream")
    assert await client.stream() == [agent_work.STREAMED_CALL]
    assert await client.stream() == [agent_work.STREAMED_CALL]


async def test_a_loop_ends_with_the_text(client_at: Any) -> None:
    """The server says it only to a request that holds what the function returned."""
    client = await client_at("loop")
    assert await client.loop() == agent_work.TEXT


async def test_many_calls_are_in_flight_at_once(client_at: Any) -> None:
    """The server answers none of them before all eight are there."""
    client = await client_at("all/8")
    answers = []

    async def call() -> None:
        answers.append(await client.call())

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(call)
    assert answers == [[agent_work.CALL]] * 8


@pytest.mark.parametrize("name", [HTTPX, SOCKETS])
async def test_a_floor_also_encodes(name: str, address: str) -> None:
    """And goes elsewhere over the connections it has."""
    client = await open_one(name, f"{address}/slow")
    there = client.towards(f"{address}/one")
    assert await there.call_encoding() == [agent_work.CALL]
    assert await there.two_calls() == agent_work.TEXT
    await client.aclose()


async def test_both_floors_and_both_transports_take_part(address: str) -> None:
    """Bodies of the floors are of the same size."""
    async with opened(f"{address}/one", messages=10, tools=3) as (floors, ours):
        assert list(floors) == [HTTPX, SOCKETS]
        assert list(ours) == [DEFAULT, FAST]
        assert floors[HTTPX].body_size == floors[SOCKETS].body_size


async def test_the_adapter_sends_the_workload_as_it_was_given() -> None:
    """Messages and tools of a harness arrive unchanged."""
    messages, tools = agent_work.make_messages(), agent_work.make_tools()
    transport: Any = ScriptedTransport([{"choices": [{"message": {"content": "Yes."}}]}])
    client = await adapter.open_client(
        "http://127.0.0.1:9",
        messages,
        tools,
        model=agent_work.MODEL,
        api_key=agent_work.KEY,
        transport=transport,
    )
    assert await client.call() == [("text", "Yes.")]
    await client.aclose()
    [request] = transport.requests
    assert request.url == "http://127.0.0.1:9/chat/completions"
    assert request.body["model"] == agent_work.MODEL
    assert request.body["tools"] == tools
    assert [_spoken(message) for message in request.body["messages"]] == [
        _spoken(message) for message in messages
    ]


def _spoken(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what stands for nothing."""
    return {name: value for name, value in message.items() if value is not None}
