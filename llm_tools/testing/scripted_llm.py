"""A model that answers from a script."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import Unpack

from ..content import (
    Finished,
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    Message,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    ReasoningDelta,
    RefusalDelta,
    ResultWarning,
    StopReason,
    StreamEvent,
    TextDelta,
    Usage,
)
from ..errors import ConfigurationError, LlmToolsError, StreamError
from ..functions.choice import read_function_call
from ..functions.output import normalize_output
from ..functions.visibility import offer_functions
from ..given import check_switch
from ..history import mend, read_messages
from ..history.parts import ALL_PARTS, read_parts
from ..ids import UniqueIds
from ..options import LlmOptions
from ..rendering import json_text
from ..reply import check_answer, mend_text, warn_of_forbidden
from ..spec import Call, Plan

Answer: TypeAlias = (
    OutputResult
    | str
    | Mapping[str, Any]
    | Sequence[Any]
    | Exception
    | Callable[["ScriptedCall"], Any]
)


class ScriptedCall(Struct, frozen=True, kw_only=True):
    """One call as the model saw it: mended messages, names of functions, and the options."""

    messages: tuple[Message, ...]
    functions: tuple[str, ...]
    function_call: Any
    function_call_strict_input: bool
    json_schema: Any
    options: Mapping[str, Any]


class ScriptedLlm:
    """A model for tests of your own code: no wire, no key, the same checks.

    Each call takes the next answer: text, an `OutputResult`, a content part or a list of parts
    (text, structs or dicts, `{"type": "function_use", "name": …, "input": …}`), an exception to
    raise, or a function of the `ScriptedCall` that returns one of these (sync or async). A list
    that ends with an exception is an answer that breaks off: a stream brings the parts, then
    raises it.
    `calls` holds what was asked.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[ScriptedCall], Any]) -> None:
        self._answer_all = answers if callable(answers) else None
        self._answers = iter(()) if callable(answers) else iter(list(answers))
        self._options: dict[str, Any] = {}
        self.calls: list[ScriptedCall] = []

    def with_options(self, **changes: Unpack[LlmOptions]) -> Self:
        """The same script; the options are only recorded."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._options = {**self._options, **changes}
        return other

    async def call(
        self,
        messages: Any,
        *,
        functions: Any = None,
        function_call: Any = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
    ) -> OutputResult:
        """The next answer; a forced call and a schema are checked as for a real model.

        Raises:
            ConfigurationError: the script has ended, or the options are wrong.
            LlmToolsError: as scripted, or what `Llm.call` would raise for this answer.
        """
        answer = await self._next(
            messages, functions, function_call, function_call_strict_input, json_schema
        )
        if answer.error is not None:
            raise answer.error
        return answer.result

    def stream(
        self,
        messages: Any,
        *,
        functions: Any = None,
        function_call: Any = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
    ) -> ScriptedStream:
        """The next answer as events."""
        return ScriptedStream(
            lambda: self._next(
                messages, functions, function_call, function_call_strict_input, json_schema
            )
        )

    async def _next(
        self, messages: Any, functions: Any, function_call: Any, strict: bool, json_schema: Any
    ) -> _Scripted:
        read, _ = mend(read_messages(messages), strict=False)
        offered = None if functions is None else offer_functions(functions)
        known = offered.by_name if offered is not None else {}
        choice = read_function_call(function_call, known)
        seen = ScriptedCall(
            messages=read,
            functions=tuple(known),
            function_call=function_call,
            function_call_strict_input=strict,
            json_schema=json_schema,
            options=dict(self._options),
        )
        self.calls.append(seen)
        answer: Any = self._answer_all or next(self._answers, None)
        while callable(answer):
            answer = answer(seen)
            if hasattr(answer, "__await__"):
                answer = await answer
        if answer is None:
            raise ConfigurationError("The script of this ScriptedLlm has ended.")
        if isinstance(answer, Exception):
            raise answer
        return _read_answer(answer, _plan(read, offered, choice, strict, json_schema))


class _Scripted(Struct, frozen=True, kw_only=True):
    """An answer, and the error that follows it; `broken` if that ends it early."""

    result: OutputResult
    error: LlmToolsError | None
    broken: bool = False


class ScriptedStream:
    """`EventStream`'s twin over a scripted answer."""

    def __init__(self, start: Callable[[], Awaitable[_Scripted]]) -> None:
        self._start = start
        self._events: deque[StreamEvent] = deque()
        self._partial: OutputResult | None = None
        self._result: OutputResult | None = None
        self._error: LlmToolsError | None = None

    async def __aenter__(self) -> Self:
        answer = await self._start()
        self._events.extend(_events(answer))
        self._partial = answer.result
        self._error = answer.error
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._events.clear()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        if not self._events:
            error, self._error = self._error, None
            if error is not None:
                raise error
            raise StopAsyncIteration
        event = self._events.popleft()
        if isinstance(event, Finished):
            self._result = event.result
        return event

    @property
    def result(self) -> OutputResult:
        """The whole answer, once the last event has come.

        Raises:
            StreamError: it has not; `result` is what there is of it.
        """
        if self._result is None:
            raise StreamError(
                "The stream has not ended: read it to its last event first.", result=self._partial
            )
        return self._result


