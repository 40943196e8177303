"""One tool call, with 1, 32 and 256 calls in flight.

    python benchmarks/bench_call.py [--quick]

Ten functions and twelve messages go out, a call comes back and its arguments are decoded, over the
default and the fast transport, on asyncio and on trio. The floors send a body built beforehand.

With 32 and 256 in flight each client has as many connections open, as it has wherever an answer takes
time. Bare httpx would otherwise be now quick, now slow, by how few connections it happens to get along
with here, where answers take none.
"""

from __future__ import annotations

import sys

from canned_server import running
from filling import compare_filled
from measuring import Effort, Row, main, on_loops
from sequence import compare_in_sequence

AIMS = {1: (0.8, 0.25), 32: (0.25, 0.06), 256: (0.15, 0.03)}


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for in_flight in effort.sizes(AIMS):
        what, aims = f"one call, {in_flight} in flight", AIMS[in_flight]
        if in_flight == 1:
            found += await compare_in_sequence(address, what, effort, aims=aims)
        else:
            found += await compare_filled(
                address, what, effort, connections=in_flight, in_flight=in_flight, aims=aims
            )
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("one call", rows))
