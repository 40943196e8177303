"""A loop of two requests: a call, its function run by `dispatch`, its result sent, a text.

    python benchmarks/bench_loop.py [--quick]

The floors send two prebuilt bodies and run nothing.
"""

from __future__ import annotations

import sys

import agent_work
from canned_server import running
from clients import opened
from measuring import Effort, Row, compare, main, on_loops

AIMS = (0.9, 0.35)


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    async with opened(f"{address}/loop") as (floors, ours):
        calls = {name: client.two_calls for name, client in floors.items()} | {
            name: client.loop for name, client in ours.items()
        }
        for call in (*calls.values(), *[client.loop for client in floors.values()]):
            assert await call() == agent_work.TEXT
        return await compare("loop of two requests, with dispatch", calls, effort, aims=AIMS)


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("loop", rows))
