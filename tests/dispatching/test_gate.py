"""Gates hold across event loops, and lose nobody's place."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import anyio
import pytest
import trio
from anyio.lowlevel import checkpoint
from dispatching.interrupting import cancel_at_every_step

from llm_tools import OutputResultFunctionUse, create_callable_executor, dispatch
from llm_tools.dispatching.gate import Gate


class Overlap:
    """Says how many were inside at once, over all loops and threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self.most = 0
        self.runs = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            self.runs += 1
            self.most = max(self.most, self._inside)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1


def grouped(overlap: Overlap, name: str, **settings: Any) -> Any:
    async def handler(_: Any) -> None:
        with overlap:
            for _ in range(3):
                await checkpoint()

    return create_callable_executor(name=name, handler=handler, **settings)


def calls(name: str, count: int) -> list[OutputResultFunctionUse]:
    return [OutputResultFunctionUse(name=name, input={}, function_id=f"c{n}") for n in range(count)]


@pytest.mark.parametrize(
    ("settings", "most"), [({"group": "loops"}, 1), ({"max_concurrency": 2}, 2)]
)
def test_loops_in_several_threads_share_a_gate(settings: dict[str, Any], most: int) -> None:
    """Two asyncio loops and a trio loop, side by side: never more inside than may be."""
    overlap = Overlap()
    shared = grouped(overlap, "shared", **settings)
    problems: list[Any] = []

    async def work() -> None:
        results = await dispatch(calls("shared", 50), [shared])
        problems.extend(result for result in results if result.is_error)

    loops = [lambda: asyncio.run(work()), lambda: trio.run(work), lambda: asyncio.run(work())]
    threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert (problems, overlap.runs, overlap.most) == ([], 150, most)


@pytest.mark.anyio
async def test_first_come_first_served() -> None:
    """The line keeps its order."""
    gate, order = Gate(), []

    async def pass_through(number: int) -> None:
        await gate.enter()
        order.append(number)
        gate.leave()

    assert await gate.enter()
    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(pass_through, number)
            await anyio.wait_all_tasks_blocked()
        gate.leave()
    assert order == list(range(5))


@pytest.mark.anyio
async def test_whoever_is_cancelled_passes_the_place_on() -> None:
    """At every moment: in line, just let in, inside."""
    gate = Gate(2)

    async def pass_through() -> None:
        await gate.enter()
        try:
            await checkpoint()
        finally:
            gate.leave()

    async def five_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(pass_through)

    async def both_places_are_free(_: bool) -> None:
        with anyio.fail_after(5):
            assert await gate.enter()
            assert await gate.enter()
        gate.leave()
        gate.leave()

    assert await cancel_at_every_step(five_at_once, both_places_are_free) > 5


@pytest.mark.anyio
async def test_a_place_may_be_given_back_from_any_thread() -> None:
    """Also from one without a loop."""
    gate = Gate()
    assert await gate.enter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gate.enter)
        await anyio.wait_all_tasks_blocked()
        await anyio.to_thread.run_sync(gate.leave)
    with anyio.move_on_after(0) as scope:
        await gate.enter()
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_patience_is_for_abandoned_holders_only() -> None:
    """A wait for a holder that is looked after has no end; and no place in line is lost by it."""
    gate = Gate()
    assert await gate.enter()
    given_up: list[bool] = []

    async def wait() -> None:
        given_up.append(not await gate.enter(0.01))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.sleep(0.05)
        assert given_up == []
        gate.abandon()
        with anyio.fail_after(10):
            while not given_up:
                await anyio.sleep(0.001)
    assert given_up == [True]
    gate.leave(abandoned=True)
    assert await gate.enter(0.01)


@pytest.mark.anyio
async def test_a_loop_that_is_gone_holds_nobody_up() -> None:
    """Its waiters are passed over."""
    gate = Gate()
    assert await gate.enter()
    gone = asyncio.new_event_loop()

    def leave_a_waiter_behind() -> Any:
        waiting = gone.create_task(gate.enter())
        gone.run_until_complete(asyncio.sleep(0))
        gone.run_until_complete(asyncio.sleep(0))
        gone.close()
        return waiting

    waiting = await anyio.to_thread.run_sync(leave_a_waiter_behind)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gate.enter)
        await anyio.wait_all_tasks_blocked()
        gate.leave()
    assert not waiting.done()
    waiting.get_coro().close()  # its end gives no place back a second time
    with anyio.move_on_after(0) as scope:
        await gate.enter()
    assert scope.cancelled_caught
