"""Functions start in call order in their threads, which a system begins in any order."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock
from typing import TypeAlias


class Start:
    """One call's place in the line: it begins after the one before has begun, or has left."""

    __slots__ = ("_before", "_is_taken", "_lock", "_next", "has_passed")

    def __init__(self, before: Start | None) -> None:
        self._before = before
        self._lock = Lock()
        self._is_taken = False
        self._next: _Next | None = None
        self.has_passed: bool = False
        """Whether the next may begin."""

    def wait(self) -> bool:
        """Wait, in the call's thread, until all calls before it have begun; False if it has left.

        Who waited must begin.
        """
        first, before = self._take()
        if before is not None and not before.has_passed:
            turn = Event()
            before.tell(turn.set)
            turn.wait()
        return first

    def begin(self) -> None:
        """The call begins: the next may."""
        _tell(self)

    def leave(self) -> None:
        """Nobody need wait for the call, which will never begin, unless its thread waits here."""
        first, before = self._take()
        if not first:
            return
        if before is None:
            _tell(self)
        else:
            before.tell(self)

    def tell(self, following: _Next) -> None:
        """Tell the one next in line when it may begin: now, or later in any thread."""
        with self._lock:
            if not self.has_passed:
                self._next = following
                return
        _tell(following)

    def pass_on(self) -> _Next | None:
        """Let the next begin; who is to be told of it."""
        with self._lock:
            self.has_passed = True
            following, self._next = self._next, None
        return following

    def _take(self) -> tuple[bool, Start | None]:
        """Whether it is for the caller to bring this to an end, and who is before."""
        with self._lock:
            first, self._is_taken = not self._is_taken, True
            before, self._before = self._before, None
        return first, before


_Next: TypeAlias = Callable[[], object] | Start
"""Who waits: a function to call, or a place whose call has left."""


def _tell(following: _Next | None) -> None:
    """Tell one in line; through those who left, one after the other, however many they are."""
    while isinstance(following, Start):
        following = following.pass_on()
    if following is not None:
        following()


class Line:
    """The calls of one dispatch that run in threads, in order."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: Start | None = None

    def join(self) -> Start:
        """The place at the end; its call must begin or leave soon, whatever those behind it do."""
        last = self._last
        start = self._last = Start(None if last is None or last.has_passed else last)
        return start
