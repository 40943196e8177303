"""What the Responses wire gave is what it gets back."""

from __future__ import annotations

from typing import Any

import pytest
from recordings.reading import Record, params, sse_payloads
from recordings.replaying import plan_for, stream

from llm_tools.content import Message, OutputResultRefusal
from llm_tools.spec import Call


@pytest.mark.parametrize("record", params("openai.responses", "other.responses", errors=False))
def test_items_are_replayed_verbatim(record: Record) -> None:
    """The items of a recorded answer go back as they came, in order, streamed or not."""
    plan = plan_for(record, "openai_responses", {})
    if record.stream is None:
        items = record.body["output"]
        result = plan.target.dialect.decode(plan, record.body_bytes, record.headers)
    else:
        items = _ended_items(record.stream)
        _, result = stream(record, plan, "sse", 0)
    user = Message(role="user", content="Hi")
    turn = Message(role="assistant", content=result.content)
    encoded = plan.target.dialect.encode(plan.target, Call(messages=(user, turn)))
    replayed = encoded.body["input"][1:]
    if any(isinstance(part, OutputResultRefusal) for part in result.content):
        assert [item["role"] for item in replayed] == ["assistant"]
    elif result.stop_reason == "length":
        assert replayed == []
    else:
        assert replayed == items


def _ended_items(stream: bytes) -> list[Any]:
    ended = [e for e in sse_payloads(stream) if e["type"] == "response.output_item.done"]
    return [event["item"] for event in sorted(ended, key=lambda event: event["output_index"])]
