"""Blocks of calls, taken in turns with their floors, and the ratios of their CPU time.

All figures are CPU time of this process (all its threads, user and system), never wall time, and are
told as ratios to the floor's blocks before and after in the same run: median and quartiles. Client
and server have a core each, where there are two.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median, quantiles
from time import process_time
from typing import Any, NamedTuple

import anyio
import msgspec
from canned_server import pinned
from clients import DEFAULT, FAST, HTTPX, SOCKETS
from msgspec import Struct

Work = Callable[[], Awaitable[Any]]

_SLOW = 2.0
"""CPU seconds that a block of the floor may take before the rounds become few."""
_FEW = 2


class Effort(NamedTuple):
    """How long to measure.

    Attributes:
        rounds: how often each client has a block of calls.
        seconds: CPU time a block is to take.
        loops: the event loops to measure on.
        largest: no size above it is measured: of calls in flight, connections, messages, functions.
    """

    rounds: int
    seconds: float
    loops: tuple[str, ...] = ("asyncio", "trio")
    largest: int = 1_000_000

    def sizes(self, sizes: Iterable[int]) -> list[int]:
        """Those of the sizes that are measured."""
        return [size for size in sizes if size <= self.largest]


FULL = Effort(rounds=7, seconds=0.08)
QUICK = Effort(rounds=3, seconds=0.04)


class Row(Struct, omit_defaults=True):
    """One ratio.

    Attributes:
        work: what is done.
        client: who does it.
        ratio: its cost as a share of its floor's, the median of all rounds.
        low: the lower quartile.
        high: the upper quartile.
        loop: the event loop; empty where there is none.
        steady: the same cost as a share of the socket floor's.
        aim: the ratio that is not to be exceeded.
        aim_text: how the aim is spelled, where it is not spelled as a ratio.
        figure: what else was measured, with its unit.
    """

    work: str
    client: str
    ratio: float
    low: float
    high: float
    loop: str = ""
    steady: float | None = None
    aim: float | None = None
    aim_text: str = ""
    figure: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether there is an aim, and it is exceeded."""
        return self.aim is not None and self.ratio > self.aim

    def __str__(self) -> str:
        name = ", ".join(part for part in (self.work, self.client, self.loop) if part)
        aim = f"  aim {self.aim_text or f'{self.aim:g}'}" if self.aim is not None else ""
        steady = f"  {self.steady:.2f} x sockets" if self.steady is not None else ""
        more = f"  {self.figure}" if self.figure else ""
        missed = "  MISSED" if self.is_missed else ""
        return f"{name:<62} {self.ratio:7.3f}  [{self.low:.3f} to {self.high:.3f}]{steady}{more}{aim}{missed}"


def make_row(work: str, client: str, ratios: Sequence[float], **more: Any) -> Row:
    """A row of the ratios of all rounds."""
    low, middle, high = (
        quantiles(ratios, n=4) if len(ratios) > 2 else (min(ratios), median(ratios), max(ratios))
    )
    return Row(work=work, client=client, ratio=middle, low=low, high=high, **more)


async def compare(
    work: str,
    calls: Mapping[str, Work],
    effort: Effort,
    *,
    in_flight: int = 1,
    aims: tuple[float | None, float | None] = (None, None),
    before: Mapping[str, Work] | None = None,
) -> list[Row]:
    """The CPU time per call of each client, as shares of bare httpx's and of the socket floor's.

    The last row is bare httpx's own, as a share of its median.

    Args:
        work: what is done, for the rows.
        calls: one call of each client, by its name; bare httpx and the socket floor are among them.
        effort: how long to measure.
        in_flight: how many calls are always on their way.
        aims: what the default and the fast transport are aimed to stay under.
        before: what each client does before a block, outside the clock.
    """
    ready = dict(before or {})
    counts = {}
    for name, call in calls.items():
        await _prepare(name, ready)
        counts[name] = await _calibrate(call, in_flight, effort.seconds)

    async def block(name: str) -> float:
        await _prepare(name, ready)
        return await _block(calls[name], in_flight, counts[name], warm=name not in ready)

    floors = [await block(HTTPX)]
    costs: dict[str, list[float]] = {name: [] for name in calls if name != HTTPX}
    slow = floors[0] * counts[HTTPX] > _SLOW
    for number in range(min(effort.rounds, _FEW) if slow else effort.rounds):
        names = list(costs)
        random.Random(number).shuffle(names)
        for name in names:
            costs[name].append(await block(name))
        floors.append(await block(HTTPX))
    near = [(one + other) / 2 for one, other in zip(floors, floors[1:], strict=False)]
    sockets = costs.pop(SOCKETS)
    limits = dict(zip((DEFAULT, FAST), aims, strict=True))
    rows = [
        make_row(
            work,
            name,
            _ratios(found, near),
            steady=median(_ratios(found, sockets)),
            aim=limits[name],
        )
        for name, found in costs.items()
    ]
    spread = [cost / median(floors) for cost in floors]
    steady = median(_ratios(near, sockets))
    return [*rows, make_row(work, HTTPX, spread, steady=steady)]


def _ratios(costs: Sequence[float], floors: Sequence[float]) -> list[float]:
    return [cost / floor for cost, floor in zip(costs, floors, strict=True)]


async def _prepare(name: str, ready: Mapping[str, Work]) -> None:
    if name in ready:
        await ready[name]()


async def _calibrate(call: Work, in_flight: int, seconds: float) -> int:
    """How many calls take about `seconds`, and connections opened for them."""
    cost = await _block(call, in_flight, in_flight)
    if cost * in_flight < seconds:
        cost = await _block(call, in_flight, 3 * in_flight)
    return max(in_flight, int(seconds / cost))


async def _block(call: Work, in_flight: int, count: int, *, warm: bool = True) -> float:
    """CPU seconds per call; `warm` where nothing else has opened the connections."""
    each = max(1, count // in_flight)

    async def some() -> None:
        for _ in range(each):
            await call()

    if (
        in_flight > 1 and warm
    ):  # connections that expired meanwhile are opened before the clock starts
        await together(call, in_flight)
    gc.collect()
    began = process_time()
    if in_flight == 1:
        await some()
    else:
        await together(some, in_flight)
    return (process_time() - began) / (each * in_flight)


async def together(work: Work, count: int) -> None:
    """Do it so many times at once."""
    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(work)


def on_loops(
    measure: Callable[..., Awaitable[list[Row]]], effort: Effort, *arguments: Any
) -> list[Row]:
    """The rows of `measure(*arguments, effort)` on each loop."""
    with pinned(0), nothing_old_collected():
        return [
            msgspec.structs.replace(row, loop=loop)
            for loop in effort.loops
            for row in anyio.run(measure, *arguments, effort, backend=loop)
        ]


@contextmanager
def nothing_old_collected() -> Iterator[None]:
    """Collections pass over what is there already: each block pays for its own garbage alone."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def main(title: str, rows: Callable[[Effort], list[Row]]) -> int:
    """What every bench does when it is run; 1 where an aim is missed.

    `--quick` measures shortly. `--json` prints the rows as JSON, for `run_all.py`.
    """
    found = rows(QUICK if "--quick" in sys.argv else FULL)
    if "--json" in sys.argv:
        sys.stdout.buffer.write(msgspec.json.encode(found))
        return 0
    print(f"{title}: cost as a share of the floor's, median and quartiles")
    for row in found:
        print(f"  {row}")
    return int(any(row.is_missed for row in found))
