"""What a call costs is recorded, in numbers that do not depend on the machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from performance.comparing import RECORD, RENEW, Costs, complaints, read_costs, write_costs
from performance.counting import PACKAGE, Events, counted, middle, peak_of
from performance.made.steps import call_out, steps

from llm_tools import use_llm

HERE = Path(__file__).parent
pinned = pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11),
    reason="costs are recorded on CPython 3.11: every version has events of its own",
)


@pinned
@pytest.mark.timeout(300)
def test_nothing_got_dearer(run_python: Callable[..., str]) -> None:
    """No piece of work costs a tenth more than recorded; nor less, for then the record is old."""
    found = read_costs(run_python(str(HERE / "record.py"), "--print"))
    told = complaints(read_costs(RECORD.read_text("utf-8")), found)
    assert not told, "\n".join(["", *told])


def test_the_record_is_as_it_would_be_written() -> None:
    """Nobody changed it by hand."""
    text = RECORD.read_text("utf-8")
    assert write_costs(read_costs(text)) == text


# ---------------------------------------------------------------- the guard itself


def costs_of(work: Callable[[], Any], home: str = PACKAGE) -> Costs:
    """The events of one piece of work, after a warm-up.

    Not its bytes: only a process of its own allocates the same each time.
    """
    work()
    with counted(home) as events:
        work()
    return Costs(
        events={"a call": events.total()},
        bytes={},
        functions={function: {"a call": count} for function, count in events.items()},
    )


def test_a_call_made_dearer_is_caught() -> None:
    """A function of ours that is called more often than before is named."""
    llm = use_llm("openai.gpt-4o-mini", api_key="sk-cost")

    def work() -> None:
        llm.build_request("Hi")

    def dearer() -> None:
        llm.build_request("Hi")
        for _ in range(60):
            llm.options  # noqa: B018 - reading it is one event

    recorded, found = costs_of(work), costs_of(dearer)
    assert complaints(recorded, costs_of(work)) == []
    before = recorded.events["a call"]
    assert complaints(recorded, found) == [
        f"a call: {before} events became {before + 60} ({60 / before:+.0%}).\n"
        "  +60 events: llm.py:Llm.options",
        f"If that is how it has to be, renew the record: {RENEW}",
    ]


HOME = str(HERE / "made") + os.sep


@pytest.mark.parametrize("count", [90, 100, 110])
def test_a_tenth_is_let_pass(count: int) -> None:
    """Up and down."""
    assert complaints(costs_of(steps(100), HOME), costs_of(steps(count), HOME)) == []


def test_more_than_a_tenth_is_told_with_its_functions() -> None:
    """By how much, and where."""
    assert complaints(costs_of(steps(100), HOME), costs_of(steps(111), HOME)) == [
        "a call: 100 events became 111 (+11%).\n  +11 events: steps.py:step",
        f"If that is how it has to be, renew the record: {RENEW}",
    ]


def test_a_record_that_fell_behind_is_told() -> None:
    """Else it would let the next growth pass."""
    assert complaints(costs_of(steps(100), HOME), costs_of(steps(89), HOME)) == [
        "a call: 100 events became 89 (-11%). "
        "That is good; the record must say so, or it hides what comes after.",
        f"If that is how it has to be, renew the record: {RENEW}",
    ]


def test_memory_held_is_told() -> None:
    """Bytes as well as events."""
    held = [peak_of(lambda size=size: b"x" * size) for size in (10_000_000, 12_000_000)]
    assert [round(size, -6) for size in held] == [10_000_000, 12_000_000]
    some, other = [Costs(events={}, bytes={"a call": size}, functions={}) for size in held]
    (told, _) = complaints(some, other)
    assert told == f"a call: {held[0]} bytes became {held[1]} (+20%)."


def test_pieces_of_work_that_come_and_go_are_told() -> None:
    """The record lists what there is."""
    some = Costs(events={"old": 1, "both": 1}, bytes={}, functions={})
    other = Costs(events={"new": 1, "both": 1}, bytes={}, functions={})
    assert complaints(some, other)[:-1] == [
        "new: events are not recorded.",
        "old: events are no more counted.",
    ]


def test_calls_out_are_ours_and_what_happens_there_is_not() -> None:
    """A call into a library is one event of the caller, however deep it goes on."""

    with counted(HOME) as events:
        call_out()
    assert events == {"steps.py:call_out": 3}


def test_the_middle_run_counts() -> None:
    """One with a hiccup is not it."""
    runs = [Events(a=5), Events(a=90), Events(a=4)]
    assert middle(runs) == {"a": 5}
