"""`LlmExecutorWithFunctions`: the same, and the model may call functions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar, overload

from typing_extensions import Unpack

from ..callables import visible_functions
from ..content import FunctionResult, OutputResult, OutputResultContent, RunResult
from ..dialogue import Dialogue
from ..dispatching import Decision
from ..errors import ConfigurationError
from ..functions.choice import FunctionCall
from ..loop import PendingRun, Run, RunLimits, RunOptions, is_continued, split_prompt
from ..model import Events, Functions
from ..options import LlmOptions
from ..prompts.templates import read_values
from .hooks import ExecutionMetadata
from .keywords import (
    RunKeywords,
    RunSettings,
    StreamedRunKeywords,
    kept,
    read_dialogue,
    read_keywords,
    settings_of,
)
from .llm import LlmExecutor
from .running import (
    Asking,
    OpenRun,
    RunStream,
    decide_by,
    definitions_of,
    offered_again,
    offered_for,
    runnable,
    settle,
)

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
        functions: Functions,
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
        functions: Functions | None = None,
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
            if result.function_calls:
                return list(result.content)
            return self._output(result, read_values(input))

        output: T | list[OutputResultContent] = await self._observed(work, trace_id)
        return output

    async def call(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
    ) -> OutputResult:
        """The whole answer, unparsed. Takes what `execute` does but `trace_id`; no hook is told."""
        return await self._ask(
            await self._messages(input),
            llm_options,
            functions=offered_for(functions, input),
            function_call=function_call,
            function_call_strict_input=function_call_strict_input,
            json_schema=json_schema,
        )

    @asynccontextmanager
    async def stream(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
    ) -> AsyncIterator[Events]:
        """The answer as events: `async with executor.stream(…) as events`; see `EventStream`."""
        events = self._open(
            await self._messages(input),
            llm_options,
            functions=offered_for(functions, input),
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
        functions: Functions,
        dialogue: Dialogue | None = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
        **options: Unpack[RunKeywords],
    ) -> RunResult:
        """The whole loop: call, dispatch, reply, until text.

        The prompt's closing user messages become part of the dialogue, the rest of it leads every
        request. A dialogue that ends with results and already holds this turn is continued.

        Args:
            input, functions, llm_options, trace_id: as for `execute`; every function needs its
                Python function.
            dialogue: grows in place after each whole round; a new one if not given.
            options: those of `RunKeywords`: `function_call` and its strictness, `json_schema`,
                limits, approval, concurrency, streaming.

        Returns:
            The parsed text as `output`; or, where `approve` put a call off, a result whose
            `pending` waits for `resume`.

        Raises:
            RunLimitError: a limit was reached; `.result` is the `RunResult` so far.
            LlmToolsError: as for `execute`, with the `RunResult` so far as `.result`; its `output`
                is the answer that was refused, if there was one.
        """
        limits, settings = read_keywords(options)
        conversation = read_dialogue(dialogue, self.name)
        values = read_values(input)
        shown = visible_functions(functions, values)

        async def work(metadata: ExecutionMetadata) -> RunResult:
            lead, asking = split_prompt(await self._messages(input))
            if is_continued(conversation, asking):
                asking = ()
            told = self._run_options(shown, limits, settings, llm_options, metadata, values)
            return await Run(told, lead=lead, asking=asking, dialogue=conversation).go()

        result: RunResult = await self._observed(work, trace_id)
        return result

    async def resume(
        self,
        pending: PendingRun,
        *,
        decisions: Mapping[str, Decision | FunctionResult],
        functions: Functions | None = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
        **changes: Unpack[RunSettings],
    ) -> RunResult:
        """Take up a run that waited for decisions.

        What `run` was told still holds. A pending run that came from JSON has forgotten the
        functions and callbacks (`functions`, `approve`, `on_event`, a `function_call` that is a
        function), and none remembers `llm_options`: give them again where they are needed.

        Args:
            pending: what `RunResult.pending` was, in this or another process.
            decisions: by function id: True, False, `Refused`, `Edited`, or a `FunctionResult` that
                stands for the call. Calls without a decision go on waiting.
            functions: as for `run`; needed where `pending` came from JSON. Those with a visibility
                handler are there if they were in the run.
            llm_options, trace_id: as for `run`.
            changes: options of `run` (but its limits and dialogue) that are to be others now.

        Raises:
            ConfigurationError: no functions, an unknown option, or no decision on a waiting call.
            LlmToolsError: as for `run`.
        """
        if not isinstance(pending, PendingRun):
            raise ConfigurationError(
                f"resume() takes a RunResult's pending, got {type(pending).__name__}; "
                "PendingRun.from_json(text) reads a stored one."
            )
        if functions is None and "functions" not in pending.local:
            raise ConfigurationError("A pending run from JSON needs functions=[…] to be resumed.")
        again = pending.local.get("functions") if functions is None else functions
        offered = offered_again(again, pending)
        settled, settings = settle(pending, decisions), settings_of(pending, changes)
        values = pending.local.get("values", {})

        async def work(metadata: ExecutionMetadata) -> RunResult:
            options = self._run_options(
                offered, pending.limits, settings, llm_options, metadata, values
            )
            run = Run(
                options,
                lead=settled.lead,
                asking=settled.asking,
                dialogue=settled.dialogue,
                pending=settled,
            )
            return await run.go(decide_by(decisions))

        result: RunResult = await self._observed(work, trace_id)
        return result

    def stream_run(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        functions: Functions,
        **options: Unpack[StreamedRunKeywords],
    ) -> AbstractAsyncContextManager[RunStream]:
        """`run` as events: every turn's stream events, and each `FunctionResult`.

        `async with executor.stream_run(…) as events: async for event in events: …`; then
        `events.result` is the `RunResult`. The run waits for its reader; leaving the block ends
        it. Takes what `run` does but `on_event`; iterating raises what `run` does.
        """
        return OpenRun(lambda tell: self.run(input, functions=functions, on_event=tell, **options))

    def _run_options(
        self,
        functions: Any,
        limits: RunLimits,
        settings: RunSettings,
        llm_options: LlmOptions | None,
        metadata: ExecutionMetadata,
        values: Mapping[str, Any],
    ) -> RunOptions:
        """What the loop needs to know; `values` are those of the input.

        Raises:
            ConfigurationError: a function without Python behind it.
        """
        hooks = self._hooks
        asked: dict[str, Any] = dict(settings)
        schema = self._schema(asked.pop("json_schema", None))
        strict = asked.pop("function_call_strict_input", False)

        async def on_turn(turn: int, result: OutputResult) -> None:
            await hooks.tell("on_turn", turn, result, metadata)

        async def on_function(result: FunctionResult) -> None:
            await hooks.tell("on_function", result, metadata)

        return RunOptions(
            ask=Asking(
                self._model(llm_options),
                functions=definitions_of(functions),
                function_call_strict_input=strict,
                json_schema=schema,
            ),
            finish=lambda answer: self._output(answer, values),
            offered=runnable(functions),
            limits=limits,
            on_turn=on_turn if hooks.has("on_turn") else None,
            on_function=on_function if hooks.has("on_function") else None,
            kept=kept(settings),
            local={"functions": functions, "settings": settings, "values": values},
            **asked,
        )
