"""One call that offers 1, 10, 100 and 500 functions.

    python benchmarks/bench_functions.py [--quick]

The functions are the same ones call after call, as a program's are. The floors encode the same body
for every call; nothing is checked or rewritten there.
"""

from __future__ import annotations

import sys

from canned_server import running
from measuring import Effort, Row, main, on_loops
from sequence import compare_in_sequence

COUNTS = (1, 10, 100, 500)


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for count in effort.sizes(COUNTS):
        what = f"one call, {count} function{'s' if count > 1 else ''}"
        found += await compare_in_sequence(address, what, effort, encoding=True, tools=count)
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("functions", rows))
