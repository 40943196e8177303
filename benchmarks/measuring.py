"""Blocks of calls, taken in turns with their floor, and the ratios of their CPU time.

All figures are CPU time of this process (all its threads, user and system), never wall time, and are
told as ratios to the floor's blocks before and after in the same run: median and quartiles. Client
and server have a core each, where there are two.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median, quantiles
from time import process_time
from typing import Any, NamedTuple

import anyio
from canned_server import pin

Work = Callable[[], Awaitable[Any]]


class Row(NamedTuple):
    """One ratio: its median and quartiles over the rounds, and what is aimed at."""

    what: str
    ratio: float
    low: float
    high: float
    aim: float | None = None

    def __str__(self) -> str:
        verdict = (
            ""
            if self.aim is None
            else f"  aim {self.aim:g}{'' if self.ratio <= self.aim else '  MISSED'}"
        )
        return f"{self.what:<58} {self.ratio:8.3f}  [{self.low:.3f} to {self.high:.3f}]{verdict}"


async def compare(
    floor: Work,
    others: Mapping[str, Work],
    *,
    in_flight: int = 1,
    rounds: int = 7,
    seconds: float = 0.15,
    most: int = 2000,
    aims: Mapping[str, float] | None = None,
) -> list[Row]:
    """Ratios of each other's CPU per call to the floor's, block by block in turns.

    Args:
        floor: one call of the floor.
        others: one call each, by name.
        in_flight: how many calls are always on their way.
        rounds: how often each has a block; the floor has one before and one after each round.
        seconds: CPU time a block is to take.
        most: calls in one block at most.
        aims: what each is aimed to stay under.
    """
    counts = {
        name: await _calibrate(work, in_flight, seconds, most)
        for name, work in {"": floor, **others}.items()
    }
    ratios: dict[str, list[float]] = {name: [] for name in others}
    floors: list[float] = [await _block(floor, in_flight, counts[""])]
    found: list[tuple[str, int, float]] = []
    for number in range(rounds):
        names = list(others)
        random.Random(number).shuffle(names)
        for name in names:
            found.append((name, len(floors), await _block(others[name], in_flight, counts[name])))
        floors.append(await _block(floor, in_flight, counts[""]))
    # Above a few in flight httpx's pool is now fast, now slow: the floor is its median there.
    steady = median(floors)
    for name, place, cost in found:
        near = (floors[place - 1] + floors[place]) / 2 if in_flight < 16 else steady
        ratios[name].append(cost / near)
    return [_row(name, values, (aims or {}).get(name)) for name, values in ratios.items()]


def _row(name: str, values: Sequence[float], aim: float | None) -> Row:
    low, middle, high = (
        quantiles(values, n=4) if len(values) > 2 else (min(values), median(values), max(values))
    )
    return Row(name, middle, low, high, aim)


async def _calibrate(work: Work, in_flight: int, seconds: float, most: int) -> int:
    """How many calls take about `seconds`, and connections opened for them."""
    await _block(work, in_flight, in_flight)
    cost = await _block(work, in_flight, 2 * in_flight)
    return max(in_flight, min(most, int(seconds / cost)))


async def _block(work: Work, in_flight: int, count: int) -> float:
    """CPU seconds per call."""
    each = max(1, count // in_flight)

    async def some() -> None:
        for _ in range(each):
            await work()

    if in_flight > 1:  # connections that expired meanwhile are opened before the clock starts
        async with anyio.create_task_group() as group:
            for _ in range(in_flight):
                group.start_soon(work)
    gc.collect()
    began = process_time()
    if in_flight == 1:
        await some()
    else:
        async with anyio.create_task_group() as group:
            for _ in range(in_flight):
                group.start_soon(some)
    return (process_time() - began) / (each * in_flight)


def run_all(
    measure: Callable[..., Awaitable[list[Row]]],
    *arguments: Any,
    loops: Sequence[str] = ("asyncio", "trio"),
) -> list[Row]:
    """The rows of a measurement on each loop, with the loop in their names."""
    pin(0, 0)
    return [
        row._replace(what=f"{row.what}, {loop}")
        for loop in loops
        for row in anyio.run(measure, *arguments, backend=loop)
    ]


def show(title: str, rows: Sequence[Row]) -> int:
    """Print the rows; 1 where one misses its aim."""
    print(f"{title}: CPU as a share of the floor's, median and quartiles")
    for row in rows:
        print(f"  {row}")
    sys.stdout.flush()
    return int(any(row.aim is not None and row.ratio > row.aim for row in rows))
