"""Work of a known number of events, for the tests of the counting itself."""

from __future__ import annotations

import os
from collections.abc import Callable


def step() -> None:
    """One event: itself."""


def steps(count: int) -> Callable[[], None]:
    """Work that is `count` events."""

    def work() -> None:
        for _ in range(count - 1):
            step()

    return work


def call_out() -> None:
    """Three events: itself, a function of a library, which calls others, and one written in C."""
    os.path.join("a", "b")
    len("a")
