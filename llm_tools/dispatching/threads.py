"""Calls of sync functions in worker threads, which nothing can stop."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from threading import Lock
from typing import Any

from anyio import CapacityLimiter, to_thread

from ..callables import CallableExecutor
from .starting import Start


class _State(Enum):
    WAITING = auto()
    RUNNING = auto()
    ENDED = auto()
    DROPPED = auto()


class _Dropped(Exception):  # noqa: N818 - no error, and nobody sees it
    """The call ended before its function began."""


class ThreadCall:
    """One call in a worker thread; it may outlive the task that waits for it.

    `start` is its place among the others.
    """

    __slots__ = ("_function", "_input", "_lock", "_start", "_state", "_then")

    def __init__(self, function: CallableExecutor, value: dict[str, Any], start: Start) -> None:
        self._function = function
        self._input = value
        self._start = start
        self._lock = Lock()
        self._state = _State.WAITING
        self._then: Callable[[], None] | None = None

    @property
    def running(self) -> bool:
        """Whether the function has begun and not ended."""
        return self._state is _State.RUNNING

    async def run(self, limiter: CapacityLimiter) -> Any:
        """The function's value. Cancelled, it leaves the thread behind, with the caller's context.

        A function that has not begun by then never does.
        """
        try:
            return await to_thread.run_sync(self._call, abandon_on_cancel=True, limiter=limiter)
        finally:
            self._drop()

    def when_ended(self, then: Callable[[], None]) -> None:
        """Call `then` once the function has ended: now, or later in its thread."""
        with self._lock:
            if self._state is _State.RUNNING:
                self._then = then
                return
        then()

    def _call(self) -> Any:
        try:
            return self._function.invoke_sync(self._input, self._begin)
        except _Dropped:
            return None
        finally:
            self._start.leave()
            with self._lock:
                self._state = _State.ENDED
                then = self._then
            if then is not None:
                then()

    def _begin(self) -> None:
        if not self._start.wait():
            raise _Dropped
        with self._lock:
            dropped = self._state is _State.DROPPED
            if not dropped:
                self._state = _State.RUNNING
        self._start.begin()
        if dropped:
            raise _Dropped

    def _drop(self) -> None:
        with self._lock:
            if self._state is _State.WAITING:
                self._state = _State.DROPPED
        self._start.leave()
