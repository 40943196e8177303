"""The connections to one origin in one loop: those that are free, and slots for new ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, TypeVar

import anyio

from ..arrival import Attempt
from ..slots import Slots

KEEP_ALIVE = 5.0
"""Seconds a connection stays open unused; servers close theirs after 5 s or more."""
_CLOSING_TIME = 1.0

T = TypeVar("T")


class Connections(Generic[T]):
    """A free list, the connection used last first: its cost does not grow with its length.

    `close` closes a connection; `is_alive` tells, without waiting, whether a free one still is.
    """

    __slots__ = ("__weakref__", "_close", "_closed", "_free", "_is_alive", "_slots")

    def __init__(
        self,
        slots: Slots,
        close: Callable[[T], Awaitable[None]],
        is_alive: Callable[[T], bool] | None = None,
    ) -> None:
        self._slots = slots
        self._close = close
        self._is_alive = is_alive
        self._free: deque[tuple[T, float]] = deque()
        self._closed = False
        slots.holders.add(self)

    def take(self) -> T | None:
        """The free connection used last, if it is alive and none has to be closed first."""
        free = self._free
        if not free or free[0][1] <= monotonic():
            return None
        connection = free[-1][0]
        if self._is_alive is not None and not self._is_alive(connection):
            return None
        free.pop()
        return connection

    async def acquire(self, attempt: Attempt) -> T | None:
        """A free connection; or None, and a slot is taken for a new one.

        Waiting for either does not count: the attempt's clock begins anew after it.
        """
        waited = False
        while True:
            connection = None if attempt.fresh else await self._find()
            if connection is not None or await self._slots.take():
                if waited:
                    attempt.begin()
                return connection
            attempt.pause()
            await self._slots.wait(first=waited)
            waited = True

    def put_back(self, connection: T) -> bool:
        """Back into the list; False where it has to be dropped instead.

        That is where all were closed meanwhile, or other loops need their share of the slots.

        Args:
            connection: one that nobody reads from any more.
        """
        if self._closed or self._slots.has_too_many():
            return False
        self._free.append((connection, monotonic() + KEEP_ALIVE))
        self._slots.wake()
        return True

    async def drop(self, connection: T) -> None:
        """Close it, shielded from a cancellation that may be the reason."""
        try:
            with anyio.move_on_after(_CLOSING_TIME, shield=True):
                await self._close(connection)
        finally:
            self._slots.give_back()

    def give_up(self) -> None:
        """No connection came of the slot that was taken."""
        self._slots.give_back()

    async def drop_idle(self) -> bool:
        """Close the one that was free for the longest, for its slot."""
        if not self._free:
            return False
        await self.drop(self._free.popleft()[0])
        return True

    async def make_room(self, attempt: Attempt) -> bool:
        """After the process had no file left: wait until a connection of this loop ends or is free.

        Returns False where there is none to wait for.
        As with any wait for a connection, the attempt's clock begins anew after it.
        """
        attempt.pause()
        made = await self._slots.make_room()
        attempt.begin()
        return made

    async def aclose(self) -> None:
        """Close what is free now; what is in use is closed as it comes back, for good."""
        self._closed = True
        while self._free:
            await self.drop(self._free.pop()[0])

    async def _find(self) -> T | None:
        """A free connection that is alive; what is dead, or was free for too long, is closed."""
        free = self._free
        while free:
            now = monotonic()
            while free and free[0][1] <= now:
                await self.drop(free.popleft()[0])
            if not free:
                break
            connection, _ = free.pop()
            if self._is_alive is None or self._is_alive(connection):
                return connection
            await self.drop(connection)
        return None
