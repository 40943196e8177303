"""Cancels a piece of work at its first step, at its second, and so on until it has no more."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import anyio
import sniffio
import trio

Step = Callable[[], None]


class _Instrument(trio.abc.Instrument):
    def __init__(self, step: Step) -> None:
        self._step = step

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._step()


@types.coroutine
def _stepped(coroutine: Any, step: Step) -> Any:
    """The coroutine, with `step` called each time it hands control to the loop."""
    value: Any = None
    thrown: BaseException | None = None
    while True:
        try:
            yielded = coroutine.send(value) if thrown is None else coroutine.throw(thrown)
        except StopIteration as done:
            return done.value
        step()
        value = thrown = None
        try:
            value = yield yielded
        except BaseException as error:
            thrown = error


@contextmanager
def steps(step: Step) -> Iterator[None]:
    """Call `step` after every step of every task (on asyncio: of those begun inside the block)."""
    if sniffio.current_async_library() == "trio":
        instrument = _Instrument(step)
        trio.lowlevel.add_instrument(instrument)
        try:
            yield
        finally:
            trio.lowlevel.remove_instrument(instrument)
        return
    loop = asyncio.get_running_loop()

    async def run(coroutine: Any) -> Any:
        return await _stepped(coroutine, step)

    def factory(loop: Any, coroutine: Any, **options: Any) -> Any:
        return asyncio.Task(run(coroutine), loop=loop, **options)

    before = loop.get_task_factory()
    loop.set_task_factory(factory)
    try:
        yield
    finally:
        loop.set_task_factory(before)


def tasks_alive() -> int:
    """How many tasks the loop has, without those of anyio's own that end with the loop."""
    if sniffio.current_async_library() == "trio":
        return trio.lowlevel.current_statistics().tasks_living
    names = [str(task.get_coro()) for task in asyncio.all_tasks()]
    return len([name for name in names if "_shutdown_process_pool" not in name])


async def cancel_at_every_step(
    work: Callable[[], Awaitable[Any]],
    check: Callable[[bool], Awaitable[None]],
    *,
    most: int = 2_000,
) -> int:
    """Do `work` again and again, cancelled after one step more each time, until it ends by itself.

    Args:
        work: does the whole thing once.
        check: looks for what is left, after each time; told whether the work was cancelled.
        most: where to give up counting.

    Returns:
        How many steps the work has.
    """
    for last in count():
        assert last < most, "the work never ends by itself"
        cancelled = await _cancel_after(work, last)
        await check(cancelled)
        if not cancelled:
            return last
    raise AssertionError


async def _cancel_after(work: Callable[[], Awaitable[Any]], last: int) -> bool:
    before = tasks_alive()
    ended = False
    taken = 0

    async def whole() -> None:
        nonlocal ended
        await work()
        ended = True

    with anyio.CancelScope() as scope:

        def step() -> None:
            nonlocal taken
            if taken == last:
                scope.cancel()
            taken += 1

        with steps(step):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(whole)
    await anyio.lowlevel.cancel_shielded_checkpoint()
    assert tasks_alive() == before, "a task is left"
    return not ended
