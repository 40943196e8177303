"""Every bench measures: in its shortest form it gives a finite positive ratio for each client."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

import pytest
from canned_server import pinned
from clients import DEFAULT, FAST, HTTPX
from measuring import Effort, Row, compare, make_row, nothing_old_collected
from rendering import BENCHES, WHY_MISSED

FOLDER = Path(__file__).parents[2] / "benchmarks"
NAMES = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
LARGEST = {"inflight": 200, "pieces": 1_000}
"""Memory shows with some calls only, and the shortest stream has a thousand pieces."""
COMPARED = [HTTPX, DEFAULT, FAST]
CLIENTS = {
    "cold": [DEFAULT, FAST],
    "dispatch": ["llm_tools"],
    "encode": [
        *("anthropic_messages", "bedrock_converse", "gemini", "ollama"),
        *("openai_chat", "openai_responses"),
    ],
    "import": ["llm_tools"],
    "pieces": [DEFAULT, FAST, *(["openai"] if find_spec("openai") else [])],
}
BEYOND_LOOPS = {"encode", "import"}
IN_ONE_PROCESS = {"call", "dispatch", "functions", "history", "idle", "loop", "pieces", "stream"}


def measured(name: str, loop: str) -> list[Row]:
    effort = Effort(rounds=1, seconds=0.0, loops=(loop,), largest=LARGEST.get(name, 10))
    return import_module(f"bench_{name}").rows(effort)


def check(rows: list[Row]) -> None:
    for row in rows:
        numbers = [row.ratio, row.low, row.high, row.steady, row.aim]
        assert all(isfinite(one) and one > 0 for one in numbers if one is not None), row
        assert row.low <= row.ratio <= row.high


@pytest.mark.parametrize("name", NAMES)
def test_a_bench_measures(name: str) -> None:
    """Everybody who takes part has a row, and no row is there twice."""
    rows = measured(name, "asyncio")
    check(rows)
    clients = CLIENTS.get(name, COMPARED)
    assert sorted({row.client for row in rows}) == sorted(clients)
    assert {row.loop for row in rows} == ({""} if name in BEYOND_LOOPS else {"asyncio"})
    assert len({(row.work, row.client) for row in rows}) == len(rows)


@pytest.mark.parametrize("name", sorted(IN_ONE_PROCESS))
def test_a_bench_measures_on_trio(name: str) -> None:
    """As on asyncio."""
    rows = measured(name, "trio")
    check(rows)
    assert {row.loop for row in rows} == {"trio"}


def test_every_bench_has_a_place() -> None:
    """On the page, or it looks at growth and is named there."""
    page = (FOLDER.parent / "docs/explanation/performance.md").read_text()
    assert [name for name in NAMES if f"`bench_{name}.py`" not in page] == []
    assert set(NAMES) - set(BENCHES) == {"encode", "pieces"}
    assert set(WHY_MISSED) == set(BENCHES)


@pytest.mark.anyio
async def test_clients_are_compared_in_turns() -> None:
    """Each has a block a round, and the floor one more; what they do before a block is not lost."""
    done: list[str] = []

    def work(name: str) -> object:
        async def call() -> None:
            done.append(name)
            sum(range(2_000))

        return call

    names = (HTTPX, "sockets", DEFAULT, FAST)
    calls = {name: work(name) for name in names}
    before = {FAST: work("before")}
    effort = Effort(rounds=3, seconds=0.0)
    with nothing_old_collected():
        rows = await compare("nothing", calls, effort, aims=(0.5, 1e9), before=before)
    counted = [name for name in done if name != "before"]
    blocks = counted[4:]  # the first call of each finds out how many fill a block
    assert blocks[0] == blocks[4] == blocks[8] == blocks[12] == HTTPX
    assert [sorted(blocks[start : start + 3]) for start in (1, 5, 9)] == [
        sorted(names[1:]) for _ in range(3)
    ]
    assert done.count("before") == 4
    assert all(done[place + 1] == FAST for place, name in enumerate(done) if name == "before")
    assert [row.client for row in rows] == [DEFAULT, FAST, HTTPX]
    assert [row.aim for row in rows] == [0.5, 1e9, None]
    assert rows[1].is_missed is False


def test_a_row_holds_the_median_and_the_quartiles() -> None:
    """And says whether it misses its aim."""
    row = make_row("work", "client", [4.0, 1.0, 3.0, 2.0, 5.0], aim=2.5)
    assert (row.low, row.ratio, row.high) == (1.5, 3.0, 4.5)
    assert row.is_missed
    assert not make_row("work", "client", [2.5], aim=2.5).is_missed
    assert not make_row("work", "client", [9.0]).is_missed


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_a_pinned_process_is_free_again() -> None:
    """A bench leaves the process that calls it on the cores it had."""
    cores = os.sched_getaffinity(0)
    with pinned(0):
        assert os.sched_getaffinity(0) == {min(cores)}
    assert os.sched_getaffinity(0) == cores
