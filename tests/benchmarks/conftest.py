"""The benches import each other by their bare names, as they do when they are run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if str(BENCHMARKS) not in sys.path:
    sys.path.insert(0, str(BENCHMARKS))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The server of canned answers."""
    from canned_server import running

    with running() as found:
        yield found
