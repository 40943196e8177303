"""`LlmExecutorWithFunctions`: the same, and the model may call functions."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, overload

import anyio

from ..callables import by_name, visible_functions
from ..content import (
    FunctionResult,
    Message,
    OutputResult,
    OutputResultContent,
    RunResult,
    StreamEvent,
)
from ..dialogue import Dialogue, create_dialogue
from ..dispatching import Approve, Decision
from ..errors import ConfigurationError, StreamError
from ..functions.choice import FunctionCall
from ..loop import PendingRun, Run, RunLimits, RunOptions, is_continued, split_prompt
from ..loop.run import ChooseByTurn, OnEvent
from ..model import Events
from ..options import LlmOptions
from ..prompts.templates import read_values
from .hooks import ExecutionMetadata
from .llm import LlmExecutor

T = TypeVar("T")


class LlmExecutorWithFunctions(LlmExecutor[T]):
    """An `LlmExecutor` whose model may call functions.

    `execute` hands the calls back, `run` makes them and goes on until text.
    """

    @overload
    async def execute(
        self,
        input: Any = None,
        *,
        functions: None = None,
        function_call: None = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
    ) -> T: ...

    @overload
    async def execute(
        self,
        input: Any = None,
        *,
        functions: Any,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
    ) -> T | list[OutputResultContent]: ...

    async def execute(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Any = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
    ) -> T | list[OutputResultContent]:
        """The calls the model made, with all else it said, or the parser's output for its text.

        Args:
            input: the prompt's values (a mapping; anything else is the value `input`).
            functions: what the model may call: dicts, `FunctionDefinition`s, callables, or a
                `UseExecutors`.
            function_call: see `Llm.call`.
            function_call_strict_input: hold the model to the functions' schemas.
            json_schema: the shape of a text answer.
            llm_options: changed options of the model, for this call.
            trace_id: handed to the hooks.

        Returns:
            A list of content (use `guards.has_function_call`) where the model called a function,
            else what the parser makes of the text.

        Raises:
            LlmToolsError: see `LlmExecutor.execute`.
        """

        async def work(_: ExecutionMetadata) -> T | list[OutputResultContent]:
            result = await self.call(
                input,
                functions=functions,
                function_call=function_call,
                function_call_strict_input=function_call_strict_input,
                json_schema=json_schema,
                llm_options=llm_options,
            )
            return list(result.content) if result.function_calls else self._output(result)

        output: T | list[OutputResultContent] = await self._observed(work, trace_id)
        return output

    async def call(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Any = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
    ) -> OutputResult:
        """The whole answer, unparsed. Takes what `execute` does."""
        return await self._ask(
            await self._messages(input),
            llm_options,
            functions=visible_functions(functions, read_values(input)),
            function_call=function_call,
            function_call_strict_input=function_call_strict_input,
            json_schema=json_schema,
        )

    @asynccontextmanager
    async def stream(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Any = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
    ) -> AsyncIterator[Events]:
        """The answer as events: `async with executor.stream(…) as events`; see `EventStream`."""
        events = self._open(
            await self._messages(input),
            llm_options,
            functions=visible_functions(functions, read_values(input)),
            function_call=function_call,
            function_call_strict_input=function_call_strict_input,
            json_schema=json_schema,
        )
        async with events:
            yield events

    async def run(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Any,
        function_call: FunctionCall | ChooseByTurn = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        dialogue: Dialogue | None = None,
        max_turns: int = 10,
        max_total_tokens: int | None = None,
        max_seconds: float | None = None,
        max_calls_per_function: int | None = None,
        function_timeout: float | None = None,
        approve: Approve | None = None,
        max_concurrency: int = 32,
        start_early: bool = False,
        share_limits: bool = False,
        on_event: OnEvent | None = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
    ) -> RunResult:
        """The whole loop: call, dispatch, reply, until text.

        The prompt's closing user messages become part of the dialogue, the rest of it leads every
        request. A dialogue that ends with results and already holds this turn is continued.

        Args:
            input, functions, function_call_strict_input, json_schema, llm_options, trace_id: as
                for `execute`; every function needs its Python function.
            function_call: as for `execute`, a forced one for the first turn only; or a function
                of the turn's number (from 0).
            dialogue: grows in place after each whole round; a new one if not given.
            max_turns: requests at most.
            max_total_tokens: checked after each turn.
            max_seconds: after which work in flight is cancelled.
            max_calls_per_function: for each function's name.
            function_timeout: seconds for each function without a timeout of its own.
            approve: asked before each call.
            max_concurrency: how many functions run at once.
            start_early: stream, and start each function as soon as its call is complete.
            share_limits: inside a function of another run: draw on that run's limits too.
            on_event: told every stream event and function result; makes the run stream.

        Raises:
            RunLimitError: a limit was reached; `.result` is the `RunResult` so far.
            LlmToolsError: as for `execute`, with the `RunResult` so far as `.result`; its `output`
                is the answer that was refused, if there was one.
        """
        messages = await self._messages(input)
        lead, asking = split_prompt(messages)
        conversation = create_dialogue(self.name) if dialogue is None else dialogue
        if is_continued(conversation, asking):
            asking = ()
        shown = visible_functions(functions, read_values(input))

        async def work(metadata: ExecutionMetadata) -> RunResult:
            options = self._run_options(
                shown,
                metadata,
                function_call=function_call,
                strict=function_call_strict_input,
                json_schema=json_schema,
                llm_options=llm_options,
                limits=RunLimits(
                    max_turns=max_turns,
                    max_total_tokens=max_total_tokens,
                    max_seconds=max_seconds,
                    max_calls_per_function=max_calls_per_function,
                ),
                function_timeout=function_timeout,
                approve=approve,
                max_concurrency=max_concurrency,
                start_early=start_early,
                share_limits=share_limits,
                on_event=on_event,
            )
            run = Run(options, lead=lead, asking=asking, dialogue=conversation)
            return await run.go()

        result: RunResult = await self._observed(work, trace_id)
        return result

    async def resume(
        self,
        pending: PendingRun,
        *,
        decisions: Mapping[str, Decision | FunctionResult],
        functions: Any = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        approve: Approve | None = None,
        function_timeout: float | None = None,
        max_concurrency: int = 32,
        on_event: OnEvent | None = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
    ) -> RunResult:
        """Take up a run that waited for decisions.

        Args:
            pending: what `RunResult.pending` was, in this or another process.
            decisions: by function id: True, False, `Refused`, `Edited`, or a `FunctionResult` that
                stands for the call. Calls without a decision go on waiting.
            functions: as for `run`; needed where `pending` came from JSON.

        Raises:
            ConfigurationError: no functions.
        """
        offered = pending.functions if functions is None else functions
        if offered is None:
            raise ConfigurationError("A pending run from JSON needs functions=[…] to be resumed.")
        settled = _settle(pending, decisions)

        async def work(metadata: ExecutionMetadata) -> RunResult:
            options = self._run_options(
                offered,
                metadata,
                function_call=pending.options.get("functionCall"),
                strict=function_call_strict_input,
                json_schema=json_schema,
                llm_options=llm_options,
                limits=pending.limits,
                function_timeout=function_timeout,
                approve=approve,
                max_concurrency=max_concurrency,
                on_event=on_event,
            )
            run = Run(
                options,
                lead=pending.lead,
                asking=(),
                dialogue=pending.dialogue,
                results=pending.results,
                counts=pending.counts,
            )
            run.budget.turns, run.budget.usage = pending.turns, pending.usage
            return await run.go(settled, lambda call: _decision(decisions, call.function_id))

        result: RunResult = await self._observed(work, trace_id)
        return result

    @asynccontextmanager
    async def stream_run(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        **options: Any,
    ) -> AsyncIterator[RunStream]:
        """`run` as events: every turn's stream events, and each `FunctionResult`.

        `async with executor.stream_run(…) as events: async for event in events: …`; then
        `events.result` is the `RunResult`. The run waits for its reader; leaving the block ends it.
        """
        send, receive = anyio.create_memory_object_stream[StreamEvent | FunctionResult](0)
        stream = RunStream(receive)

        async def work() -> None:
            async with send:
                try:
                    stream.outcome = await self.run(input, on_event=send.send, **options)
                except anyio.BrokenResourceError:
                    pass
                except Exception as error:  # noqa: BLE001 - raised to the reader, as itself
                    stream.error = error

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            async with receive:
                try:
                    yield stream
                except Exception as error:  # noqa: BLE001 - raised again, outside the group
                    stream.raised = error
                tasks.cancel_scope.cancel()
        if stream.raised is not None:
            raise stream.raised

    def _run_options(
        self,
        functions: Any,
        metadata: ExecutionMetadata,
        *,
        strict: bool,
        json_schema: Any,
        llm_options: LlmOptions | None,
        **options: Any,
    ) -> RunOptions:
        offered = by_name(functions)
        missing = [name for name, function in offered.items() if function is None]
        if missing:
            raise ConfigurationError(
                f"run() needs a Python function behind {', '.join(missing)}: use @tool or "
                "create_callable_executor(), or execute() and dispatch the calls yourself."
            )
        hooks = self._hooks

        async def on_turn(turn: int, result: OutputResult) -> None:
            await hooks.tell("on_turn", turn, result, metadata)

        async def on_function(result: FunctionResult) -> None:
            await hooks.tell("on_function", result, metadata)

        ask = _Asking(self, functions, strict, json_schema, llm_options)
        return RunOptions(
            ask=ask,
            finish=self._output,
            offered=offered,
            functions=functions,
            on_turn=on_turn if hooks.has("on_turn") else None,
            on_function=on_function if hooks.has("on_function") else None,
            **options,
        )


class RunStream:
    """The events of a run; `result` is there once they have ended."""

    __slots__ = ("_events", "error", "outcome", "raised")

    def __init__(self, events: Any) -> None:
        self._events = events
        self.outcome: RunResult | None = None
        self.error: Exception | None = None
        self.raised: Exception | None = None

    def __aiter__(self) -> RunStream:
        return self

    async def __anext__(self) -> StreamEvent | FunctionResult:
        try:
            event: StreamEvent | FunctionResult = await self._events.receive()
        except anyio.EndOfStream:
            if self.error is not None:
                raise self.error from None
            raise StopAsyncIteration from None
        return event

    @property
    def result(self) -> RunResult:
        """What the run came to.

        Raises:
            StreamError: it has not ended.
        """
        if self.outcome is None:
            raise StreamError("The run has not ended: read its events to the last first.")
        return self.outcome


class _Asking:
    """How a run asks its executor's model."""

    def __init__(
        self,
        executor: LlmExecutorWithFunctions[Any],
        functions: Any,
        strict: bool,
        json_schema: Any,
        llm_options: LlmOptions | None,
    ) -> None:
        self._executor = executor
        self._options = llm_options
        self._keywords = {
            "functions": functions,
            "function_call_strict_input": strict,
            "json_schema": json_schema,
        }

    async def call(self, messages: Sequence[Message], function_call: FunctionCall) -> OutputResult:
        return await self._executor._ask(  # noqa: SLF001 - one class in two pieces
            messages, self._options, function_call=function_call, **self._keywords
        )

    def stream(self, messages: Sequence[Message], function_call: FunctionCall) -> Events:
        return self._executor._open(  # noqa: SLF001 - one class in two pieces
            messages, self._options, function_call=function_call, **self._keywords
        )


