"""Putting the calls of a stream together: by index, by id where hosts leave the index out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from ...functions.partial import PartialInput
from .wire import Function, ToolCall


class CallSlot:
    """One call in the making. Only arguments come in pieces; the rest is said, or said again.

    `begun`, `sent`, `started`, `touched` and `done` belong to whoever tells of the call.
    """

    __slots__ = (
        "_partial", "_read", "begun", "custom", "done", "extra", "fragments", "id", "name",
        "number", "sent", "started", "touched",
    )  # fmt: skip

    def __init__(self, number: int) -> None:
        self.number: int = number
        self.id: str = ""
        self.name: str = ""
        self.fragments: list[str] = []
        self.extra: dict[str, Any] = {}
        self.custom: bool = False
        self._partial: PartialInput | None = None
        self._read = 0
        self.begun: bool = False
        self.sent: int = 0
        self.started: bool = False
        self.touched: bool = False
        self.done: bool = False

    @property
    def arguments(self) -> str:
        """What has come of the arguments."""
        return "".join(self.fragments)

    @property
    def says_something(self) -> bool:
        """Whether it is more than an empty entry."""
        return bool(self.id or self.name or self.fragments)

    def is_whole(self) -> bool:
        """Whether the arguments are a complete, non-empty object (`{}` may be a stand-in)."""
        if not (self.fragments and self.fragments[-1].rstrip().endswith("}")):
            return False
        if self._partial is None:
            if is_object(self.arguments):
                return True
            self._partial = PartialInput()
        # Asked again and again while calls interleave: each fragment is read once more, no more.
        for fragment in self.fragments[self._read :]:
            self._partial.feed(fragment)
        self._read = len(self.fragments)
        return self._partial.complete and is_object(self.arguments)

    def finished(self) -> ToolCall:
        """The call as a whole answer would have it."""
        if self.custom:
            custom = {"name": self.name, "input": self.arguments}
            return ToolCall(id=self.id, type="custom", custom=custom)
        function = Function(name=self.name, arguments=self.arguments)
        return ToolCall(id=self.id, function=function, extra_content=self.extra or None)


class CallAssembler:
    """The calls of one answer."""

    __slots__ = ("_by_id", "_by_index", "_highest", "_known", "_numbers", "last", "slots")

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._by_index: dict[int, CallSlot] = {}
        self._by_id: dict[str, CallSlot] = {}
        self.last: CallSlot | None = None
        self._numbers: set[int] = set()
        self._highest = -1
        self.slots: list[CallSlot] = []

    def go_on(self, piece: ToolCall) -> CallSlot | None:
        """Take in a piece that is nothing but more arguments of a call that has started.

        None if it is anything else.
        """
        index, function = piece.index, piece.function
        if index is None or function is None:
            return None
        slot = self._by_index.get(index)
        if slot is None or not (slot.touched and slot.started):
            return None
        arguments = function.arguments
        if type(arguments) is not str or not arguments or function.name:
            return None
        if piece.extra_content is not None or (piece.id and piece.id != slot.id):
            return None
        slot.fragments.append(arguments)
        slot.sent += 1
        self.last = slot
        return slot

    def add_all(self, pieces: list[ToolCall]) -> list[CallSlot]:
        """Take in the entries of one `delta.tool_calls`; returns the calls they belong to."""
        named: set[int] = set()
        return [self._add(piece, named) for piece in pieces]

    def in_order(self) -> list[CallSlot]:
        """The calls by number."""
        return sorted(self.slots, key=lambda slot: slot.number)

    def _add(self, piece: ToolCall, named: set[int]) -> CallSlot:
        name, arguments = _said(piece)
        call_id = piece.id if piece.id and piece.id != "null" else ""
        slot = self._find(piece.index, call_id)
        if slot is not None and self._is_repeated(slot, piece, name, arguments):
            return slot
        if slot is None or (name and self._is_another(slot, piece, name, arguments, named)):
            slot = self._open(piece.index)
        if not slot.says_something:
            slot.custom = _is_custom(piece)
        if call_id and not slot.id:
            slot.id = call_id
            self._by_id[call_id] = slot
        if name:
            named.add(slot.number)
            self._name(slot, name)
        if arguments:
            slot.fragments.append(arguments)
        slot.extra.update(piece.extra_content or {})
        self.last = slot
        return slot

    def _find(self, index: int | None, call_id: str) -> CallSlot | None:
        """The call that a piece without a name goes on with."""
        same_id = self._by_id.get(call_id) if call_id else None
        if index is None:
            last = self.last
            late_id = last is not None and not last.id
            return last if not call_id or (same_id is None and late_id) else same_id
        slot = self._by_index.get(index)
        if slot is None:
            return same_id
        # Several ids may share an index. An id nobody knows opens nothing by itself, for some
        # hosts invent one for every piece.
        return same_id if same_id is not None and call_id != slot.id else slot

    def _is_repeated(self, slot: CallSlot, piece: ToolCall, name: str, arguments: str) -> bool:
        """Whether a piece is a whole call that has come already, at the same index and id."""
        if not piece.id or piece.id != slot.id or name != slot.name:
            return False
        if piece.index is not None and self._by_index.get(piece.index) is not slot:
            return False
        return is_object(arguments) and arguments == slot.arguments

    def _is_another(
        self, slot: CallSlot, piece: ToolCall, name: str, arguments: str, named: set[int]
    ) -> bool:
        """Whether a piece with a name opens another call than the one it would go on with."""
        index, call_id = piece.index, piece.id
        if index is not None and index not in self._by_index:
            return True
        if call_id and slot.id and call_id not in ("null", slot.id):
            return True
        if not slot.name:
            return False
        if slot.number in named:
            return True
        if not slot.fragments:
            return False
        renamed = name != slot.name and not call_id
        return renamed or (is_object(arguments) and slot.is_whole())

    def _open(self, index: int | None) -> CallSlot:
        number = index if index is not None and index >= 0 else 0
        if number in self._numbers:
            number = self._highest + 1
        slot = CallSlot(number)
        self._numbers.add(number)
        self._highest = max(self._highest, number)
        self.slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        return slot

    def _name(self, slot: CallSlot, name: str) -> None:
        """Names repeat, grow or (rarely) come in pieces; the functions offered settle which."""
        joined = slot.name + name
        if not slot.name or (name.startswith(slot.name) and name in self._known):
            slot.name = name
        elif joined in self._known and name not in self._known and not slot.fragments:
            slot.name = joined
        elif name == slot.name or slot.name in self._known:
            return
        elif joined in self._known or not slot.fragments:
            slot.name = joined


def _said(piece: ToolCall) -> tuple[str, str]:
    """The name and the arguments of a piece, empty where it has none."""
    if _is_custom(piece):
        custom = piece.custom or {}
        return str(custom.get("name") or ""), _as_text(custom.get("input"))
    function = piece.called() or Function()
    return function.name or "", _as_text(function.arguments)


def _is_custom(piece: ToolCall) -> bool:
    """Whether it is of a tool that is no function; some hosts send an empty `custom` with all."""
    function, custom = piece.function, piece.custom
    said = function is not None and (function.name or function.arguments)
    return not said and bool(custom and (custom.get("name") or custom.get("input")))


def _as_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()


def is_object(text: str) -> bool:
    """Whether a text is one whole JSON object that is not empty."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return False
    try:
        return bool(msgspec.json.decode(stripped))
    except (msgspec.DecodeError, RecursionError):
        return False
