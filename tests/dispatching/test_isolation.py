"""What leaves a function by no ordinary way still ends in one result, or ends the program."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from llm_tools import (
    FunctionInputError,
    FunctionNotApprovedError,
    OutputResultFunctionUse,
    create_callable_executor,
    dispatch,
)

pytestmark = pytest.mark.anyio


def call(name: str, number: int = 0) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name=name, input={}, function_id=f"{name}_{number}")


async def run_beside_a_sibling(handler: Callable[[Any], Any], **settings: Any) -> Any:
    """The result of a call whose sibling must come to its end all the same."""
    ended = anyio.Event()

    async def sibling(_: Any) -> str:
        for _ in range(5):
            await checkpoint()
        ended.set()
        return "fine"

    functions = [
        create_callable_executor(name="odd", handler=handler, **settings),
        create_callable_executor(name="sibling", handler=sibling),
    ]
    odd, fine = await dispatch([call("odd"), call("sibling")], functions)
    assert ended.is_set()
    assert (fine.content, fine.is_error) == ("fine", False)
    return odd


async def cancellation_of(scope: anyio.CancelScope) -> BaseException:
    """A cancellation of the loop at hand, caught where it should not be."""
    with scope:
        scope.cancel()
        try:
            await checkpoint()
        except BaseException as error:
            return error
    raise AssertionError


async def stale_cancellation(_: Any) -> None:
    """Raises what it caught when a scope of its own was cancelled."""
    raise await cancellation_of(anyio.CancelScope())


async def foreign_cancellation(_: Any) -> None:
    """Raises asyncio's, whatever the loop."""
    raise asyncio.CancelledError


async def grouped_cancellation(_: Any) -> None:
    """The same among others."""
    raise BaseExceptionGroup("all of it", [ValueError("x"), asyncio.CancelledError()])


def cancellation_in_a_thread(_: Any) -> None:
    """The same in a worker thread."""
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "handler",
    [stale_cancellation, foreign_cancellation, grouped_cancellation, cancellation_in_a_thread],
)
@pytest.mark.parametrize("settings", [{}, {"timeout": 60}, {"retries": 1}, {"group": "isolation"}])
async def test_a_cancellation_nobody_asked_for_is_an_error(
    handler: Any, settings: dict[str, Any]
) -> None:
    """The function raised it by itself: it is the call's result, and cancels nothing."""
    odd = await run_beside_a_sibling(handler, **settings)
    assert odd.is_error
    assert isinstance(odd.error, RuntimeError)
    assert "by itself" in odd.content


@pytest.mark.parametrize(
    "cancelled", [stale_cancellation, foreign_cancellation, grouped_cancellation]
)
async def test_a_decision_that_is_cancelled_is_none(cancelled: Any) -> None:
    """As when `approve` waits for a task that somebody cancels: the calls behind it are decided."""

    async def approve(one: OutputResultFunctionUse) -> bool:
        if one.function_id == "works_1":
            await cancelled(one)
        return True

    functions = [create_callable_executor(name="works", handler=lambda _: "fine")]
    calls = [call("works", number) for number in range(3)]
    results = await dispatch(calls, functions, approve=approve)
    assert [(result.function_id, result.content) for result in results] == [
        ("works_0", "fine"),
        ("works_1", "The call of 'works' was not approved: the approval failed"),
        ("works_2", "fine"),
    ]
    assert isinstance(results[1].error, FunctionNotApprovedError)
    assert "approve() raised" in str(results[1].error.__cause__)


@pytest.mark.parametrize("approve", [None, lambda _: True])
@pytest.mark.parametrize(
    "cancelled", [stale_cancellation, foreign_cancellation, grouped_cancellation]
)
async def test_a_check_that_is_cancelled_refuses_the_input(cancelled: Any, approve: Any) -> None:
    """The same of `validate_input`, before an approval and without one."""
    functions = [
        create_callable_executor(name="odd", handler=lambda _: "ran", validate_input=cancelled),
        create_callable_executor(name="works", handler=lambda _: "fine"),
    ]
    results = await dispatch([call("odd"), call("works")], functions, approve=approve)
    assert [result.function_id for result in results] == ["odd_0", "works_0"]
    assert isinstance(results[0].error, FunctionInputError)
    assert "by itself" in results[0].content
    assert results[1].content == "fine"