def _plan(
    messages: tuple[Message, ...], offered: Any, choice: Any, strict: bool, json_schema: Any
) -> Plan:
    from ..functions.output import PreparedOutput
    from ..registry import resolve

    output = normalize_output(json_schema) if json_schema is not None else None
    check_switch("function_call_strict_input", strict)
    call = Call(messages=messages, functions=offered, choice=choice, strict=strict, output=output)
    prepared = PreparedOutput(output=output, schema=output.schema) if output is not None else None
    return Plan(target=resolve("openai.scripted"), call=call, output=prepared)


def _read_answer(answer: Any, plan: Plan) -> _Scripted:
    if isinstance(answer, list | tuple) and answer and isinstance(answer[-1], LlmToolsError):
        *parts, error = answer
        result = _result(plan, parts)
        if error.result is None:
            error.result = result
        return _Scripted(result=result, error=error, broken=True)
    result = _result(plan, answer)
    return _Scripted(result=result, error=check_answer(plan, result))


def _result(plan: Plan, answer: Any) -> OutputResult:
    if isinstance(answer, OutputResult):
        return answer
    if isinstance(answer, str):
        answer = [OutputResultText(text=answer)]
    elif isinstance(answer, Mapping) or not isinstance(answer, Sequence):
        answer = [answer]
    warnings: list[ResultWarning] = []
    content = _as_read(plan, _with_ids(answer), warnings)
    kinds = {type(part) for part in content}
    called: StopReason = "function_use" if OutputResultFunctionUse in kinds else "stop"
    return OutputResult(
        id="scripted",
        name="scripted",
        created=0,
        usage=Usage(input_tokens=1, output_tokens=1),
        stop_reason="refusal" if OutputResultRefusal in kinds else called,
        content=content,
        warnings=tuple(warnings),
    )


def _as_read(
    plan: Plan, content: tuple[OutputResultContent, ...], warnings: list[ResultWarning]
) -> tuple[OutputResultContent, ...]:
    """What a provider's answer of these parts would be read as."""

    def warn(code: str, detail: str) -> None:
        warnings.append(ResultWarning(code=code, detail=detail))

    if plan.output is not None:
        content = mend_text(plan.output, content, warn)
    choice = plan.call.choice
    if choice is None:
        return content
    warn_of_forbidden(choice, content, warn)
    return tuple(
        replace(part, forbidden=not choice.allows(part.name))
        if isinstance(part, OutputResultFunctionUse)
        else part
        for part in content
    )


def _with_ids(parts: Iterable[Any]) -> tuple[OutputResultContent, ...]:
    ids = UniqueIds()
    filled: list[Any] = []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "function_use":
            given = part.get("functionId") or part.get("function_id")
            rest = {key: value for key, value in part.items() if key != "function_id"}
            filled.append({"input": {}, **rest, "functionId": ids.claim(given)})
        elif isinstance(part, str):
            filled.append(OutputResultText(text=part))
        else:
            filled.append(part)
    return read_parts(filled, ALL_PARTS, "answer")


def _events(answer: _Scripted) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    calls = answer.result.function_calls
    cut_off = answer.broken or answer.result.stop_reason == "length"
    index = 0
    for part in answer.result.content:
        match part:
            case OutputResultText(text=text):
                events.append(TextDelta(text=text))
            case OutputResultReasoning(text=text) if text:
                events.append(ReasoningDelta(text=text))
            case OutputResultRefusal(text=text):
                events.append(RefusalDelta(text=text))
            case OutputResultFunctionUse():
                start = FunctionUseStart(index=index, name=part.name, function_id=part.function_id)
                events += [
                    start,
                    FunctionInputDelta(index=index, partial_json=json_text(part.input)),
                ]
                if not (cut_off and part is calls[-1]):
                    events.append(FunctionUseDone(index=index, function_use=part))
                index += 1
    return events if answer.broken else [*events, Finished(result=answer.result)]
