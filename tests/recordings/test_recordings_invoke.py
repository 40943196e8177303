"""Recorded exchanges on Bedrock's InvokeModel wire, with Claude."""

from __future__ import annotations

import pytest
from recordings.reading import Record, params
from recordings.reading_anthropic import read_wrapped
from recordings.replaying import check_error, check_stream, check_whole, plan_for


@pytest.mark.parametrize("record", params("bedrock.invoke", tag="m_anthropic"))
def test_recorded_answer(record: Record) -> None:
    """A recorded answer says the same read by hand, decoded, and streamed in pieces."""
    if record.status >= 300:
        check_error(record)
        return
    plan = plan_for(record, "anthropic_messages", {})
    if record.stream is None:
        check_whole(record, read_wrapped(record), plan)
    else:
        check_stream(record, read_wrapped(record), plan, "aws_chunks")
