"""Every recorded conversation, rebuilt step by step, becomes the recorded next request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from recordings.reading import Record, records
from recordings.rebuilding import (
    FILES,
    Rebuilding,
    as_events,
    is_within,
    pairs_of,
    stories,
    wire_of,
)


def _steps() -> list[Any]:
    found = [
        pytest.param(name, record, answers, id=record.id)
        for name in FILES
        for record, answers in _steps_of(name)
    ]
    if found:
        return found
    reason = "no recordings: LLM_TOOLS_RECORDINGS names no folder with them"
    return [pytest.param(None, None, None, marks=pytest.mark.skip(reason=reason))]


def _steps_of(name: str) -> Iterator[tuple[Record, dict[int, Record]]]:
    """The requests that go on after an answer, with the answers of their run by turn."""
    runs: dict[str, dict[int, Record]] = defaultdict(dict)
    for record in records(name):
        other_wire = name == "bedrock.invoke" and "m_anthropic" not in record.tags
        if record.status >= 300 or record.request is None or other_wire:
            continue
        turns = wire_of(name, record).turns(record.request)
        if any(turn.role == "result" and turn.id is None for turn in turns):
            continue  # its sender has calls and results written as text
        models = sum(turn.role == "model" for turn in turns)
        if models:
            yield record, dict(runs[record.run])
        runs[record.run][models] = as_events(record)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "record", "answers"), _steps())
async def test_the_next_request_is_rebuilt(
    name: str, record: Record, answers: dict[int, Record]
) -> None:
    """Each answer, kept in a dialogue, goes back with its ids, arguments, signatures and reasoning.

    Calls and results are the recorded ones. What must come back verbatim is all there and in
    place; more than the recorded sender sent back comes out of a recorded answer only.
    """
    rebuilding = Rebuilding(name, record, answers)
    ours = await rebuilding.turns()
    recorded, own = rebuilding.recorded, rebuilding.own
    assert pairs_of(ours, own) == pairs_of(recorded, own)
    stories_of_both = zip(stories(recorded), stories(ours), strict=True)
    for number, (told, retold) in enumerate(stories_of_both):
        assert is_within(told, retold)
        assert retold == told or number in rebuilding.from_answers
