"""One call with a history of 10, 100 and 1,000 messages.

    python benchmarks/bench_history.py [--quick]

The messages are the same objects call after call, as a program's are that keeps its conversation.
The floors encode the same body for every call.
"""

from __future__ import annotations

import sys

import agent_work
from canned_server import running
from clients import opened
from measuring import Effort, Row, compare, main, on_loops

AIMS = {10: (None, None), 100: (None, None), 1000: (0.8, None)}


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for count in effort.sizes(AIMS):
        async with opened(f"{address}/one", messages=count) as (floors, ours):
            calls = {name: client.call_encoding for name, client in floors.items()} | {
                name: client.call for name, client in ours.items()
            }
            for call in calls.values():
                assert await call() == [agent_work.CALL]
            found += await compare(f"one call, {count:,} messages", calls, effort, aims=AIMS[count])
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("history", rows))
