"""What importing costs, over bare Python.

    python benchmarks/bench_import.py [--quick]

Fresh processes in turns, their whole CPU time. The floor imports what every such library stands on:
httpx, msgspec and anyio. From each is taken what Python takes that imports nothing.
"""

from __future__ import annotations

import sys
from statistics import median

from canned_server import pinned
from measuring import Effort, Row, main, make_row
from processes import in_turns

BARE = "bare Python"
FLOOR = "import httpx, msgspec, anyio"
OURS = ("import llm_tools", "from llm_tools import use_llm, create_llm_executor")
AIM = 0.100
"""Seconds of CPU over bare Python."""


def rows(effort: Effort) -> list[Row]:
    """A row for each way of importing."""
    programs = {BARE: ["-c", "pass"]} | {text: ["-c", text] for text in (FLOOR, *OURS)}
    with pinned(0):
        costs = in_turns(programs, 2 * effort.rounds + 1)
    bare = median(costs[BARE])
    floor = median(costs[FLOOR]) - bare
    return [
        make_row(
            f"`{text}`",
            "llm_tools",
            [(cost - bare) / floor for cost in costs[text]],
            aim=AIM / floor,
            aim_text=f"{AIM * 1000:.0f} ms of CPU",
        )
        for text in OURS
    ]


if __name__ == "__main__":
    sys.exit(main("import", rows))
