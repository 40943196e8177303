"""Recorded exchanges on Ollama's own chat wire."""

from __future__ import annotations

import pytest
from recordings.reading import Record, params
from recordings.reading_ollama import read
from recordings.replaying import check_error, check_stream, check_whole, plan_for


@pytest.mark.parametrize("record", params("ollama.chat"))
def test_recorded_answer(record: Record) -> None:
    """A recorded answer says the same read by hand, decoded, and streamed in pieces."""
    if record.status >= 300:
        check_error(record)
        return
    plan = plan_for(record, "ollama", {})
    if record.stream is None:
        check_whole(record, read(record), plan)
    else:
        check_stream(record, read(record), plan, "ndjson")
