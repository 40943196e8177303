"""Runs side by side that look alike do not get into each other's conversations."""

from __future__ import annotations

import json
import re
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from loop.wires import WIRES, Call

from llm_tools import (
    ScriptedTransport,
    create_chat_prompt,
    create_llm_function_executor,
    tool,
    use_llm,
)
from llm_tools.testing.scripted_transport import RecordedRequest

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("wire", WIRES, ids=lambda wire: type(wire).__name__),
]


@tool
async def look(number: int) -> str:
    """Look a number up."""
    await checkpoint()
    return f"found {number}"


@pytest.mark.parametrize("again", [False, True])
async def test_each_request_holds_its_own_conversation(wire: Any, again: bool) -> None:
    """Same ids, same lengths, same words but for a number; asked once, or twice alike."""
    mixed: list[Any] = []

    async def answer(request: RecordedRequest) -> Any:
        await checkpoint()
        text = json.dumps(request.body)
        (number,) = set(re.findall(r"question (\d+)", text))
        found = re.findall(r"found (\d+)", text)
        if set(found) - {number}:
            mixed.append((number, found))
        if len(found) == 3:
            return wire.answer(f"It is {number}.", [], "text")
        call = Call("look", {"number": int(number)}, f"call_{len(found)}")
        return wire.answer("Let me see.", [call], "calls")

    llm = use_llm(wire.key, api_key="k", transport=ScriptedTransport(answer))
    prompt = create_chat_prompt("Be brief.").add_user_message("question {{ number }}")
    executor = create_llm_function_executor(llm=llm, prompt=prompt)
    outputs: dict[int, Any] = {}

    async def one(number: int) -> None:
        for _ in range(1 + again):
            shown = tool(repeatable=True)(look.source)
            done = await executor.run({"number": number}, functions=[shown])
            outputs[number] = done.output

    async with anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(one, number)
    assert mixed == []
    assert outputs == {number: f"It is {number}." for number in range(60)}