async def test_members_of_a_group_are_told_one_by_one() -> None:
    """Not "2 sub-exceptions"."""

    async def fails(_: Any) -> None:
        raise ExceptionGroup("unhandled", [OSError("disk full"), ExceptionGroup("", [KeyError(1)])])

    odd = await run_beside_a_sibling(fails)
    assert odd.content == "OSError: disk full; KeyError: 1"


async def test_neither_traceback_nor_locals_are_told() -> None:
    """The model gets type and message; the whole exception stays with the caller."""

    async def fails(_: Any) -> None:
        password = "hunter2"
        try:
            raise ValueError(password)
        except ValueError as error:
            raise LookupError("no such row") from error

    odd = await run_beside_a_sibling(fails)
    assert odd.content == "LookupError: no such row"
    assert isinstance(odd.error.__cause__, ValueError)


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit])
async def test_the_end_of_the_program_comes_out_of_a_group(fatal: Any) -> None:
    """As itself, whatever a function's own task group put it in."""

    async def handler(_: Any) -> None:
        inner = BaseExceptionGroup("inner", [ValueError("x"), fatal("enough")])
        raise BaseExceptionGroup("outer", [OSError("y"), inner])

    function = create_callable_executor(name="f", handler=handler)
    with pytest.raises(fatal, match="enough"):
        await dispatch([call("f")], [function])


async def test_an_error_in_cleaning_up_is_lost_with_the_cancellation_only() -> None:
    """It neither turns a cancellation into a result nor leaves the dispatch."""
    running = anyio.Event()

    async def fails_late(_: Any) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(checkpoint)
            try:
                running.set()
                await anyio.sleep_forever()
            finally:
                raise ValueError("late")

    function = create_callable_executor(name="f", handler=fails_late)
    returned = []
    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            returned.append(await dispatch([call("f")], [function]))

        tasks.start_soon(work)
        await running.wait()
        tasks.cancel_scope.cancel()
    assert returned == []


async def test_a_sync_function_does_not_stop_the_loop() -> None:
    """It waits for something only the loop can do."""
    ticked = threading.Event()

    def blocks(_: Any) -> bool:
        return ticked.wait(30)

    async def ticks(_: Any) -> None:
        await checkpoint()
        ticked.set()

    functions = [
        create_callable_executor(name="blocks", handler=blocks, sequential=False),
        create_callable_executor(name="ticks", handler=ticks),
    ]
    first, _ = await dispatch([call("blocks"), call("ticks")], functions)
    assert first.content is True


async def test_a_sync_function_that_gives_a_coroutine() -> None:
    """It is awaited on the loop, with the same variables."""
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")
    name.set("outer")

    async def later() -> str:
        await checkpoint()
        return name.get()

    function = create_callable_executor(name="f", handler=lambda _: later())
    (result,) = await dispatch([call("f")], [function])
    assert result.content == "outer"


class TestRetries:
    """A failed call is made again, where that can help."""

    async def test_wrong_input_fails_alike_each_time(self) -> None:
        """So it is tried once."""
        from llm_tools import FunctionInputError

        tries = []

        async def refuses(_: Any) -> None:
            tries.append(1)
            raise FunctionInputError("at /when: no date")

        odd = await run_beside_a_sibling(refuses, retries=5)
        assert len(tries) == 1
        assert odd.content == "The arguments of 'odd' were not usable: at /when: no date"

    async def test_a_thread_that_goes_on_is_not_joined_by_another(self) -> None:
        """A call that timed out in its thread may still do its work."""
        release = threading.Event()
        begun = []

        def stuck(_: Any) -> None:
            begun.append(1)
            release.wait(30)

        odd = await run_beside_a_sibling(stuck, retries=3, timeout=0.5)
        release.set()
        assert len(begun) == 1
        assert "may still be running in its thread" in odd.content

    async def test_a_timeout_on_the_loop_may_be_tried_again(self) -> None:
        """The first attempt was stopped."""
        tries = []

        async def slow_at_first(_: Any) -> int:
            tries.append(1)
            if len(tries) == 1:
                await anyio.sleep_forever()
            return len(tries)

        odd = await run_beside_a_sibling(slow_at_first, retries=1, timeout=0.05)
        assert odd.content == 2
