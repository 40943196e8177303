"""One call while its client holds 0 to 512 idle connections.

    python benchmarks/bench_idle.py [--quick]

The connections are left by as many calls at once; then calls are made one after the other.
"""

from __future__ import annotations

import sys

from canned_server import running
from filling import compare_filled
from measuring import Effort, Row, main, on_loops

AIMS = {0: (None, None), 8: (None, None), 32: (None, None), 128: (None, None), 512: (0.02, 0.003)}


async def measure(address: str, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    found = []
    for idle in effort.sizes(AIMS):
        found += await compare_filled(
            address,
            f"one call, {idle} idle connections",
            effort,
            connections=idle,
            aims=AIMS[idle],
        )
    return found


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    with running() as address:
        return on_loops(measure, effort, address)


if __name__ == "__main__":
    sys.exit(main("one call beside idle connections", rows))
