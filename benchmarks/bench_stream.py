"""One streamed call, its arguments in 200 pieces; every event is read.

    python benchmarks/bench_stream.py [--quick]

The pieces come as fast as they are read, each in an HTTP chunk of its own. The floors split what
comes into events, decode each and join the pieces. `bench_pieces.py` has much longer streams.
"""

from __future__ import annotations

import sys

import agent_work
from canned_server import running
from clients import opened
from measuring import Effort, Row, compare, main, on_loops

AIMS = (1.0, 0.35)


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    async with opened(f"{address}/stream") as (floors, ours):
        calls = {name: client.stream for name, client in {**floors, **ours}.items()}
        for call in calls.values():
            assert await call() == [agent_work.STREAMED_CALL]
        work = f"one stream, {agent_work.DELTAS} pieces"
        return await compare(work, calls, effort, aims=AIMS)


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("stream", rows))
