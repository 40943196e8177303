"""Calls of sync functions in worker threads, which nothing can stop."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from threading import Lock
from typing import Any

from anyio import CapacityLimiter, to_thread

from ..callables import CallableExecutor


class _State(Enum):
    WAITING = auto()
    RUNNING = auto()
    ENDED = auto()
    DROPPED = auto()


class ThreadCall:
    """One call in a worker thread; it may outlive the task that waits for it."""

    __slots__ = ("_function", "_input", "_lock", "_state", "_then")

    def __init__(self, function: CallableExecutor, value: dict[str, Any]) -> None:
        self._function = function
        self._input = value
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
        with self._lock:
            if self._state is _State.DROPPED:
                return None
            self._state = _State.RUNNING
        try:
            return self._function.invoke_sync(self._input)
        finally:
            with self._lock:
                self._state = _State.ENDED
                then = self._then
            if then is not None:
                then()

    def _drop(self) -> None:
        with self._lock:
            if self._state is _State.WAITING:
                self._state = _State.DROPPED
