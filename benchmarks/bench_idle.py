"""One call while its client holds 0 to 512 idle connections.

    python benchmarks/bench_idle.py [--quick]

That many calls at once, answered when all are in flight, leave as many connections behind; then
calls are made one after the other. Bare httpx keeps its connections for the whole measurement; ours close
after five idle seconds and are opened again before a block, outside the clock.
"""

from __future__ import annotations

import sys
from time import monotonic

import agent_work
from canned_server import running
from clients import opened
from measuring import Effort, Row, Work, compare, main, on_loops, together

AIMS = {0: (None, None), 8: (None, None), 32: (None, None), 128: (None, None), 512: (0.02, 0.003)}
_KEPT = 3.0
"""Seconds for which all of a pool's connections are surely there."""


class Filling:
    """Opens connections, as many as calls are in flight at once, unless they are there."""

    def __init__(self, call: Work, count: int, kept: float) -> None:
        self._call = call
        self._count = count
        self._kept = kept
        self._filled = float("-inf")

    async def __call__(self) -> None:
        if monotonic() - self._filled > self._kept:
            await together(self._call, self._count)
            self._filled = monotonic()


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for idle in effort.sizes(AIMS):
        async with (
            opened(f"{address}/all/{idle}", idle=600, topic="filling") as (filling, filling_ours),
            opened(f"{address}/one") as (_, ours),
        ):
            floors = {name: client.towards(f"{address}/one") for name, client in filling.items()}
            calls = {name: client.call for name, client in {**floors, **ours}.items()}
            for call in calls.values():
                assert await call() == [agent_work.CALL]
            before = {
                name: Filling(client.call, idle, 600 if name in floors else _KEPT)
                for name, client in {**filling, **filling_ours}.items()
            }
            found += await compare(
                f"one call, {idle} idle connections", calls, effort, aims=AIMS[idle], before=before
            )
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("one call beside idle connections", rows))
