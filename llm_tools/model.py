"""What everything above a model needs of it."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from typing_extensions import Unpack

from .content import OutputResult, StreamEvent
from .errors import ConfigurationError
from .functions.choice import FunctionCall
from .functions.definitions import FunctionLike
from .history import Messages
from .options import LlmOptions

Functions: TypeAlias = Iterable[FunctionLike]


class Events(Protocol):
    """A streamed answer: an async context manager and an async iterator of events."""

    async def __aenter__(self) -> Self:
        """Send the request."""

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the stream."""

    def __aiter__(self) -> Self:
        """Itself."""

    async def __anext__(self) -> StreamEvent:
        """The next event."""

    @property
    def result(self) -> OutputResult:
        """The whole answer, after the last event."""


class Model(Protocol):
    """A model: `Llm`, a fallback of several, or `testing.ScriptedLlm`."""

    async def call(
        self,
        messages: Messages,
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
    ) -> OutputResult:
        """One request, one answer."""

    def stream(
        self,
        messages: Messages,
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
    ) -> Events:
        """One request, its answer as events."""

    def with_options(self, **changes: Unpack[LlmOptions]) -> Self:
        """The same model under changed options."""


def check_model(model: Any) -> None:
    """Refuse what is no model, such as its key alone.

    Raises:
        ConfigurationError: it has nothing to call.
    """
    if not callable(getattr(model, "call", None)):
        remedy = f"use_llm({model!r})" if isinstance(model, str) else "what use_llm(…) gives"
        raise ConfigurationError(f"{model!r} is no model: pass {remedy}.")
