"""One call with a history of 10, 100 and 1,000 messages.

    python benchmarks/bench_history.py [--quick]

The messages are the same objects call after call, as a program's are that keeps its conversation.
The floors encode the same body for every call.
"""

from __future__ import annotations

import sys

from canned_server import running
from measuring import Effort, Row, main, on_loops
from sequence import compare_in_sequence

AIMS = {10: (None, None), 100: (None, None), 1000: (0.8, None)}


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for count in effort.sizes(AIMS):
        what = f"one call, {count:,} messages"
        found += await compare_in_sequence(
            address, what, effort, aims=AIMS[count], encoding=True, messages=count
        )
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("history", rows))
