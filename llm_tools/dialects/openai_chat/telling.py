"""Events of the calls of one streamed answer."""

from __future__ import annotations

from collections.abc import Collection
from itertools import zip_longest

from ...content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    StopReason,
    StreamEvent,
)
from ...ids import UniqueIds
from ...reply import caller_name, read_function_use
from ...spec import Plan
from .calls import CallSlot


class CallTeller:
    """Tells of calls as their pieces come.

    A call starts once its name and id are known. It is done once the next call begins and its own
    arguments are whole, for pieces of several calls may interleave; else when the answer ends.
    """

    __slots__ = ("_ids", "_names", "_plan", "_touched")

    def __init__(self, plan: Plan, known: Collection[str]) -> None:
        self._plan = plan
        self._names = whole_names(known)
        self._ids = UniqueIds()
        self._touched: list[CallSlot] = []

    def piece(self, slot: CallSlot) -> list[StreamEvent]:
        """A piece of a call came; where it is the first, the calls before it may be complete."""
        if slot.custom or not slot.says_something:
            return []
        events: list[StreamEvent] = []
        if not slot.begun:
            slot.begun = True
            events = self._follow(slot)
        if not slot.touched:
            slot.touched = True
            self._touched.append(slot)
        named = slot.fragments or not self._names or slot.name in self._names
        if slot.started or (slot.id and slot.name and named):
            events += self._progress(slot)
        return events

    def _follow(self, begun: CallSlot) -> list[StreamEvent]:
        """A call has begun: those before it that grew since the last time may be whole now."""
        events: list[StreamEvent] = []
        for slot in self._touched:
            slot.touched = False
            if slot.number < begun.number and not (slot.done or slot.custom) and slot.is_whole():
                events += self._done(slot)
        self._touched = []
        return events

    def end(self, slots: list[CallSlot], reason: StopReason | None) -> list[StreamEvent]:
        """The answer ended: all its calls are done, but for the last one of an answer cut off.

        Of an answer that failed no further call is done.
        """
        calls = [slot for slot in slots if slot.says_something and not slot.custom]
        complete = {"error": 0, "length": len(calls) - 1}.get(reason or "", len(calls))
        events: list[StreamEvent] = []
        for place, slot in enumerate(calls):
            if not slot.done:
                events += self._done(slot) if place < complete else self._progress(slot)
        return events

    def _progress(self, slot: CallSlot) -> list[StreamEvent]:
        """The start of a call if it was not told yet, and the fragments since."""
        events: list[StreamEvent] = []
        if not slot.started:
            slot.started = True
            slot.id = self._ids.claim(slot.id)
            name = caller_name(self._plan, slot.name)
            events.append(FunctionUseStart(index=slot.number, name=name, function_id=slot.id))
        events += [
            FunctionInputDelta(index=slot.number, partial_json=fragment)
            for fragment in slot.fragments[slot.sent :]
        ]
        slot.sent = len(slot.fragments)
        return events

    def _done(self, slot: CallSlot) -> list[StreamEvent]:
        events = self._progress(slot)
        slot.done = True
        key = self._plan.target.replay_key
        metadata = {key: {"extra_content": slot.extra}} if slot.extra else None
        use, _ = read_function_use(self._plan, slot.name, slot.arguments, slot.id, metadata)
        return [*events, FunctionUseDone(index=slot.number, function_use=use)]


def whole_names(names: Collection[str]) -> frozenset[str]:
    """The names that are not the beginning of another, so that no further piece can follow."""
    ordered = sorted(names)
    pairs = zip_longest(ordered, ordered[1:], fillvalue="")
    return frozenset([name for name, after in pairs if not after.startswith(name)])
