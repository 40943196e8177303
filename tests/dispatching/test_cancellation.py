"""Whoever cancels a dispatch, at whatever moment, finds nothing left of it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from dispatching.interrupting import cancel_at_every_step

from llm_tools import (
    FunctionTimeoutError,
    OutputResultFunctionUse,
    create_callable_executor,
    dispatch,
    tool,
)

pytestmark = pytest.mark.anyio


class Inside:
    """Counts the functions that are running."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0
        self.most = 0

    def __enter__(self) -> None:
        with self._lock:
            self.count += 1
            self.most = max(self.most, self.count)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.count -= 1


def call(name: str, number: int = 0, **arguments: Any) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name=name, input=arguments, function_id=f"{name}_{number}")


def function(name: str, handler: Any, **settings: Any) -> Any:
    return create_callable_executor(name=name, handler=handler, **settings)


async def test_async_functions_of_every_kind() -> None:
    """Plain, alone, grouped, limited, retried, timed, checked and approved ones."""
    inside = Inside()

    async def work(_: Any) -> str:
        with inside:
            await checkpoint()
            await checkpoint()
        return "done"

    async def fails(_: Any) -> None:
        with inside:
            await checkpoint()
        raise ValueError

    async def is_fine(_: Any) -> bool:
        await checkpoint()
        return True

    async def approve(_: Any) -> bool:
        await checkpoint()
        return True

    functions = [
        function("plain", work, validate_input=is_fine),
        function("alone", work, sequential=True),
        function("grouped", work, group="cancelled group"),
        function("limited", work, max_concurrency=1),
        function("retried", fails, retries=2),
        function("timed", work, timeout=60),
    ]
    calls = [call(each.name, number) for number in range(2) for each in functions]

    async def all_of_them() -> Any:
        results = await dispatch(calls, functions, max_concurrency=3, approve=approve)
        assert [r.is_error for r in results] == [r.name == "retried" for r in results]

    async def nothing_is_left(_: bool) -> None:
        assert inside.count == 0

    assert await cancel_at_every_step(all_of_them, nothing_is_left) > 30
    with anyio.fail_after(10):  # groups and limits are open again
        await all_of_them()


async def test_sync_functions_leave_no_more_than_their_threads() -> None:
    """One that has begun ends in its thread; one that has not never does."""
    inside = Inside()
    begun: list[int] = []

    def work(value: dict[str, int]) -> str:
        with inside:
            begun.append(value["n"])
        return "done"

    functions = [function("grouped", work, group="threads"), function("free", work)]
    calls = [call(each.name, n, n=n) for n in range(2) for each in functions]

    async def all_of_them() -> None:
        results = await dispatch(calls, functions, max_concurrency=3)
        assert [r.content for r in results] == ["done"] * 4

    async def nothing_is_left(_: bool) -> None:
        with anyio.fail_after(30):
            while inside.count:
                await anyio.sleep(0.001)
        by_then = list(begun)
        await anyio.to_thread.run_sync(int)  # a thread that was waiting would be first
        assert begun == by_then
        begun.clear()

    assert await cancel_at_every_step(all_of_them, nothing_is_left) > 4
    with anyio.fail_after(30):
        await all_of_them()


@pytest.mark.parametrize("why", ["cancelled", "timed out"])
async def test_an_abandoned_thread_keeps_its_group(why: str) -> None:
    """Nothing of its group runs beside it: others wait, or say why they did not run."""
    inside = Inside()
    release = threading.Event()

    def stuck(_: Any) -> None:
        with inside:
            release.wait(30)

    async def next_one(_: Any) -> int:
        return inside.count

    functions = [
        function("stuck", stuck, group=f"abandoned, {why}"),
        function("next_one", next_one, group=f"abandoned, {why}"),
    ]
    async with anyio.create_task_group() as tasks:

        async def leave_it_behind() -> None:
            (told,) = await dispatch([call("stuck")], functions, timeout=0.5)
            assert "may still be running in its thread" in told.content

        tasks.start_soon(leave_it_behind)
        with anyio.fail_after(30):
            while not inside.count:
                await anyio.sleep(0.001)
        if why == "cancelled":
            tasks.cancel_scope.cancel()
    (told,) = await dispatch([call("next_one")], functions, timeout=0.05)
    assert isinstance(told.error, FunctionTimeoutError)
    assert "'next_one' was not run: it waited 0.05 s" in told.content
    results: list[Any] = []

    async def wait() -> None:
        results.extend(await dispatch([call("next_one")], functions))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert results == []
        release.set()
    assert [r.content for r in results] == [0]


def process_id() -> int:
    """Say who you are."""
    return os.getpid()


def spins(path: str) -> None:
    """Write down who you are, and never return."""
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    while True:
        pass


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


async def test_a_worker_process_dies_with_its_call(tmp_path: Any) -> None:
    """Cancelled while it works, it is gone when the dispatch is."""
    path = tmp_path / "process"
    isolated = tool(isolation="process")(spins)
    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            await dispatch([call("spins", path=str(path))], [isolated])

        tasks.start_soon(work)
        with anyio.fail_after(50):
            while not path.exists() or not path.read_text():
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert not is_alive(int(path.read_text()))


async def test_no_worker_process_is_lost() -> None:
    """At whatever step: waiting for one, starting one, asking one. Only idle ones are left."""
    isolated = tool(isolation="process")(process_id)
    before = children()

    async def one() -> None:
        (result,) = await dispatch([call("process_id")], [isolated])
        assert result.content in children() - before

    async def at_most_one_is_left(_: bool) -> None:
        assert len(children() - before) <= 1

    await one()  # the loop has a task for its pool from then on
    assert (
        await cancel_at_every_step(one, at_most_one_is_left) > 4
    )  # an older anyio has one step less


def children() -> set[int]:
    """The processes this one has started."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError), open(f"/proc/self/task/{task}/children") as file:
            found |= {int(number) for number in file.read().split()}
    return found
