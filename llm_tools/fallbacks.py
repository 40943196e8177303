"""Several models as one: the next is asked where the one before fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace
from typing_extensions import Unpack

from .content import Finished, OutputResult, ResultWarning, StreamEvent
from .errors import (
    ConfigurationError,
    LlmToolsError,
    QuotaExceededError,
    RateLimitError,
    ServerError,
    StreamError,
    TransportError,
)
from .history import Messages
from .model import Events, Model, check_model
from .options import LlmOptions

FALL_BACK_ON: tuple[type[LlmToolsError], ...] = (
    QuotaExceededError,
    RateLimitError,
    ServerError,
    TransportError,
)


def fallback(*models: Model, on: tuple[type[LlmToolsError], ...] = FALL_BACK_ON) -> FallbackLlm:
    """A model that asks the given ones in order.

    Each sees the same messages, made legal for its own provider; an answer of a later one carries
    a warning `fell_back` for each that failed. When all fail, the last error is raised and has
    the others as notes. A stream that fails falls back until it has given an event. `async with`
    gives each of them connections of its own.

    Args:
        models: what `use_llm` gives.
        on: the errors that make the next one try; all others are raised at once.

    Raises:
        ConfigurationError: no model, or something that is none; `on` names something else than
            errors.
    """
    if not models:
        raise ConfigurationError("fallback() needs at least one model.")
    if not (isinstance(on, tuple) and all(map(_is_error, on))):
        raise ConfigurationError(f"on={on!r} must be a tuple of errors of llm_tools.")
    for model in models:
        check_model(model)
    return FallbackLlm(models, on)


class FallbackLlm:
    """See `fallback`."""

    __slots__ = ("_models", "_on")

    def __init__(self, models: Sequence[Model], on: tuple[type[LlmToolsError], ...]) -> None:
        self._models = tuple(models)
        self._on = on

    def with_options(self, **changes: Unpack[LlmOptions]) -> FallbackLlm:
        """The same models, each under the changed options."""
        return FallbackLlm([model.with_options(**changes) for model in self._models], self._on)

    async def call(self, messages: Messages, **options: Any) -> OutputResult:
        """The first answer; takes and raises what `Llm.call` does."""
        failures = _Failures(self._on)
        messages, options = _kept(messages), _kept_all(options)
        for model in self._models:
            try:
                result = await model.call(messages, **options)
            except LlmToolsError as error:
                failures.add(model, error)
            else:
                return failures.told(result)
        raise failures.last()

    def stream(self, messages: Messages, **options: Any) -> FallbackStream:
        """The answer of the first that gives an event, as events; then there is no way back."""
        return FallbackStream(self._models, self._on, _kept(messages), _kept_all(options))

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as entered:
            for model in self._with_connections():
                await entered.enter_async_context(model)
            entered.pop_all()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        async with AsyncExitStack() as entered:
            for model in self._with_connections():
                entered.push_async_exit(model)

    async def aclose(self) -> None:
        """Close the connections `async with` opened for these models; later calls open again."""
        async with AsyncExitStack() as closing:
            for model in self._with_connections():
                closing.push_async_callback(model.aclose)

    def _with_connections(self) -> list[Any]:
        """A scripted model has none."""
        return [model for model in self._models if hasattr(model, "__aenter__")]

    def __repr__(self) -> str:
        return f"<FallbackLlm {', '.join(map(repr, self._models))}>"


class FallbackStream:
    """`EventStream`'s twin over several models."""

    __slots__ = ("_begun", "_entered", "_events", "_failures", "_left", "_messages", "_model",
                 "_options")  # fmt: skip

    def __init__(
        self,
        models: Sequence[Model],
        on: tuple[type[LlmToolsError], ...],
        messages: Messages,
        options: dict[str, Any],
    ) -> None:
        self._left = list(reversed(models))
        self._failures = _Failures(on)
        self._messages = messages
        self._options = options
        self._model: Model = models[0]
        self._events: Events | None = None
        self._entered = False
        self._begun = False

    async def __aenter__(self) -> Self:
        self._entered = True
        await self._open_next()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._events is not None:
            await self._events.__aexit__(exc_type, exc, traceback)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        if not self._entered:
            raise StreamError("Enter the stream first: async with llm.stream(…) as events.")
        while self._events is not None:
            try:
                event = await self._events.__anext__()
            except LlmToolsError as error:
                if self._begun:
                    raise
                self._failures.add(self._model, error)
            else:
                self._begun = True
                if isinstance(event, Finished):
                    return Finished(result=self._failures.told(event.result))
                return event
            failed, self._events = self._events, None
            await failed.__aexit__(None, None, None)
            await self._open_next()
        raise StopAsyncIteration

    @property
    def result(self) -> OutputResult:
        """The whole answer, once the last event has come.

        Raises:
            StreamError: it has not.
        """
        if self._events is None:
            raise StreamError("The stream has not ended: read it to its last event first.")
        return self._failures.told(self._events.result)

    async def _open_next(self) -> None:
        """Open the stream of the next model that answers.

        Raises:
            LlmToolsError: none did; or one that is no reason to fall back.
        """
        while self._left:
            self._model = self._left.pop()
            try:
                events = self._model.stream(self._messages, **self._options)
                self._events = await events.__aenter__()
            except LlmToolsError as error:
                self._failures.add(self._model, error)
            else:
                return
        raise self._failures.last()


class _Failures:
    """Who failed so far, and why."""

    __slots__ = ("_errors", "_on", "_warnings")

    def __init__(self, on: tuple[type[LlmToolsError], ...]) -> None:
        self._on = on
        self._errors: list[LlmToolsError] = []
        self._warnings: list[ResultWarning] = []

    def add(self, model: Model, error: LlmToolsError) -> None:
        """Remember a failure, or raise it where it is none that falls back."""
        if not isinstance(error, self._on):
            raise self._noted(error)
        self._errors.append(error)
        detail = f"{model!r}: {type(error).__name__}: {error}"
        self._warnings.append(ResultWarning(code="fell_back", detail=detail))

    def told(self, result: OutputResult) -> OutputResult:
        """The result with a warning for each failure before it."""
        if not self._warnings:
            return result
        return replace(result, warnings=(*result.warnings, *self._warnings))

    def last(self) -> LlmToolsError:
        """The error to raise when nobody is left."""
        return self._noted(self._errors.pop())

    def _noted(self, error: LlmToolsError) -> LlmToolsError:
        for before in self._errors:
            error.add_note(f"before it: {type(before).__name__}: {before}")
        return error


def _is_error(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, LlmToolsError)


def _kept(values: Any) -> Any:
    """What can be read once, as a list: each model reads it."""
    return list(values) if isinstance(values, Iterator) else values


def _kept_all(options: dict[str, Any]) -> dict[str, Any]:
    return {name: _kept(value) for name, value in options.items()}
