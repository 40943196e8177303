"""Connections that are open before the clock starts, as they are wherever answers take time.

That many calls at once, answered when all of them are in flight, leave as many connections behind.
Bare httpx keeps its own for the whole measurement; ours close after five idle seconds and are opened
again before a block.
"""

from __future__ import annotations

from time import monotonic

import agent_work
from clients import opened
from measuring import Effort, Row, Work, compare, together

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


async def compare_filled(
    address: str,
    what: str,
    effort: Effort,
    *,
    connections: int,
    in_flight: int = 1,
    aims: tuple[float | None, float | None] = (None, None),
) -> list[Row]:
    """The rows of one call, where each client has this many connections open."""
    async with (
        opened(f"{address}/all/{connections}", idle=600, topic="filling") as (
            filling,
            filling_ours,
        ),
        opened(f"{address}/one") as (_, ours),
    ):
        floors = {name: client.towards(f"{address}/one") for name, client in filling.items()}
        calls = {name: client.call for name, client in {**floors, **ours}.items()}
        for call in calls.values():
            assert await call() == [agent_work.CALL]
        before = {
            name: Filling(client.call, connections, 600 if name in floors else _KEPT)
            for name, client in {**filling, **filling_ours}.items()
        }
        return await compare(what, calls, effort, in_flight=in_flight, aims=aims, before=before)