class LlmExecutorOpenAiFunctions(LlmExecutorWithFunctions[T]):
    """Deprecated: `LlmExecutorWithFunctions` works with every provider."""

    def __init__(self, **options: Any) -> None:
        warnings.warn(
            "LlmExecutorOpenAiFunctions is deprecated since 0.1; use LlmExecutorWithFunctions or "
            "create_llm_function_executor, which work with every provider.",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(**options)


def _decision(decisions: Mapping[str, Any], function_id: str) -> Decision:
    from ..dispatching import DEFER

    decision: Decision = decisions.get(function_id, DEFER)
    return decision


def _settle(pending: PendingRun, decisions: Mapping[str, Decision | FunctionResult]) -> PendingRun:
    """The pending run with the results among the decisions put in their place."""
    from msgspec.structs import replace

    known = {call.function_id for call in pending.waiting}
    unknown = sorted(set(decisions) - known)
    if unknown:
        raise ConfigurationError(
            f"No call waits under {', '.join(unknown)}; there wait {', '.join(sorted(known))}."
        )
    given = {key: value for key, value in decisions.items() if isinstance(value, FunctionResult)}
    return replace(
        pending,
        waiting=tuple(call for call in pending.waiting if call.function_id not in given),
        done=(*pending.done, *given.values()),
    )
