"""Conversations that were sent before: read, mended and rendered once, as they grow.

A conversation goes out whole with every request, and is what it was the time before but for its
end. What is known of its beginning is found again, if nothing of it has changed since.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from operator import is_
from threading import Lock
from typing import Any

import msgspec

from ..content import Message, ResultWarning
from .mending import calls_of, is_whole, mend
from .reading import Messages, list_messages, read_list, read_messages

_MOST = 128
_MOST_BYTES = 16_000_000
_LOOK_BACK = 64
"""A conversation that grew by more messages than these is read anew."""
_SHORTEST = 3
"""Fewer messages are no conversation yet."""
_encode = msgspec.json.Encoder().encode


class History:
    """The messages of one request, mended, and what was made of them.

    Attributes:
        messages: what goes out.
        warnings: what mending had to say.
        made: what wires made of the messages, by a key of theirs.
        base: the beginning that is known, as long as this one is new.
        rest: the messages after it.
        given: what the caller gave; empty where it had to be mended.
        call_ids: the ids of its calls, once it is sealed.
        leaves: what of its structs can change; None where not all it was given are structs.
    """

    __slots__ = (
        "_written",
        "base",
        "call_ids",
        "given",
        "leaves",
        "made",
        "messages",
        "rest",
        "warnings",
    )  # fmt: skip

    def __init__(
        self,
        messages: tuple[Message, ...],
        warnings: tuple[ResultWarning, ...] = (),
        *,
        given: Sequence[Any] = (),
        base: History | None = None,
    ) -> None:
        self.messages: tuple[Message, ...] = messages
        self.warnings: tuple[ResultWarning, ...] = warnings
        self.made: dict[Hashable, Any] = {}
        self.base: History | None = base
        self.rest: tuple[Message, ...] = (
            messages if base is None else messages[len(base.messages) :]
        )
        self.given: Sequence[Any] = given
        self.call_ids: frozenset[str] = frozenset()
        self.leaves: list[Any] | None = None
        self._written = b""

    @property
    def is_sealed(self) -> bool:
        """Whether it was written down."""
        return bool(self._written)

    @property
    def is_kept(self) -> bool:
        """Whether it is, or will be, found again."""
        return bool(self.given)

    def seal(self) -> None:
        """Write down what may change behind our back: what is mutable in structs, dicts whole.

        Raises:
            TypeError, ValueError: it is no JSON.
        """
        base, self.base = self.base, None
        known = frozenset() if base is None else base.call_ids
        self.call_ids = known.union(new_call_ids(self.rest))
        self.given = tuple(self.given)
        if all(map(is_, self.given, self.messages)):
            before = None if base is None else base.leaves
            self.leaves = [
                *(before or ()),
                *leaves_of(self.messages if before is None else self.rest),
            ]
        self._written = _encode(self.given if self.leaves is None else self.leaves)

    def begins(self, given: Sequence[Any]) -> bool:
        """Whether these messages begin with those of this history, unchanged."""
        known = self.given
        if self.leaves is None:
            return _encode(given[: len(known)]) == self._written
        if self.leaves and _encode(self.leaves) != self._written:
            return False
        same = known is given or all(map(is_, known, given))
        return same or _encode(given[: len(known)]) == _encode(known)

    def stands_apart(self) -> bool:
        """Whether `rest` means behind `base` what it means alone.

        It begins with an assistant turn after none, brings no system message, and its calls have
        ids that were not there before. System messages between turns part them on some wires only.
        """
        if self.base is None or not self.rest or self.rest[0].role != "assistant":
            return False
        before = next((m.role for m in reversed(self.base.messages) if m.role != "system"), None)
        if before == "assistant" or any(message.role == "system" for message in self.rest):
            return False
        ids = new_call_ids(self.rest)
        return len(ids) == len(set(ids)) and self.base.call_ids.isdisjoint(ids)


class _Histories:
    """The histories used last, up to a number and a size; thread-safe."""

    __slots__ = ("_bytes", "_kept", "_lock")

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[History, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def find(self, key: Hashable) -> History | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, history: History, size: int) -> None:
        with self._lock:
            _, before = self._kept.pop(key, (None, 0))
            self._kept[key] = history, size
            self._bytes += size - before
            while len(self._kept) > _MOST or self._bytes > _MOST_BYTES:
                _, (_, freed) = self._kept.popitem(last=False)
                self._bytes -= freed


_histories = _Histories()


def read_history(messages: Messages, *, strict: bool) -> History:
    """The messages of a call, read and mended; of a conversation that is known, its end alone.

    Raises:
        ConfigurationError: a malformed message; if `strict`, also a history that had to be mended.
    """
    given = list_messages(messages)
    if isinstance(given, str) or len(given) < _SHORTEST:
        return History(*mend(read_messages(given), strict=strict))
    known = _recall(given)
    if known is None:
        read = read_messages(given)
        mended, warnings = mend(read, strict=strict)
        return History(mended, warnings, given=given if mended is read else ())
    start = len(known.messages)
    if start == len(given):
        return known
    rest = read_list(given[start:], start)
    read = (*known.messages, *rest)
    if is_whole(rest):
        return History(read, given=given, base=known)
    return History(*mend(read, strict=strict))


def keep_history(history: History, size: int) -> None:
    """Remember a history that was encoded, and how many bytes it took; one that is known stays."""
    if not (history.made and history.is_kept) or history.is_sealed:
        return
    try:
        history.seal()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return
    _histories.keep(_key(history.given, len(history.given)), history, size)


def new_call_ids(messages: Sequence[Message]) -> list[str]:
    """The ids of the calls in messages."""
    return [call.function_id for message in messages for call in calls_of(message)]


def leaves_of(messages: Sequence[Message]) -> Iterator[Any]:
    """What can change in messages, though they are frozen: JSON, and what providers left."""
    for message in messages:
        content = message.content
        if type(content) is str:
            continue
        if type(content) is not tuple:
            yield content
            continue
        for part in content:
            for name in ("input", "citations", "provider_metadata"):
                value = getattr(part, name, None)
                if value is not None and value != ():
                    yield value


def _recall(given: Sequence[Any]) -> History | None:
    """The history of the longest beginning of these messages that is known."""
    shortest = max(_SHORTEST, len(given) - _LOOK_BACK)
    for length in range(len(given), shortest - 1, -1):
        found = _histories.find(_key(given, length))
        if found is not None and _begins(found, given):
            return found
    return None


def _begins(history: History, given: Sequence[Any]) -> bool:
    try:
        return history.begins(given)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False


def _key(given: Sequence[Any], length: int) -> Hashable:
    """What a history is looked up by: its length, and its last message."""
    last = given[length - 1]
    content = last.get("content") if type(last) is dict else getattr(last, "content", None)
    return (length, content) if type(content) is str else (length, id(last))
