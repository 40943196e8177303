"""A counted lock that outlives event loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Any

import anyio
from anyio.lowlevel import current_token


class _Waiter:
    """One task in line; it may belong to another loop than the one that lets it in."""

    __slots__ = ("admitted", "event", "token")

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.token = current_token()
        self.admitted = False

    def wake(self) -> bool:
        """Set the event in its own loop; False if that loop has ended."""
        if self.token == current_token():
            self.event.set()
            return True
        native: Any = self.token.native_token
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

    Its state is guarded by a thread lock that is never held across an await.
    """

    __slots__ = ("_free", "_lock", "_waiting")

    def __init__(self, capacity: int = 1) -> None:
        self._free = capacity
        self._lock = Lock()
        self._waiting: deque[_Waiter] = deque()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                return
            waiter = _Waiter()
            self._waiting.append(waiter)
        try:
            await waiter.event.wait()
        except BaseException:
            with self._lock:
                if waiter.admitted:
                    self._let_next_in()
                else:
                    self._waiting.remove(waiter)
            raise

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._let_next_in()

    def _let_next_in(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            waiter.admitted = True
            if waiter.wake():
                return
        self._free += 1
