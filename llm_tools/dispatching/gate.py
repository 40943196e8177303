"""A counted lock that outlives event loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any

import anyio
from anyio.lowlevel import current_token


class _Waiter:
    """One task in line; whoever lets it in may be in another loop, or in none."""

    __slots__ = ("_token", "admitted", "event")

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.admitted = False
        self._token = current_token()

    def wake(self) -> bool:
        """Set the event in its own loop; False if that loop has ended."""
        native: Any = self._token.native_token
        soon: Callable[[Callable[[], None]], object] = getattr(
            native, "call_soon_threadsafe", None
        ) or getattr(native, "run_sync_soon")  # noqa: B009 - the other loop's spelling
        try:
            soon(self.event.set)
        except RuntimeError:
            return False
        return True


class Gate:
    """Lets `capacity` holders in at once, first come, first served; usable from several loops.

    A place may be given back from any thread. The state is guarded by a thread lock that is never
    held across an await.
    """

    __slots__ = ("__weakref__", "_abandoned", "_free", "_lock", "_waiting")

    def __init__(self, capacity: int = 1) -> None:
        self._free = capacity
        self._abandoned = 0
        self._lock = Lock()
        self._waiting: deque[_Waiter] = deque()

    async def enter(self, patience: float | None = None) -> bool:
        """Wait for a place; False if none came because a holder was abandoned.

        Args:
            patience: seconds after which a wait is given up while an abandoned holder has a
                place. Where all holders are looked after, the wait has no end.
        """
        waiter = self._line_up()
        if waiter is None:
            return True
        try:
            while not waiter.admitted:
                await _wait(waiter.event, patience)
                if self._gives_up(waiter):
                    return False
        except BaseException:
            self._step_out(waiter)
            raise
        return True

    def leave(self, *, abandoned: bool = False) -> None:
        """Give a place back, from any thread; `abandoned` if `abandon` was told of it."""
        with self._lock:
            self._abandoned -= abandoned
            self._let_next_in()

    def abandon(self) -> None:
        """A holder goes on where nobody waits for it; its `leave` is still to come."""
        with self._lock:
            self._abandoned += 1

    def _line_up(self) -> _Waiter | None:
        """The end of the line; None if there is room."""
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                return None
            waiter = _Waiter()
            self._waiting.append(waiter)
            return waiter

    def _gives_up(self, waiter: _Waiter) -> bool:
        with self._lock:
            if waiter.admitted or not self._abandoned:
                return False
            self._waiting.remove(waiter)
            return True

    def _step_out(self, waiter: _Waiter) -> None:
        """Leave the line; a place given in the meantime goes to the next."""
        with self._lock:
            if waiter.admitted:
                self._let_next_in()
            elif waiter in self._waiting:  # one whose loop is gone was passed over
                self._waiting.remove(waiter)

    def _let_next_in(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            waiter.admitted = waiter.wake()
            if waiter.admitted:
                return
        self._free += 1


async def _wait(event: anyio.Event, seconds: float | None) -> None:
    if seconds is None:
        await event.wait()
    else:
        with anyio.move_on_after(seconds):
            await event.wait()
