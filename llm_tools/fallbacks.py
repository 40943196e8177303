"""Several models as one: the next is asked where the one before fails."""

from __future__ import annotations

from collections.abc import Sequence
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
    the others as notes.

    Args:
        models: what `use_llm` gives.
        on: the errors that make the next one try; all others are raised at once.

    Raises:
        ConfigurationError: no model, or something that is none.
    """
    if not models:
        raise ConfigurationError("fallback() needs at least one model.")
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
        for model in self._models:
            try:
                result = await model.call(messages, **options)
            except LlmToolsError as error:
                failures.add(model, error)
            else:
                return failures.told(result)
        raise failures.last()

    def stream(self, messages: Messages, **options: Any) -> FallbackStream:
        """The answer of the first whose stream opens, as events; then there is no way back."""
        return FallbackStream(self._models, self._on, messages, options)

    def __repr__(self) -> str:
        return f"<FallbackLlm {', '.join(map(repr, self._models))}>"


class FallbackStream:
    """`EventStream`'s twin over several models."""

    __slots__ = ("_events", "_failures", "_messages", "_models", "_options")

    def __init__(
        self,
        models: Sequence[Model],
        on: tuple[type[LlmToolsError], ...],
        messages: Messages,
        options: dict[str, Any],
    ) -> None:
        self._models = models
        self._failures = _Failures(on)
        self._messages = messages
        self._options = options
        self._events: Events | None = None

    async def __aenter__(self) -> Self:
        for model in self._models:
            events = model.stream(self._messages, **self._options)
            try:
                self._events = await events.__aenter__()
            except LlmToolsError as error:
                self._failures.add(model, error)
            else:
                return self
        raise self._failures.last()

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
        if self._events is None:
            raise StreamError("Enter the stream first: async with llm.stream(…) as events.")
        event = await self._events.__anext__()
        if isinstance(event, Finished):
            return Finished(result=self._failures.told(event.result))
        return event

    @property
    def result(self) -> OutputResult:
        """The whole answer, once the last event has come.

        Raises:
            StreamError: it has not.
        """
        if self._events is None:
            raise StreamError("The stream has not ended: read it to its last event first.")
        return self._failures.told(self._events.result)


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
            raise error
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
        *others, last = self._errors
        for other in others:
            last.add_note(f"before it: {type(other).__name__}: {other}")
        return last
