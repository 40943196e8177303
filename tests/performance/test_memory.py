"""Many calls leave nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = str(Path(__file__).with_name("memory.py"))
CALLS = 3_000
MOST_BYTES = 10_000
MOST_OBJECTS = 30
"""What may be there afterwards: less than a pointer, or an object in a hundred, for each call."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("transport", ["httpx", "fast"])
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_calls_leave_nothing_behind(
    run_python: Callable[..., str], loop: str, transport: str
) -> None:
    """Neither bytes nor objects, of conversations known and new."""
    left = json.loads(run_python(SCRIPT, str(CALLS), loop, transport))
    assert left["calls"] == CALLS
    assert left["bytes"] < MOST_BYTES
    assert left["objects"] < MOST_OBJECTS
