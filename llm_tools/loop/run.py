"""`run`: call, dispatch, reply, until text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Protocol, TypeAlias

import anyio
from msgspec import Struct
from msgspec.structs import replace

from ..callables import CallableExecutor
from ..content import (
    FunctionResult,
    FunctionUseDone,
    Message,
    OutputResult,
    OutputResultFunctionUse,
    RunResult,
    StreamEvent,
)
from ..dialogue import Dialogue
from ..dispatching import Approve, Dispatcher, DispatchOptions, open_dispatcher
from ..dispatching.invoking import Memo
from ..dispatching.outcomes import failure, not_completed
from ..errors import LlmToolsError, RunLimitError
from ..functions.choice import FunctionCall, FunctionChoice, read_function_call
from ..model import Events
from .limits import Budget, CallWatch, RunLimits, current_budget
from .pending import PendingRun

OnEvent: TypeAlias = Callable[[StreamEvent | FunctionResult], Awaitable[None] | None]
OnTurn: TypeAlias = Callable[[int, OutputResult], Awaitable[None]]
OnFunction: TypeAlias = Callable[[FunctionResult], Awaitable[None]]
ChooseByTurn: TypeAlias = Callable[[int], FunctionCall]


class Ask(Protocol):
    """One request of a run, whole or streamed."""

    async def call(self, messages: Sequence[Message], function_call: FunctionCall) -> OutputResult:
        """The whole answer."""

    def stream(self, messages: Sequence[Message], function_call: FunctionCall) -> Events:
        """The answer as events."""


class RunOptions(Struct, frozen=True, kw_only=True):
    """Everything about a run but its conversation."""

    ask: Any
    finish: Callable[[OutputResult], Any]
    offered: Mapping[str, CallableExecutor | None]
    functions: Any = None
    function_call: FunctionCall | ChooseByTurn = None
    limits: RunLimits = RunLimits()
    function_timeout: float | None = None
    approve: Approve | None = None
    max_concurrency: int = 32
    start_early: bool = False
    share_limits: bool = False
    on_event: OnEvent | None = None
    on_turn: OnTurn | None = None
    on_function: OnFunction | None = None


class Run:
    """One run in progress; `go` takes it to its end."""

    def __init__(
        self,
        options: RunOptions,
        *,
        lead: Sequence[Message],
        asking: Sequence[Message],
        dialogue: Dialogue,
        results: Sequence[FunctionResult] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        self._options = options
        self._lead = tuple(lead)
        self._asking = tuple(asking)
        self._dialogue = dialogue
        self._results = list(results)
        repeatable = {
            name: function is not None and function.settings.repeatable
            for name, function in options.offered.items()
        }
        self._watch = CallWatch(repeatable, counts or {})
        parent = current_budget.get() if options.share_limits else None
        self.budget = Budget(options.limits, parent)
        self._memo = Memo()

    async def go(
        self, pending: PendingRun | None = None, decide: Approve | None = None
    ) -> RunResult:
        """To the final text, a limit, or a decision that waits.

        Args:
            pending: the round to take up first.
            decide: answers for its waiting calls.

        Raises:
            RunLimitError: a limit was reached; its result can be continued.
            LlmToolsError: whatever a turn raises, with what was done as its `result`.
        """
        token = current_budget.set(self.budget)
        try:
            with anyio.CancelScope() as scope:
                if self._options.limits.max_seconds is not None:
                    scope.deadline = anyio.current_time() + self._options.limits.max_seconds
                return await self._turns(pending, decide)
            raise RunLimitError(
                f"max_seconds={self._options.limits.max_seconds} have passed. Continue with "
                "dialogue=error.result.dialogue, or raise the limit.",
            )
        except LlmToolsError as error:
            error.result = self._result(error.result)
            raise
        finally:
            current_budget.reset(token)

    async def _turns(self, pending: PendingRun | None, decide: Approve | None) -> RunResult:
        if pending is not None:
            waiting = await self._take_up(pending, decide)
            if waiting is not None:
                return waiting
        while True:
            self._refuse(self.budget.out_of_turns())
            turn = self.budget.turns
            choice = self._choice(turn)
            allowed = self._allowed(choice)
            messages = (*self._lead, *self._dialogue.history, *self._asking)
            if self._options.start_early or self._options.on_event is not None:
                round_ = await self._streamed_round(messages, choice, allowed)
            else:
                answer = await self._options.ask.call(messages, choice)
                round_ = await self._round(answer, allowed)
            if round_ is not None:
                return round_

    def _choice(self, turn: int) -> FunctionCall:
        """The turn's `function_call`: a forced one holds for the first turn only."""
        wanted = self._options.function_call
        if callable(wanted):
            return wanted(turn)
        if turn == 0 or wanted is None:
            return wanted
        choice = read_function_call(wanted, self._options.offered)
        if choice is None or not choice.forced:
            return wanted
        if choice.subset is not None:
            return {"names": list(choice.subset), "mode": "auto"}
        return "auto"

    def _allowed(self, wanted: FunctionCall) -> Mapping[str, CallableExecutor | None] | None:
        """What may run in this turn; None: nothing."""
        choice: FunctionChoice | None = read_function_call(wanted, self._options.offered)
        if choice is None or (choice.mode != "none" and choice.subset is None):
            return self._options.offered
        if choice.mode == "none":
            return None
        return {name: self._options.offered[name] for name in choice.subset or ()}

    async def _round(
        self, answer: OutputResult, allowed: Mapping[str, CallableExecutor | None] | None
    ) -> RunResult | None:
        """Dispatch an answer's calls and write both down; a result where the run ends here."""
        await self._told_turn(answer)
        calls = answer.function_calls
        if not calls:
            return self._last(answer)
        round_ = _Round(self, answer)
        try:
            async with self._dispatcher(allowed) as dispatcher:
                round_.dispatcher = dispatcher
                for call in calls:
                    await self._submit(dispatcher, call, round_)
        except BaseException:
            self._write_down(answer, round_.results())
            raise
        return await self._close(answer, round_)

    async def _streamed_round(
        self,
        messages: Sequence[Message],
        choice: FunctionCall,
        allowed: Mapping[str, CallableExecutor | None] | None,
    ) -> RunResult | None:
        """The same over a stream; functions may start while the rest still comes."""
        round_ = _Round(self, None)
        try:
            async with self._dispatcher(allowed) as dispatcher:
                round_.dispatcher = dispatcher
                answer = await self._read_stream(messages, choice, round_)
                round_.answer = answer
                await self._told_turn(answer)
                started = {call.function_id for call in round_.calls}
                for call in answer.function_calls:
                    if call.function_id not in started:
                        await self._submit(dispatcher, call, round_)
        except BaseException:
            if round_.answer is not None and round_.answer.function_calls:
                self._write_down(round_.answer, round_.results())
            raise
        if not answer.function_calls:
            return self._last(answer)
        return await self._close(answer, round_)

    async def _read_stream(
        self, messages: Sequence[Message], choice: FunctionCall, round_: _Round
    ) -> OutputResult:
        async with self._options.ask.stream(messages, choice) as events:
            async for event in events:
                if self._options.on_event is not None:
                    await _told(self._options.on_event(event))
                if self._options.start_early and isinstance(event, FunctionUseDone):
                    await self._submit(round_.dispatcher, event.function_use, round_)
            result: OutputResult = events.result
        return result

    def _dispatcher(self, allowed: Mapping[str, CallableExecutor | None] | None) -> Any:
        options = self._options
        return open_dispatcher(
            allowed if allowed is not None else {},
            DispatchOptions(
                max_concurrency=options.max_concurrency,
                timeout=options.function_timeout,
                approve=options.approve,
                forbidden=allowed is None,
                may_defer=True,
                memo=self._memo,
                all_visible=True,
            ),
        )

    async def _submit(self, dispatcher: Any, call: OutputResultFunctionUse, round_: _Round) -> None:
        limit = self._options.limits.max_calls_per_function
        round_.calls.append(call)
        if self._watch.over_limit(call.name, limit):
            text = f"Not run: {call.name!r} may be called {limit} times in a run."
            round_.kept[call.function_id] = failure(call, RunLimitError(text), text=text)
            round_.over = f"max_calls_per_function={limit} is reached for {call.name!r}"
        else:
            await dispatcher.submit(call)

    async def _close(self, answer: OutputResult, round_: _Round) -> RunResult | None:
        """After a dispatch: write the round down, check the limits."""
        dispatcher = round_.dispatcher
        assert dispatcher is not None  # noqa: S101 - a round is closed after its dispatch
        if dispatcher.deferred:
            return self._pending(answer.content, round_)
        results = round_.results()
        self._write_down(answer, results)
        for result in results:
            await self._told_function(result)
        self._refuse(round_.over)
        name = self._watch.repeated(answer.function_calls, results)
        self._refuse(
            f"{name!r} was called alike three times with the same result "
            "(repeatable=True on the function allows it)"
            if name is not None
            else None
        )
        self._refuse(self.budget.out_of_tokens())
        return None

    def _last(self, answer: OutputResult) -> RunResult | None:
        """An answer without calls: the end, or a pause the provider asks to continue."""
        if answer.stop_reason == "pause" and answer.content:
            self._write_down(answer, [])
            self._refuse(self.budget.out_of_tokens())
            return None
        output = self._options.finish(answer)
        self._write_down(answer, [])
        return self._result(output)

    def _write_down(self, answer: OutputResult, results: Sequence[FunctionResult]) -> None:
        self._dialogue.add_from_history(self._asking)
        self._asking = ()
        self._dialogue.add_from_output(answer)
        if results:
            self._dialogue.add_from_results(results)
            self._results.extend(results)

    def _pending(self, content: Any, round_: _Round) -> RunResult:
        dispatcher = round_.dispatcher
        assert dispatcher is not None  # noqa: S101 - a round is closed after its dispatch
        self._dialogue.add_from_history(self._asking)
        self._asking = ()
        options = self._options
        wanted = None if callable(options.function_call) else options.function_call
        pending = PendingRun(
            lead=self._lead,
            dialogue=self._dialogue,
            content=tuple(content),
            waiting=tuple(dispatcher.deferred),
            done=(*dispatcher.results, *round_.kept.values()),
            results=tuple(self._results),
            usage=self.budget.usage,
            turns=self.budget.turns,
            limits=options.limits,
            counts=dict(self._watch.counts),
            options={"functionCall": wanted},
            functions=options.functions,
        )
        return replace(self._result(None), pending=pending)

    async def _take_up(self, pending: PendingRun, decide: Approve | None) -> RunResult | None:
        """Finish the round that waited."""
        round_ = _Round(self, None)
        round_.calls = [p for p in pending.content if isinstance(p, OutputResultFunctionUse)]
        round_.kept = {result.function_id: result for result in pending.done}
        options = self._options
        dispatching = DispatchOptions(
            max_concurrency=options.max_concurrency,
            timeout=options.function_timeout,
            approve=decide,
            may_defer=True,
            memo=self._memo,
            all_visible=True,
        )
        async with open_dispatcher(options.offered, dispatching) as dispatcher:
            round_.dispatcher = dispatcher
            for call in pending.waiting:
                await dispatcher.submit(call)
        if dispatcher.deferred:
            return self._pending(pending.content, round_)
        results = round_.results()
        self._dialogue.add_from_output(list(pending.content))
        self._dialogue.add_from_results(results)
        self._results.extend(results)
        for result in results:
            await self._told_function(result)
        return None

    def _refuse(self, reason: str | None) -> None:
        if reason is not None:
            raise RunLimitError(
                f"The run was stopped: {reason}. Continue with dialogue=error.result.dialogue, or "
                "raise the limit."
            )

    def _result(self, output: Any) -> RunResult:
        return RunResult(
            output=output,
            dialogue=self._dialogue,
            usage=self.budget.usage,
            turns=self.budget.turns,
            results=tuple(self._results),
        )

    async def _told_turn(self, answer: OutputResult) -> None:
        self.budget.spend(answer.usage)
        if self._options.on_turn is not None:
            await self._options.on_turn(self.budget.turns, answer)

    async def _told_function(self, result: FunctionResult) -> None:
        if self._options.on_function is not None:
            await self._options.on_function(result)
        if self._options.on_event is not None:
            await _told(self._options.on_event(result))


class _Round:
    """One answer's calls and what has come of them."""

    def __init__(self, run: Run, answer: OutputResult | None) -> None:
        self.answer = answer
        self.calls: list[OutputResultFunctionUse] = []
        self.kept: dict[str, FunctionResult] = {}
        self.dispatcher: Dispatcher | None = None
        self.over: str | None = None

    def results(self) -> list[FunctionResult]:
        """One result a call, in call order; "not completed" where none has come."""
        found = dict(self.kept)
        if self.dispatcher is not None:
            found |= {result.function_id: result for result in self.dispatcher.results}
        calls = self.answer.function_calls if self.answer is not None else self.calls
        return [found.get(call.function_id) or not_completed(call) for call in calls]


async def _told(answer: Awaitable[None] | None) -> None:
    if isawaitable(answer):
        await answer
