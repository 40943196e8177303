"""Events of calls on wires that send one block after another, and when each call may run."""

from __future__ import annotations

from typing import Any

import msgspec

from .content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    Metadata,
    StreamEvent,
)
from .ids import UniqueIds
from .reply import caller_name, json_text, read_function_use
from .spec import Plan

BROKE_OFF = "the stream broke off before this call was known to be complete"


class StreamedCall:
    """One call on its way in. `whole` are arguments that came at once; fragments outdo them."""

    __slots__ = ("followed", "fragments", "function_id", "index", "metadata", "stopped", "whole",
                 "wire_name")  # fmt: skip

    def __init__(
        self, index: int, wire_name: str, function_id: str, metadata: Metadata | None, whole: Any
    ) -> None:
        self.index: int = index
        self.wire_name: str = wire_name
        self.function_id: str = function_id
        self.metadata: Metadata | None = metadata
        self.whole: Any = whole
        self.fragments: list[str] = []
        self.stopped: bool = False
        self.followed: bool = False

    def add(self, fragment: str) -> FunctionInputDelta:
        """A fragment of the arguments came."""
        self.fragments.append(fragment)
        return FunctionInputDelta(index=self.index, partial_json=fragment)

    def settle(self, whole: Any) -> None:
        """The arguments came once more, whole: they outdo the fragments."""
        self.whole = whole
        self.fragments.clear()

    @property
    def arguments(self) -> Any:
        """What has come: the text of the fragments, else what came at once."""
        return "".join(self.fragments) if self.fragments else self.whole


class StreamedCalls:
    """The calls of one stream.

    A call is done once it has stopped and the next call has begun, or the answer has ended. Text
    after a call does not do: the last call of an answer that was cut off never runs, whatever came
    after it. Of an answer that failed at its end no further call is done.

    `objects`: whole answers of this wire have arguments as objects, not as their text.
    """

    __slots__ = ("_claims", "_count", "_last", "_objects", "_open", "_plan")

    def __init__(self, plan: Plan, *, objects: bool = False) -> None:
        self._plan = plan
        self._objects = objects
        self._claims = UniqueIds()
        self._count = 0
        self._last: StreamedCall | None = None
        self._open: dict[int, StreamedCall] = {}

    def start(
        self,
        wire_name: str,
        function_id: str | None,
        *,
        metadata: Metadata | None = None,
        whole: Any = None,
    ) -> tuple[StreamedCall, list[StreamEvent]]:
        """A call begins; its id is made usable here, and the whole answer must keep it."""
        events = self._follow()
        claimed = self._claims.claim(function_id)
        call = StreamedCall(self._count, wire_name, claimed, metadata, whole)
        self._count += 1
        self._last = self._open[call.index] = call
        name = caller_name(self._plan, wire_name)
        events.append(FunctionUseStart(index=call.index, name=name, function_id=claimed))
        return call, events

    def stop(self, call: StreamedCall) -> list[StreamEvent]:
        """The call has come whole."""
        call.stopped = True
        if self._objects and call.fragments:
            call.settle(_object_or_text(call.arguments))
        return self._done(call) if call.followed else []

    def drop(self, call: StreamedCall) -> None:
        """The call is broken: it will never be done."""
        self._open.pop(call.index, None)

    def end(self, *, cut_off: bool = False) -> list[StreamEvent]:
        """The answer ended: every call is complete, but for the last of an answer cut off."""
        if cut_off and self._last is not None:
            self.drop(self._last)
        return [event for call in list(self._open.values()) for event in self._done(call)]

    def _follow(self) -> list[StreamEvent]:
        last = self._last
        if last is None:
            return []
        last.followed = True
        return self._done(last) if last.stopped else []

    def _done(self, call: StreamedCall) -> list[StreamEvent]:
        if self._open.pop(call.index, None) is None:
            return []
        use, _ = read_function_use(
            self._plan, call.wire_name, call.arguments, call.function_id, call.metadata
        )
        return [FunctionUseDone(index=call.index, function_use=use)]


def _object_or_text(text: str) -> Any:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


class WholeCalls:
    """The calls of a stream whose wire sends each of them at once.

    `ids` are those given so far, which the whole answer must keep.
    """

    __slots__ = ("_calls", "ids")

    def __init__(self, plan: Plan) -> None:
        self._calls = StreamedCalls(plan)
        self.ids: list[str] = []

    def add(
        self, wire_name: str, arguments: Any, function_id: str | None, metadata: Metadata | None
    ) -> list[StreamEvent]:
        """A call came."""
        call, events = self._calls.start(wire_name, function_id, metadata=metadata, whole=arguments)
        self._calls.stop(call)
        self.ids.append(call.function_id)
        text = json_text(arguments) or "{}"
        return [*events, FunctionInputDelta(index=call.index, partial_json=text)]

    def end(self, *, cut_off: bool = False) -> list[StreamEvent]:
        """The answer ended."""
        return self._calls.end(cut_off=cut_off)
