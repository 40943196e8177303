"""A thousand calls at once through `dispatch`, against a bare task group doing the same.

    python benchmarks/bench_dispatch.py [--quick]

The floor starts one task a call in an `anyio` task group, calls the same asynchronous function with
the same numbers and keeps the value. `dispatch` also finds the function, checks the input, keeps
call order, isolates errors and makes a result. What it may cost at most is so much CPU time per call
on top of the floor's.
"""

from __future__ import annotations

import gc
import sys
from statistics import median
from time import process_time
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from measuring import Effort, Row, Work, main, make_row, on_loops

from llm_tools import OutputResultFunctionUse, create_callable_executor, dispatch, tool

COUNT = 1_000
AIM = 60e-6
"""Seconds of CPU per call on top of the floor."""

CALLS = [
    OutputResultFunctionUse(name="add", input={"a": n, "b": 1}, function_id=f"call_{n}")
    for n in range(COUNT)
]


async def add(a: int, b: int) -> int:
    """Add two numbers, after giving the loop a turn."""
    await checkpoint()
    return a + b


async def add_of(value: dict[str, int]) -> int:
    """The same, of the whole input."""
    return await add(value["a"], value["b"])


TYPED = tool(add)
TIMED = tool(timeout=60)(add)
GROUPED = tool(max_concurrency=COUNT)(add)
DESCRIBED = create_callable_executor(
    name="add",
    description="Add two numbers.",
    parameters=TYPED.definition.parameters,
    handler=add_of,
)


async def bare() -> list[int]:
    """The floor."""
    values = [0] * COUNT

    async def one(index: int, value: dict[str, Any]) -> None:
        values[index] = await add(value["a"], value["b"])

    async with anyio.create_task_group() as tasks:
        for index, call in enumerate(CALLS):
            tasks.start_soon(one, index, call.input)
    return values


def through(function: Any, max_concurrency: int = COUNT) -> Work:
    """A dispatch of all calls to one function."""

    async def work() -> list[Any]:
        return await dispatch(CALLS, [function], max_concurrency=max_concurrency)

    return work


OTHERS: dict[str, Work] = {
    "a typed function": through(TYPED),
    "32 at a time": through(TYPED, 32),
    "with a timeout": through(TIMED),
    "with a limit of its own": through(GROUPED),
    "input checked by jsonschema": through(DESCRIBED),
}


async def measure(effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    assert [result.content for result in await OTHERS["a typed function"]()] == await bare()
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in OTHERS}
    for _ in range(effort.rounds):
        for name, work in OTHERS.items():
            costs[name].append((await _cpu(work), await _cpu(bare)))
    floor = median(bare for found in costs.values() for _, bare in found)
    return [
        make_row(
            f"dispatch, {name}",
            "llm_tools",
            [cost / bare for cost, bare in found],
            aim=1 + AIM * COUNT / floor,
            aim_text=f"{AIM * 1e6:.0f} us of CPU on top",
        )
        for name, found in costs.items()
    ]


async def _cpu(work: Work) -> float:
    gc.collect()
    began = process_time()
    await work()
    return process_time() - began


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    return on_loops(measure, effort)


if __name__ == "__main__":
    sys.exit(main("dispatch", rows))
