"""A thousand calls at once through `dispatch`, against a bare task group doing the same.

    python benchmarks/bench_dispatch.py [--quick]

The floor starts one task a call in an `anyio` task group, calls the same asynchronous function with
the same numbers and keeps the value. `dispatch` also finds the function, checks the input, keeps
call order, isolates errors and makes a result. Blocks of both take turns in one run; printed are the
ratio, and the CPU time of the process that `dispatch` takes per call on top of the floor's.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Awaitable, Callable
from statistics import median
from time import process_time
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from llm_tools import OutputResultFunctionUse, create_callable_executor, dispatch, tool

COUNT = 1_000
AIM = 60.0  # microseconds of CPU per call on top of the floor

Work = Callable[[], Awaitable[Any]]

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
    "the same, 32 at a time": through(TYPED, 32),
    "the same, with a timeout": through(TIMED),
    "the same, with a limit of its own": through(GROUPED),
    "a handler, its input validated by jsonschema": through(DESCRIBED),
}


async def measure(rounds: int) -> dict[str, tuple[float, float]]:
    """By name: the ratio, and microseconds per call on top of the floor."""
    assert [result.content for result in await OTHERS["a typed function"]()] == await bare()
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in OTHERS}
    for _ in range(rounds):
        for name, work in OTHERS.items():
            floor = await _cpu(bare)
            costs[name].append((floor, await _cpu(work)))
    return {
        name: (
            median(cost / floor for floor, cost in found),
            median((cost - floor) / COUNT * 1e6 for floor, cost in found),
        )
        for name, found in costs.items()
    }


async def _cpu(work: Work) -> float:
    gc.collect()
    began = process_time()
    await work()
    return process_time() - began


def main() -> int:
    """Print the table; 1 where something takes longer than it may."""
    rounds = 5 if "--quick" in sys.argv else 25
    missed = 0
    print(f"{COUNT} calls at once through dispatch; CPU per call on top of a bare task group")
    for loop in ("asyncio", "trio"):
        for name, (ratio, extra) in anyio.run(measure, rounds, backend=loop).items():
            verdict = "" if extra < AIM else "  MISSED"
            missed += extra >= AIM
            print(
                f"  {f'{name}, {loop}':<58} {ratio:5.2f} x  {extra:6.1f} us  aim {AIM:g}{verdict}"
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
