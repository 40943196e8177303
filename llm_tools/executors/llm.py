"""`LlmExecutor`: a prompt, a model and a parser as one function of the input."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any, Generic, TypeAlias, TypeVar, cast

from ..content import (
    Message,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
)
from ..errors import (
    ConfigurationError,
    ContentFilterError,
    LlmToolsError,
    RefusalError,
    ResponseDecodeError,
)
from ..given import check_mapping
from ..history import read_messages
from ..model import Events, Model, check_model
from ..options import LlmOptions
from ..parsers import Parser, create_parser
from ..prompts import Prompt
from ..prompts.templates import read_values
from .core import Executor
from .hooks import ExecutionMetadata, GivenHooks

T = TypeVar("T")


PromptSource: TypeAlias = Prompt | str | Callable[[Any], Any]


class LlmExecutor(Executor[T], Generic[T]):
    """Formats the prompt with the input, calls the model, parses the text."""

    def __init__(
        self,
        *,
        llm: Model,
        prompt: PromptSource,
        parser: Parser[T] | None = None,
        name: str | None = None,
        hooks: GivenHooks | None = None,
    ) -> None:
        super().__init__(name or "llm_executor", hooks)
        check_model(llm)
        check_prompt(prompt)
        check_parser(parser)
        self._llm = llm
        self._prompt = prompt
        self._parser: Parser[T] = parser or cast("Parser[T]", create_parser("string"))

    async def execute(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
        trace_id: str | None = None,
    ) -> T:
        """The parser's output for the model's text.

        Args:
            input: the prompt's values (a mapping; anything else is the value `input`).
            json_schema: the shape of the text; a JSON parser with a schema sets it by itself.
            llm_options: changed options of the model, for this call.
            trace_id: handed to the hooks.

        Raises:
            LlmToolsError: see `Llm.call`; and `PromptError`, `ParserError`, `RefusalError`,
                `ContentFilterError`, or `ResponseDecodeError` for an answer with nothing in it.
        """

        async def work(_: ExecutionMetadata) -> T:
            messages = await self._messages(input)
            answer = await self._ask(messages, llm_options, json_schema=json_schema)
            return self._output(answer, read_values(input))

        output: T = await self._observed(work, trace_id)
        return output

    async def call(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
    ) -> OutputResult:
        """The whole answer, unparsed. Takes what `execute` does but `trace_id`; no hook is told."""
        messages = await self._messages(input)
        return await self._ask(messages, llm_options, json_schema=json_schema)

    @asynccontextmanager
    async def stream(
        self,
        input: Any = None,  # noqa: A002 - the word of the interface
        *,
        json_schema: Any = None,
        llm_options: LlmOptions | None = None,
    ) -> AsyncIterator[Events]:
        """The answer as events: `async with executor.stream(…) as events`; see `EventStream`."""
        events = self._open(await self._messages(input), llm_options, json_schema=json_schema)
        async with events:
            yield events

    async def _ask(
        self, messages: Sequence[Message], llm_options: LlmOptions | None, **options: Any
    ) -> OutputResult:
        options["json_schema"] = self._schema(options["json_schema"])
        return await self._model(llm_options).call(messages, **options)

    def _open(
        self, messages: Sequence[Message], llm_options: LlmOptions | None, **options: Any
    ) -> Events:
        options["json_schema"] = self._schema(options["json_schema"])
        return self._model(llm_options).stream(messages, **options)

    def _schema(self, json_schema: Any) -> Any:
        return self._parser.json_schema if json_schema is None else json_schema

    def _model(self, changes: LlmOptions | None) -> Model:
        known: Any = check_mapping("llm_options", changes, "options of use_llm() by name")
        return self._llm.with_options(**known) if known else self._llm

    async def _messages(self, value: Any) -> tuple[Message, ...]:
        """The prompt's messages for an input."""
        prompt: Any = self._prompt
        if not hasattr(prompt, "format") and callable(prompt):
            prompt = prompt(value)
            if isawaitable(prompt):
                prompt = await prompt
        if isinstance(prompt, str) or not hasattr(prompt, "format"):
            return read_messages(prompt)
        messages: list[Message] = prompt.format(value)
        return tuple(messages)

    def _output(self, result: OutputResult, values: Mapping[str, Any]) -> T:
        """The parser's output, or the error that says why there is none.

        `values` are those of the input.
        """
        if result.stop_reason == "content_filter":
            raise ContentFilterError(
                f"A content filter of the provider stopped the answer "
                f"({result.provider_stop_reason}). Change the prompt; .result holds what came.",
                status=200,
                code=result.provider_stop_reason,
                result=result,
            )
        if result.stop_reason == "refusal":
            raise RefusalError(
                "The model declined to answer. Change the prompt; .result holds its words.",
                result=result,
            )
        if not any(_says_something(item) for item in result.content):
            raise _nothing(result)
        try:
            if self._parser.takes_values:
                return self._parser.parse(result.text, values=values)
            return self._parser.parse(result.text)
        except LlmToolsError as error:
            if error.result is None:
                error.result = result
            raise


def _says_something(item: Any) -> bool:
    return isinstance(item, OutputResultText | OutputResultImage | OutputResultFunctionUse)


def _nothing(result: OutputResult) -> ResponseDecodeError:
    reason = result.provider_stop_reason or result.stop_reason
    return ResponseDecodeError(
        f"The answer holds neither text nor a call (stop reason {reason}). Ask again; "
        ".result holds what came.",
        result=result,
    )


def check_prompt(prompt: Any) -> None:
    """Refuse what cannot make messages.

    Raises:
        ConfigurationError: it is no prompt, string or function of the input.
    """
    if not (isinstance(prompt, str) or hasattr(prompt, "format") or callable(prompt)):
        raise ConfigurationError(
            f"{prompt!r} is no prompt: use create_chat_prompt(), a string, or a function of the "
            "input that returns one."
        )


def check_parser(parser: Any) -> None:
    """Refuse what cannot parse, such as a parser's kind alone.

    Raises:
        ConfigurationError: it is neither None nor a parser.
    """
    if parser is not None and not isinstance(parser, Parser):
        remedy = f"create_parser({parser!r})" if isinstance(parser, str) else "create_parser(…)"
        raise ConfigurationError(f"{parser!r} is no parser: pass {remedy}.")
