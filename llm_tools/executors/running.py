"""How an executor's `run`, `resume` and `stream_run` reach the loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeAlias

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from msgspec.structs import replace

from ..callables import CallableExecutor, by_name, visible_functions
from ..content import FunctionResult, Message, OutputResult, RunResult, StreamEvent
from ..dispatching import DEFER, Approve, Decision
from ..dispatching.approval import read_decision
from ..errors import ConfigurationError, StreamError
from ..functions.choice import FunctionCall
from ..functions.definitions import FunctionLike, require_list
from ..loop import OnEvent, PendingRun
from ..model import Events, Functions, Model
from ..prompts.templates import read_values

RunEvent: TypeAlias = StreamEvent | FunctionResult
_LEAVING = (Exception, KeyboardInterrupt, SystemExit)


def offered_for(functions: Functions | None, value: Any) -> list[FunctionLike] | None:
    """What a model is told of the functions that are there for an input; None stays None.

    Definitions stand in for callables: who is shown was decided here, by the prompt's input.
    """
    return definitions_of(visible_functions(functions, read_values(value)))


def definitions_of(functions: Functions | None) -> list[FunctionLike] | None:
    """The functions with definitions in place of callables."""
    if functions is None:
        return None
    return [f.definition if isinstance(f, CallableExecutor) else f for f in functions]


def runnable(functions: Any) -> Mapping[str, CallableExecutor | None]:
    """The functions by name, each with a Python function behind it.

    Raises:
        ConfigurationError: one has none.
    """
    offered = by_name(functions)
    missing = [name for name, function in offered.items() if function is None]
    if missing:
        raise ConfigurationError(
            f"run() needs a Python function behind {', '.join(missing)}: use @tool or "
            "create_callable_executor(), or execute() and dispatch the calls yourself."
        )
    return offered


def offered_again(functions: Any, pending: PendingRun) -> list[Any]:
    """The functions a resumed run is given, without those that were not there for its input.

    That input is not known any more: of those that can hide themselves the run had some.

    Raises:
        ConfigurationError: no list of functions.
    """
    require_list(functions)
    return [
        f
        for f in functions
        if not isinstance(f, CallableExecutor) or f.name in pending.offered or f.is_constant
    ]


def settle(pending: PendingRun, decisions: Mapping[str, Decision | FunctionResult]) -> PendingRun:
    """The pending run with the results among the decisions put in their place.

    Raises:
        ConfigurationError: something that is no decision, or for a call that does not wait.
    """
    if not isinstance(decisions, Mapping):
        raise ConfigurationError(
            f"decisions must be a dict by function id, got {type(decisions).__name__}."
        )
    known = {call.function_id: call for call in pending.waiting}
    unknown = sorted(map(str, set(decisions) - set(known)))
    if unknown:
        raise ConfigurationError(
            f"No call waits under {', '.join(unknown)}; there wait {', '.join(sorted(known))}."
        )
    given = []
    for function_id, decision in decisions.items():
        if isinstance(decision, FunctionResult):
            name = known[function_id].name
            given.append(replace(decision, name=name, function_id=function_id))
        else:
            read_decision(decision, f"The decision on {function_id} is")
    done = {result.function_id for result in given}
    return replace(
        pending,
        waiting=tuple(call for call in pending.waiting if call.function_id not in done),
        done=(*pending.done, *given),
    )


def decide_by(decisions: Mapping[str, Decision | FunctionResult]) -> Approve:
    """An `approve` that looks the decision up, and puts off a call without one."""

    def decide(call: Any) -> Decision:
        decision: Any = decisions.get(call.function_id, DEFER)
        return decision  # type: ignore[no-any-return] # results among them were settled before

    return decide


class Asking:
    """How a run asks its executor's model.

    Args:
        model: under the run's options.
        options: `functions`, `function_call_strict_input`, `json_schema`.
    """

    __slots__ = ("_model", "_options")

    def __init__(self, model: Model, **options: Any) -> None:
        self._model = model
        self._options = options

    async def call(self, messages: Sequence[Message], function_call: FunctionCall) -> OutputResult:
        """The whole answer."""
        return await self._model.call(messages, function_call=function_call, **self._options)

    def stream(self, messages: Sequence[Message], function_call: FunctionCall) -> Events:
        """The answer as events."""
        return self._model.stream(messages, function_call=function_call, **self._options)


class RunStream:
    """The events of a run; `result` is there once they have ended."""

    __slots__ = ("_error", "_events", "_outcome")

    def __init__(self, events: ObjectReceiveStream[RunEvent]) -> None:
        self._events = events
        self._outcome: RunResult | None = None
        self._error: BaseException | None = None

    def __aiter__(self) -> RunStream:
        return self

    async def __anext__(self) -> RunEvent:
        try:
            return await self._events.receive()
        except anyio.EndOfStream:
            if self._error is not None:
                raise self._error from None
            raise StopAsyncIteration from None

    @property
    def result(self) -> RunResult:
        """What the run came to.

        Raises:
            StreamError: it has not ended.
        """
        if self._outcome is None:
            raise StreamError("The run has not ended: read its events to the last first.")
        return self._outcome

    async def follow(self, run: Awaitable[RunResult]) -> None:
        """Wait for the run; its outcome is for the reader."""
        try:
            self._outcome = await run
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
            self._error = error  # raised to the reader, as itself

    def raise_fatal(self) -> None:
        """Raise what is to end the program, for a reader who left before it came."""
        if self._error is not None and not isinstance(self._error, Exception):
            raise self._error


class OpenRun:
    """A run beside its reader, who takes each event before the run goes on: `async with`.

    Leaving the block ends the run. It is no generator, so that one who forgets to leave it does
    not have the garbage collector end the run's tasks.
    """

    __slots__ = ("_receive", "_run", "_stream", "_tasks")

    def __init__(self, run: Callable[[OnEvent], Awaitable[RunResult]]) -> None:
        self._run = run

    async def __aenter__(self) -> RunStream:
        send, self._receive = anyio.create_memory_object_stream[RunEvent](0)
        self._stream = RunStream(self._receive)
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._work, send)
        return self._stream

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        # What the reader raised leaves as itself, outside the group; a cancellation goes through.
        cancelled = error is not None and not isinstance(error, _LEAVING)
        if not cancelled:
            self._tasks.cancel_scope.cancel()
        given = (kind, error, traceback) if cancelled else (None, None, None)
        try:
            caught = await self._tasks.__aexit__(*given)
        finally:
            self._receive.close()
        if error is None:
            self._stream.raise_fatal()
        return caught if cancelled else None

    async def _work(self, send: ObjectSendStream[RunEvent]) -> None:
        async with send:
            await self._stream.follow(self._run(send.send))
