"""A fair queue: who came first is served first."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE = 0.25
"""Seconds between two looks at whether a waiting client is still there."""


class Seats:
    """As many places as the engine can work on at once; the others wait in order of arrival."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._line: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def take(self, check_wanted: Callable[[], None]) -> Iterator[None]:
        """Hold a place; whatever `check_wanted` raises while waiting ends the wait."""
        self._wait(check_wanted)
        try:
            yield
        finally:
            self._leave()

    def _wait(self, check_wanted: Callable[[], None]) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn = threading.Event()
            self._line.append(turn)
        try:
            while not turn.wait(_PATIENCE):
                check_wanted()
        except BaseException:
            self._give_up(turn)
            raise

    def _give_up(self, turn: threading.Event) -> None:
        with self._lock:
            if turn in self._line:
                self._line.remove(turn)
                return
        self._leave()

    def _leave(self) -> None:
        """Hand the place to the next in line: nobody who comes now can overtake."""
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._free += 1
