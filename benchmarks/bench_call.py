"""One tool call, with 1, 32 and 256 calls in flight.

    python benchmarks/bench_call.py [--quick]

Ten functions and twelve messages go out, a call comes back and its arguments are decoded, over the
default and the fast transport, on asyncio and on trio. The floors send a body built beforehand.

With 32 and 256 in flight httpx's pool is bistable: now quick, now slow, depending on how many
connections happen to be open. Its spread is printed, and each ratio to the sockets as well.
"""

from __future__ import annotations

import sys

import agent_work
from canned_server import running
from clients import opened
from measuring import Effort, Row, compare, main, on_loops

AIMS = {1: (0.8, 0.25), 32: (0.25, 0.06), 256: (0.15, 0.03)}


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    async with opened(f"{address}/one") as (floors, ours):
        calls = {name: client.call for name, client in {**floors, **ours}.items()}
        for call in calls.values():
            assert await call() == [agent_work.CALL]
        for in_flight in effort.sizes(AIMS):
            found += await compare(
                f"one call, {in_flight} in flight",
                calls,
                effort,
                in_flight=in_flight,
                aims=AIMS[in_flight],
            )
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("one call", rows))
