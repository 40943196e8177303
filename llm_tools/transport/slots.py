"""How many connections a loop may have open at once.

The number of files a process may open is the limit; the loops that have connections share it.
Whoever finds no slot free waits for one, first come, first served: that is waiting, and no failure.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Protocol
from weakref import WeakSet

import anyio

_UNLIMITED = 1 << 20
_LEFT_TO_OTHERS = 128


class Holder(Protocol):
    """A pool, as the slots see it."""

    async def drop_idle(self) -> bool:
        """Close one idle connection, if there is one, and give its slot back."""


class Slots:
    """The slots of one loop, and who waits for one."""

    __slots__ = ("__weakref__", "_limit", "_taken", "_waiting", "holders")

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit or allowed_connections()
        self._taken = 0
        self._waiting: deque[anyio.Event] = deque()
        self.holders: WeakSet[Holder] = WeakSet()
        with _counting:
            _all.add(self)

    async def take(self) -> bool:
        """Take a slot for a new connection, at the cost of an idle one if need be.

        Returns whether one was taken at once; else the caller waits with `wait` and looks again,
        for a connection may have become free meanwhile.
        """
        if self._taken >= self._share():
            await self._drop_idle()
        if self._taken >= self._share():
            return False
        self._taken += 1
        return True

    async def make_room(self) -> bool:
        """After the process had no file left: close an idle connection, or wait for one in use.

        Returns False where this loop has none at all.
        """
        if not self._taken:
            return False
        if not await self._drop_idle():
            await self.wait(first=True)
        return True

    @property
    def in_use(self) -> bool:
        """Whether any slot is taken."""
        return self._taken > 0

    def has_too_many(self) -> bool:
        """Whether a connection that comes back should be closed, so that other loops have some."""
        return len(_all) > 1 and self._taken > self._share()

    async def wait(self, *, first: bool) -> None:
        """Wait until a slot or a connection may be free; `first` of all if it was called before."""
        event = anyio.Event()
        if first:
            self._waiting.appendleft(event)
        else:
            self._waiting.append(event)
        try:
            await event.wait()
        except BaseException:
            if event.is_set():
                self.wake()  # the turn was ours; it goes to the next
            else:
                self._waiting.remove(event)
            raise

    def give_back(self) -> None:
        """A connection was closed."""
        self._taken -= 1
        self.wake()

    def wake(self) -> None:
        """Let the first who waits look again."""
        if self._waiting:
            self._waiting.popleft().set()

    async def _drop_idle(self) -> bool:
        for holder in list(self.holders):
            if await holder.drop_idle():
                return True
        return False

    def _share(self) -> int:
        """How many this loop may have: an equal part of what all that have some may have."""
        if len(_all) == 1:
            return self._limit
        with _counting:
            others = sum(slots is not self and slots.in_use for slots in _all)
        return max(1, self._limit // (1 + others))


_counting = Lock()
_all: WeakSet[Slots] = WeakSet()


def allowed_connections() -> int:
    """Three quarters of the files this process may open, some left for the rest of it."""
    try:
        import resource
    except ImportError:  # Windows sets no such limit
        return _UNLIMITED
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _UNLIMITED
    return max(16, min(soft - _LEFT_TO_OTHERS, soft * 3 // 4))
