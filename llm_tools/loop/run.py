"""`run`: call, dispatch, reply, until text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from inspect import isawaitable
from typing import Any

import anyio
from msgspec.structs import replace

from ..content import (
    FunctionResult,
    FunctionUseDone,
    Message,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
    RunResult,
    StreamEvent,
)
from ..dialogue import Dialogue
from ..dispatching import Approve, Dispatcher, DispatchOptions, open_dispatcher
from ..dispatching.memory import Memo
from ..dispatching.outcomes import failure
from ..errors import ConfigurationError, LlmToolsError, RunLimitError
from ..functions.choice import FunctionCall
from .choosing import allowed, choose
from .limits import Budget, current_budget
from .options import Offered, RunOptions
from .pending import PendingRun
from .round import Round
from .watching import CallWatch


class Run:
    """One run in progress; `go` takes it to its end.

    Args:
        lead: what comes before the dialogue in every request.
        asking: the messages that ask; they join the dialogue with the first answer.
        dialogue: grows in place.
        pending: the run this one goes on with.
    """

    def __init__(
        self,
        options: RunOptions,
        *,
        lead: Sequence[Message],
        asking: Sequence[Message],
        dialogue: Dialogue,
        pending: PendingRun | None = None,
    ) -> None:
        self._options = options
        self._lead = tuple(lead)
        self._asking = tuple(asking)
        self._dialogue = dialogue
        self._pending = pending
        self._dispatch_options = DispatchOptions(
            max_concurrency=options.max_concurrency,
            timeout=options.function_timeout,
            may_defer=True,
            memo=Memo(),
            all_visible=True,
            on_result=self._told_function if options.on_function or options.on_event else None,
        )
        self._telling = anyio.Lock(fast_acquire=True)
        self._watch = CallWatch(options.offered, pending.watched if pending else None)
        self._results = list(pending.results) if pending else []
        self._turn = pending.turn if pending else 0
        self._budget = Budget(
            options.limits,
            current_budget.get() if options.share_limits else None,
            turns=pending.turns if pending else 0,
            usage=pending.usage if pending else None,
        )

    async def go(self, decide: Approve | None = None) -> RunResult:
        """To the final text, a limit, or a decision that waits.

        Args:
            decide: answers for the calls that wait, where this goes on with a pending run.

        Raises:
            RunLimitError: a limit was reached; its result can be continued.
            Exception: whatever a turn raises, with what was done as its `result`.
        """
        token = current_budget.set(self._budget)
        seconds = self._options.limits.max_seconds
        try:
            with anyio.move_on_after(seconds):
                return await self._turns(decide)
            raise _limit_error(f"max_seconds={seconds} have passed")
        except Exception as error:
            if isinstance(error, LlmToolsError) or not hasattr(error, "result"):
                with suppress(AttributeError):
                    error.result = self._result(getattr(error, "result", None))  # type: ignore[attr-defined] # a stranger's error gets it too
            raise
        finally:
            current_budget.reset(token)

    async def _turns(self, decide: Approve | None) -> RunResult:
        done = None
        if self._pending is not None:
            done = await self._take_up(self._pending, decide)
        while done is None:
            done = await self._next_turn()
        return done

    async def _next_turn(self) -> RunResult | None:
        """One request and its round; a result where the run ends with it."""
        options = self._options
        choice, may_run = self._begin_turn()
        messages = (*self._lead, *self._dialogue.history, *self._asking)
        round_ = Round()
        try:
            if options.start_early or options.on_event is not None:
                answer = await self._streamed(round_, messages, choice, may_run)
            else:
                answer = await self._whole(round_, messages, choice, may_run)
        except BaseException:
            self._write_down(round_, round_.content())
            raise
        if not answer.function_calls:
            return self._last(answer)
        return await self._close(round_, answer.content)

    def _begin_turn(self) -> tuple[FunctionCall, Offered | None]:
        """Count a turn; what is asked in it, and what may run."""
        _refuse(self._budget.take_turn())
        offered = self._options.offered
        try:
            choice = choose(self._options.function_call, self._turn, offered)
            may_run = allowed(choice, offered)
        except Exception:
            self._budget.give_turn_back()
            raise
        self._turn += 1
        return choice, may_run

    async def _whole(
        self,
        round_: Round,
        messages: Sequence[Message],
        choice: FunctionCall,
        may_run: Offered | None,
    ) -> OutputResult:
        """Ask, then dispatch the answer's calls."""
        with self._counting():
            answer = await self._options.ask.call(messages, choice)
        round_.answer = answer
        await self._told_turn(answer)
        if answer.function_calls:
            async with self._dispatching(round_, may_run, self._options.approve) as dispatcher:
                for call in answer.function_calls:
                    self._take(dispatcher, call)
        return answer

    async def _streamed(
        self,
        round_: Round,
        messages: Sequence[Message],
        choice: FunctionCall,
        may_run: Offered | None,
    ) -> OutputResult:
        """The same over a stream; functions may start while the rest still comes."""
        async with self._dispatching(round_, may_run, self._options.approve) as dispatcher:
            with self._counting():
                answer = await self._read_stream(round_, dispatcher, messages, choice)
            round_.answer = answer
            await self._told_turn(answer)
            started = {call.function_id for call in round_.taken}
            for call in answer.function_calls:
                if call.function_id not in started:
                    self._take(dispatcher, call)
        return answer

    async def _read_stream(
        self,
        round_: Round,
        dispatcher: Dispatcher,
        messages: Sequence[Message],
        choice: FunctionCall,
    ) -> OutputResult:
        options = self._options
        async with options.ask.stream(messages, choice) as events:
            round_.events = events
            async for event in events:
                await self._tell(event)
                if options.start_early and isinstance(event, FunctionUseDone):
                    self._take(dispatcher, event.function_use)
            return events.result

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Around a request: one not made is not counted, the tokens of a refused answer are."""
        try:
            yield
        except ConfigurationError:
            self._budget.give_turn_back()
            raise
        except LlmToolsError as error:
            if isinstance(error.result, OutputResult):
                self._budget.use(error.result.usage)
            raise

    @asynccontextmanager
    async def _dispatching(
        self, round_: Round, may_run: Offered | None, approve: Approve | None
    ) -> AsyncIterator[Dispatcher]:
        """Run what the round takes up inside the block; all of it has ended after it."""
        options = replace(self._dispatch_options, approve=approve, forbidden=may_run is None)
        async with open_dispatcher(may_run or {}, options) as dispatcher:
            round_.dispatcher = dispatcher
            yield dispatcher

    def _take(self, dispatcher: Dispatcher, call: OutputResultFunctionUse) -> None:
        """Take up a call, or answer it where its function was called too often."""
        limit = self._options.limits.max_calls_per_function
        if self._watch.over_limit(call.name, limit):
            text = f"Not run: {call.name!r} may be called {limit} times in a run."
            dispatcher.submit(call, failure(call, RunLimitError(text), text=text))
        else:
            dispatcher.submit(call)

    async def _take_up(self, pending: PendingRun, decide: Approve | None) -> RunResult | None:
        """Finish the round that waited."""
        round_ = Round()
        done = {result.function_id: result for result in pending.done}
        waiting = {call.function_id for call in pending.waiting}
        try:
            async with self._dispatching(round_, self._options.offered, decide) as dispatcher:
                for call in pending.calls:
                    if call.function_id in waiting:
                        dispatcher.submit(call)
                    elif call.function_id in done:
                        dispatcher.settle(call, done[call.function_id])
        except BaseException:
            self._write_down(round_, pending.content)
            raise
        return await self._close(round_, pending.content)

    async def _close(
        self, round_: Round, content: tuple[OutputResultContent, ...]
    ) -> RunResult | None:
        """After a dispatch: write the round down, check the limits."""
        if round_.deferred:
            return self._wait(round_, content)
        results = self._write_down(round_, content)
        limit = self._options.limits.max_calls_per_function
        name = self._watch.passed(limit)
        if name is not None:
            _refuse(f"max_calls_per_function={limit} is reached for {name!r}")
        calls = [part for part in content if isinstance(part, OutputResultFunctionUse)]
        name = self._watch.repeated(calls, results)
        if name is not None:
            _refuse(
                f"{name!r} was called alike three times with the same result "
                "(repeatable=True on the function allows it)"
            )
        _refuse(self._budget.out_of_tokens())
        return None

    def _last(self, answer: OutputResult) -> RunResult | None:
        """An answer without calls: the end, or a pause the provider asks to continue."""
        paused = answer.stop_reason == "pause" and bool(answer.content)
        output = None if paused else self._options.finish(answer)
        self._write(answer.content, [])
        if not paused:
            return self._result(output)
        _refuse(self._budget.out_of_tokens())
        return None

    def _write_down(
        self, round_: Round, content: tuple[OutputResultContent, ...]
    ) -> list[FunctionResult]:
        """Append a round, whole or as far as it came, to the dialogue."""
        results = round_.results(content)
        if content:
            self._write(content, results)
        return results

    def _write(
        self, content: Sequence[OutputResultContent], results: Sequence[FunctionResult]
    ) -> None:
        self._dialogue.add_from_history(self._asking)
        self._asking = ()
        self._dialogue.add_from_output(content).add_from_results(results)
        self._results.extend(results)

    def _wait(self, round_: Round, content: tuple[OutputResultContent, ...]) -> RunResult:
        """The run as far as it came, and what is needed to go on."""
        options = self._options
        pending = PendingRun(
            lead=self._lead,
            asking=self._asking,
            dialogue=self._dialogue,
            content=content,
            waiting=tuple(round_.deferred),
            done=tuple(round_.done),
            results=tuple(self._results),
            usage=self._budget.usage,
            turns=self._budget.turns,
            turn=self._turn,
            limits=options.limits,
            offered=tuple(options.offered),
            watched=self._watch.seen,
            kept=options.kept,
            local=options.local,
        )
        return replace(self._result(None), pending=pending)

    def _result(self, output: Any) -> RunResult:
        return RunResult(
            output=output,
            dialogue=self._dialogue,
            usage=self._budget.usage,
            turns=self._budget.turns,
            results=tuple(self._results),
        )

    async def _told_turn(self, answer: OutputResult) -> None:
        self._budget.use(answer.usage)
        if self._options.on_turn is not None:
            await self._options.on_turn(self._turn, answer)

    async def _told_function(self, result: FunctionResult) -> None:
        if self._options.on_function is not None:
            await self._options.on_function(result)
        await self._tell(result)

    async def _tell(self, event: StreamEvent | FunctionResult) -> None:
        """Tell one event after the other, although results come while others still run."""
        on_event = self._options.on_event
        if on_event is not None:
            async with self._telling:
                answer = on_event(event)
                if isawaitable(answer):
                    await answer


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise _limit_error(reason)


def _limit_error(reason: str) -> RunLimitError:
    return RunLimitError(
        f"The run was stopped: {reason}. Continue with dialogue=error.result.dialogue, or raise "
        "the limit."
    )
