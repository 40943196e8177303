"""The main road: functions in, a call out, its result back, text at the end; on both loops."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import respx
import trio

from llm_tools import (
    OutputResultFunctionUse,
    ScriptedTransport,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    dispatch,
    guards,
    tool,
    use_llm,
)

pytestmark = pytest.mark.anyio

PLAIN = {"name": "add", "description": "Add two numbers.", "parameters": {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}}  # fmt: skip


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def called() -> dict[str, Any]:
    call = {"name": "add", "arguments": '{"a": 17, "b": 25}'}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
    }
    return completion(message, "tool_calls")


def said(text: str) -> dict[str, Any]:
    return completion({"role": "assistant", "content": text}, "stop")


def completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def executor_for(llm: Any) -> Any:
    prompt = create_chat_prompt("You add.").add_user_message("{{ input }}")
    return create_llm_function_executor(llm=llm, prompt=prompt)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A real server in another process."""
    path = Path(__file__).with_name("chat_server.py")
    process = subprocess.Popen(
        [sys.executable, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


async def check_whole_flow(llm: Any) -> None:
    """A forced call, its dispatch, the reply, the final text."""
    executor = executor_for(llm)
    response = await executor.execute(
        {"input": "17 and 25"}, functions=[PLAIN], function_call="any"
    )
    assert guards.has_function_call(response)
    assert response == [
        OutputResultFunctionUse(name="add", input={"a": 17, "b": 25}, function_id="call_1")
    ]
    results = await dispatch(response, [add])
    assert [(r.name, r.function_id, r.content, r.is_error) for r in results] == [
        ("add", "call_1", 42, False)
    ]
    dialogue = create_dialogue("flow").add_user_message("17 and 25")
    dialogue.add_from_output(response).add_from_results(results)
    answer = await llm.call(dialogue, functions=[PLAIN])
    assert answer.text == "The answer is 42."
    assert answer.stop_reason == "stop"


async def test_flow_over_a_mock_transport() -> None:
    """The road works over a caller's own httpx transport, and sends what it should."""
    bodies = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.read())
        return httpx.Response(200, json=called() if len(bodies) == 1 else said("The answer is 42."))

    llm = use_llm("openai.gpt-4o-mini", api_key="k", transport=httpx.MockTransport(answer))
    await check_whole_flow(llm)
    assert b'"tool_choice":"required"' in bodies[0].replace(b": ", b":")
    assert b'"tool_call_id":"call_1"' in bodies[1].replace(b": ", b":")


@respx.mock
async def test_flow_under_respx() -> None:
    """respx in its default mode sees the requests."""
    route = respx.post("https://api.openai.com/v1/chat/completions").mock(
        side_effect=[
            httpx.Response(200, json=called()),
            httpx.Response(200, json=said("The answer is 42.")),
        ]
    )
    await check_whole_flow(use_llm("openai.gpt-4o-mini", api_key="k"))
    assert route.call_count == 2
    assert route.calls[0].request.headers["authorization"] == "Bearer k"


async def test_flow_against_a_server_in_another_process(server: str) -> None:
    """The road works over real sockets."""
    async with use_llm("openai.gpt-4o-mini", api_key="k", base_url=server) as llm:
        await check_whole_flow(llm)


async def test_run_goes_until_text(server: str) -> None:
    """`run` calls, dispatches, replies and ends in text; the dialogue holds it all."""
    executor = executor_for(use_llm("openai.gpt-4o-mini", api_key="k", base_url=server))
    done = await executor.run({"input": "17 and 25"}, functions=[add], function_call="any")
    assert done.output == "The answer is 42."
    assert done.turns == 2
    assert [message.role for message in done.dialogue.history] == [
        "user",
        "assistant",
        "function",
        "assistant",
    ]
    assert done.usage.total_tokens == 30


async def test_many_calls_on_one_executor(server: str) -> None:
    """200 concurrent calls on one executor each get their own answer."""
    executor = executor_for(use_llm("openai.gpt-4o-mini", api_key="k", base_url=server))
    answers: dict[int, Any] = {}

    async def one(number: int) -> None:
        answers[number] = await executor.execute({"input": str(number)}, functions=[PLAIN])

    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(one, number)
    assert len(answers) == 200
    assert all(guards.has_function_call(answer) for answer in answers.values())


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_seam_can_be_scripted() -> None:
    """`ScriptedTransport` answers from a list and keeps what was sent."""
    wire = ScriptedTransport([called(), said("The answer is 42.")])
    await check_whole_flow(use_llm("openai.gpt-4o-mini", api_key="k", transport=wire))
    assert wire.requests[0].body["tools"][0]["function"]["name"] == "add"


def test_two_asyncio_runs_and_a_trio_run(server: str) -> None:
    """One model serves loop after loop: connections belong to theirs."""
    llm = use_llm("openai.gpt-4o-mini", api_key="k", base_url=server)

    async def once() -> str:
        answer = await llm.call("17 and 25", functions=[PLAIN])
        return answer.function_calls[0].name

    assert asyncio.run(once()) == "add"
    assert asyncio.run(once()) == "add"
    assert trio.run(once) == "add"
