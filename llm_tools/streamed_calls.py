"""Events of calls whose arguments come in fragments, on wires that send one block after another."""

from __future__ import annotations

from typing import Any

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


class StreamedCall:
    """One call on its way in. `whole` are arguments that came at once; fragments outdo them."""

    __slots__ = ("followed", "fragments", "function_id", "index", "metadata", "stopped", "whole",
                 "wire_name")  # fmt: skip

    def __init__(
        self, index: int, wire_name: str, function_id: str, metadata: Metadata | None, whole: Any
    ) -> None:
        self.index = index
        self.wire_name = wire_name
        self.function_id = function_id
        self.metadata = metadata
        self.whole = whole
        self.fragments: list[str] = []
        self.stopped = False
        self.followed = False

    def add(self, fragment: str) -> FunctionInputDelta:
        """A fragment of the arguments came."""
        self.fragments.append(fragment)
        return FunctionInputDelta(index=self.index, partial_json=fragment)

    @property
    def arguments(self) -> Any:
        """What has come: the text of the fragments, else what came at once."""
        return "".join(self.fragments) if self.fragments else self.whole


class StreamedCalls:
    """The calls of one stream. A call is done once its block has stopped and something follows."""

    __slots__ = ("_claims", "_count", "_open", "_plan")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._claims = UniqueIds()
        self._count = 0
        self._open: list[StreamedCall] = []

    def start(
        self,
        wire_name: str,
        function_id: str | None,
        *,
        metadata: Metadata | None = None,
        whole: Any = None,
    ) -> tuple[StreamedCall, FunctionUseStart]:
        """A call begins; its id is made usable here, and the whole answer must keep it."""
        claimed = self._claims.claim(function_id)
        call = StreamedCall(self._count, wire_name, claimed, metadata, whole)
        self._count += 1
        self._open.append(call)
        name = caller_name(self._plan, wire_name)
        return call, FunctionUseStart(index=call.index, name=name, function_id=claimed)

    def stop(self, call: StreamedCall) -> list[StreamEvent]:
        """The call's block has ended."""
        call.stopped = True
        return self._done() if call.followed else []

    def follow(self) -> list[StreamEvent]:
        """Another block begins: those before it are complete as soon as they have stopped."""
        if not self._open:
            return []
        for call in self._open:
            call.followed = True
        return self._done()

    def end(self) -> list[StreamEvent]:
        """A stop reason that cuts nothing off: every call is complete."""
        for call in self._open:
            call.stopped = call.followed = True
        return self._done()

    def _done(self) -> list[StreamEvent]:
        ready = [call for call in self._open if call.stopped and call.followed]
        self._open = [call for call in self._open if call not in ready]
        return [self._event(call) for call in ready]

    def _event(self, call: StreamedCall) -> FunctionUseDone:
        use, _ = read_function_use(
            self._plan, call.wire_name, call.arguments, call.function_id, call.metadata
        )
        return FunctionUseDone(index=call.index, function_use=use)


class WholeCalls:
    """The calls of a stream whose wire sends each of them at once.

    Only the next call or the end of the answer completes one: text after a call says nothing about
    a cut. `ids` are those given so far, which the whole answer must keep.
    """

    __slots__ = ("_calls", "ids")

    def __init__(self, plan: Plan) -> None:
        self._calls = StreamedCalls(plan)
        self.ids: list[str] = []

    def add(
        self, wire_name: str, arguments: Any, function_id: str | None, metadata: Metadata | None
    ) -> list[StreamEvent]:
        """A call came."""
        events = self._calls.follow()
        call, start = self._calls.start(wire_name, function_id, metadata=metadata, whole=arguments)
        self._calls.stop(call)
        self.ids.append(call.function_id)
        text = json_text(arguments) or "{}"
        return [*events, start, FunctionInputDelta(index=call.index, partial_json=text)]

    def end(self) -> list[StreamEvent]:
        """A stop reason that cuts nothing off."""
        return self._calls.end()
