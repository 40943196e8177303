"""Calls start in call order, in threads as well; nothing about how they run is in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from llm_tools import create_callable_executor, dispatch
from llm_tools.content import FunctionResult, OutputResultFunctionUse
from llm_tools.dispatching.starting import Line, Start

COUNT = 12


def calls(*names: str) -> list[OutputResultFunctionUse]:
    return [
        OutputResultFunctionUse(name=name, input={"n": n}, function_id=f"c{n}")
        for n, name in enumerate(names)
    ]


def function(name: str, handler: Callable[[dict[str, Any]], Any], **options: Any) -> Any:
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return create_callable_executor(name=name, handler=handler, parameters=parameters, **options)


@pytest.mark.anyio
async def test_in_call_order() -> None:
    """Sync functions begin one after the other; they run side by side."""
    begun: list[int] = []
    together = threading.Barrier(COUNT)

    def in_thread(given: dict[str, Any]) -> int:
        begun.append(given["n"])
        together.wait()
        return given["n"]

    results = await dispatch(calls(*"s" * COUNT), [function("s", in_thread)])
    assert begun == list(range(COUNT))
    assert [result.value for result in results] == begun


@pytest.mark.anyio
async def test_a_call_that_fails_before_it_begins_holds_up_nobody() -> None:
    """What the function cannot take is passed over."""
    begun: list[int] = []

    def decoded(given: dict[str, Any]) -> None:
        begun.append(given["n"])

    fine = function("fine", decoded)
    bad = create_callable_executor(
        name="bad",
        handler=decoded,
        parameters={"type": "object", "properties": {"n": {"type": "string"}}},
    )
    results = await dispatch(calls("fine", "bad", "fine"), [fine, bad])
    assert begun == [0, 2]
    assert [result.is_error for result in results] == [False, True, False]


def started(start: Start, begun: list[int], number: int) -> threading.Thread:
    """A thread that waits for its turn."""

    def run() -> None:
        if start.wait():
            begun.append(number)
            start.begin()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_places_that_are_left_are_passed_over() -> None:
    """The last begins once all before it have begun or will never, however many left."""
    line = Line()
    begun: list[int] = []
    first = line.join()
    between = [line.join() for _ in range(3000)]
    last = started(line.join(), begun, 2)
    for place in reversed(between):
        place.leave()
    assert begun == []
    started(first, begun, 1).join(10)
    last.join(10)
    assert begun == [1, 2]


def test_a_call_that_is_over_before_its_thread_waits() -> None:
    """It does not begin, and nobody overtakes those before it."""
    line = Line()
    begun: list[int] = []
    first, second, third = line.join(), line.join(), line.join()
    second.leave()
    started(second, begun, 2).join(10)
    assert not second.has_passed
    last = started(third, begun, 3)
    first.leave()
    last.join(10)
    assert begun == [3]
    assert second.has_passed


def test_without_anybody_before() -> None:
    """Nobody waits for a call that has begun."""
    line = Line()
    begun: list[int] = []
    started(line.join(), begun, 1).join(10)
    started(line.join(), begun, 2).join(10)
    assert begun == [1, 2]


@pytest.mark.anyio
async def test_a_thread_that_outlives_its_call_holds_up_nobody() -> None:
    """With room for one only, a call behind one that timed out runs at once, on both loops."""
    ended = threading.Event()
    slow = function("slow", lambda _: ended.wait(30), timeout=0.01)
    quick = function("quick", lambda given: given["n"])
    try:
        results: list[FunctionResult] = await dispatch(
            calls("slow", "quick"), [slow, quick], max_concurrency=1
        )
    finally:
        ended.set()
    assert [result.is_error for result in results] == [True, False]
    assert results[1].value == 1
