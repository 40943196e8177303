"""Public reports of tools that block, are lost, or outlive their run; from a folder, if there is one.

What a report says in numbers is read from it; what it says in words is done here.
"""

from __future__ import annotations

import contextvars
import json
import os
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from dispatching.interrupting import tasks_alive
from loop.scripted_server import HANG, Raw, serving

from llm_tools import (
    OutputResultFunctionUse,
    ScriptedLlm,
    create_callable_executor,
    create_dialogue,
    create_llm_function_executor,
    dispatch,
    tool,
    use_llm,
)
from llm_tools.history import mend

FOLDER = Path(os.environ.get("LLM_TOOLS_BUG_CASES", "/nonexistent"))

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason="no bug cases: LLM_TOOLS_BUG_CASES names no folder with them"
    ),
]


def load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())


def use(name: str, function_id: str) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name=name, input={}, function_id=function_id)


async def test_sync_tools_neither_block_nor_forget() -> None:
    """All run at once beside a loop that goes on ticking, and see the caller's variables."""
    batch, expected = load("B31/scenario.json")["batch"], load("B31/expected.json")
    request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id")
    request_id.set(expected["each_result"])
    together = threading.Barrier(len(batch), timeout=30)
    blocked, ticked = threading.Event(), threading.Event()

    def slow_sync(_: Any) -> str:
        together.wait()
        blocked.set()
        assert ticked.wait(30)
        seen = request_id.get()
        request_id.set("changed")
        return seen

    async def asks_async(_: Any) -> str:
        seen = request_id.get()
        request_id.set("changed")
        return seen

    ran = []

    async def fails_once(_: Any) -> None:
        ran.append(1)
        raise RuntimeError("this event loop is already running")

    functions = [
        create_callable_executor(name=name, handler=handler)
        for name, handler in (
            ("slow_sync", slow_sync),
            ("asks_async", asks_async),
            ("fails_once", fails_once),
        )
    ]
    calls = [use(item["tool"], f"c_{n}") for n, item in enumerate(batch)]
    calls += [use("asks_async", "c_a"), use("asks_async", "c_b"), use("fails_once", "c_c")]

    async def heartbeat() -> None:
        while not blocked.is_set():
            await anyio.sleep(0.001)
        for _ in range(10):
            await anyio.sleep(0.001)
        ticked.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heartbeat)
        results = await dispatch(calls, functions)
    assert [r.content for r in results[:-1]] == [expected["each_result"]] * (len(batch) + 2)
    assert (results[-1].is_error, len(ran)) == (True, 1)
    assert request_id.get() == expected["each_result"]


async def test_a_bad_call_costs_its_siblings_nothing() -> None:
    """An error, an invented name and a cancellation of its own making are three results."""
    scenario, expected = load("B32/scenario.json"), load("B32/expected.json")
    calls = [use(item["tool"], item["id"]) for item in scenario["calls_in_one_turn"]]
    failed = anyio.Event()

    async def ok_slow(_: Any) -> str:
        await failed.wait()
        return "one"

    async def boom(_: Any) -> None:
        failed.set()
        raise ValueError("disk full")

    async def selfcancel(_: Any) -> None:
        import asyncio

        raise asyncio.CancelledError

    async def ok_fast(_: Any) -> str:
        return "five"

    handlers = {"ok_slow": ok_slow, "boom": boom, "selfcancel": selfcancel, "ok_fast": ok_fast}
    functions = [create_callable_executor(name=n, handler=h) for n, h in handlers.items()]
    llm = ScriptedLlm([calls, "over"])
    executor = create_llm_function_executor(llm=llm, prompt="go")
    done = await executor.run(functions=functions)
    results = {result.function_id: result for result in done.results}
    assert list(results) == expected["results_in_call_order"]
    for function_id, value in expected["values"].items():
        assert (results[function_id].content, results[function_id].is_error) == (value, False)
    assert all(results[function_id].is_error for function_id in expected["errors"])
    assert "disk full" in str(results["c_2"].content)
    assert all(name in str(results["c_3"].content) for name in handlers)
    assert done.output == "over"


class TestCancelledRuns:
    """A: while tools run. B: while a stream is read. C: while a retry is waited for."""

    @staticmethod
    def check_after(expected: Any, dialogue: Any) -> None:
        assert expected["after"]
        mend(dialogue.history, strict=True)

    async def test_while_tools_run(self) -> None:
        """Both see it, nothing is left, and it is no result."""
        expected = load("B33/expected.json")
        both = threading.Semaphore(0)
        stopped: list[str] = []

        async def sleeps(name: str) -> None:
            both.release()
            try:
                await anyio.sleep(60)
            finally:
                stopped.append(name)

        functions = [tool(name=name)(sleeps) for name in ("first", "second")]
        calls = [
            {"type": "function_use", "name": n, "input": {"name": n}} for n in ("first", "second")
        ]
        executor = create_llm_function_executor(llm=ScriptedLlm([calls, "again"]), prompt="go")
        dialogue, before, returned = create_dialogue("d"), tasks_alive(), []

        async def run() -> None:
            returned.append(await executor.run(functions=functions, dialogue=dialogue))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await anyio.to_thread.run_sync(lambda: (both.acquire(), both.acquire()))
            tasks.cancel_scope.cancel()
        assert sorted(stopped) == ["first", "second"]
        assert (returned, tasks_alive()) == ([], before)
        self.check_after(expected, dialogue)
        assert (await executor.run(functions=functions, dialogue=dialogue)).output == "again"

    @pytest.mark.parametrize("what", ["B", "C"])
    async def test_while_the_provider_is_waited_for(self, what: str) -> None:
        """The connection is closed; a wait before a retry ends at once."""
        expected = load("B33/expected.json")
        answers = {"B": Raw([b": comment\n\n", HANG]), "C": Raw([b"{}"], status=503)}
        dialogue = create_dialogue("d")
        with serving(*[answers[what]] * 3) as server:
            async with use_llm(
                "openai.gpt-4o-mini", api_key="k", base_url=f"{server.url}/v1"
            ) as llm:
                executor = create_llm_function_executor(llm=llm, prompt="go")

                async def run() -> None:
                    await executor.run(functions=[], dialogue=dialogue, start_early=what == "B")

                with anyio.fail_after(20):
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(run)
                        await server.reaches(lambda server: bool(server.requests))
                        await anyio.wait_all_tasks_blocked()
                        tasks.cancel_scope.cancel()
                await server.reaches(lambda server: server.streaming == 0)
            await server.reaches(lambda server: server.connections == 0)
        self.check_after(expected, dialogue)
