"""A small bounded memory for what is made once from the caller's functions and schemas."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

_SAMPLES = 32


class Bounded(Generic[T]):
    """What `make` returned for a key, the least recently used forgotten first; thread-safe."""

    __slots__ = ("_entries", "_lock", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value for `key`, made (outside the lock) if it is not there."""
        entries = self._entries
        with self._lock:
            if key in entries:
                entries.move_to_end(key)
                return entries[key]
        made = make()
        with self._lock:
            kept = self._entries.setdefault(key, made)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)
        return kept


class ByContent(Generic[T]):
    """What `make` returned for some bytes, found by samples of them.

    Hashing them all would cost a third of what it takes to encode them; comparing costs nothing.
    """

    __slots__ = ("_entries", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[tuple[int, bytes], tuple[bytes, T]] = {}

    def get(self, content: bytes, make: Callable[[], T]) -> T:
        """The value for `content`, made if it is not there; thread-safe."""
        size = len(content)
        key = size, content[:: size // _SAMPLES + 1]
        known = self._entries.get(key)
        if known is not None and known[0] == content:
            return known[1]
        made = make()
        if known is None and len(self._entries) >= self._size:
            self._entries.clear()
        self._entries[key] = content, made
        return made


class Same:
    """A key that is an object's identity, and keeps the object alive so that it stays one."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value: object = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value
