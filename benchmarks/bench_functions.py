"""One call that offers 1, 10, 100 and 500 functions.

    python benchmarks/bench_functions.py [--quick]

The functions are the same ones call after call, as a program's are. The floors encode the same body
for every call; nothing is checked or rewritten there.
"""

from __future__ import annotations

import sys

import agent_work
from canned_server import running
from clients import opened
from measuring import Effort, Row, compare, main, on_loops

COUNTS = (1, 10, 100, 500)


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for count in effort.sizes(COUNTS):
        async with opened(f"{address}/one", tools=count) as (floors, ours):
            calls = {name: client.call_encoding for name, client in floors.items()} | {
                name: client.call for name, client in ours.items()
            }
            for call in calls.values():
                assert await call() == [agent_work.CALL]
            plural = "s" if count > 1 else ""
            found += await compare(f"one call, {count} function{plural}", calls, effort)
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("functions", rows))
