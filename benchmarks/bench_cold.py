"""The first call of a process, from its start to its end.

    python benchmarks/bench_cold.py [--quick]

Fresh processes in turns, their whole CPU time: Python starts, imports, makes a client, calls once
and ends. The floor does so with httpx and msgspec.
"""

from __future__ import annotations

import sys

from canned_server import pinned, running
from clients import DEFAULT, FAST, HTTPX
from measuring import Effort, Row, main, make_row
from processes import FOLDER, in_turns

AIM = 1.2
PROGRAMS = {HTTPX: "bare", DEFAULT: "httpx", FAST: "fast"}


def rows(effort: Effort) -> list[Row]:
    """A row for each transport and loop."""
    found = []
    with running() as address, pinned(0):
        for loop in effort.loops:
            programs = {
                name: [str(FOLDER / "cold_program.py"), client, f"{address}/one", loop]
                for name, client in PROGRAMS.items()
            }
            costs = in_turns(programs, effort.rounds)
            for name in (DEFAULT, FAST):
                ratios = [
                    cost / floor for cost, floor in zip(costs[name], costs[HTTPX], strict=True)
                ]
                found.append(make_row("first call of a process", name, ratios, loop=loop, aim=AIM))
    return found


if __name__ == "__main__":
    sys.exit(main("cold first call", rows))
