"""`CallableExecutor`: a function, and what the model and `dispatch` must know of it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeAlias

from msgspec import Struct

from ..content import JSON
from ..errors import FunctionInputError
from ..functions.definitions import FunctionDefinition
from ..functions.validating import validate
from ..given import check_mapping
from .settings import FunctionSettings

Input: TypeAlias = dict[str, JSON]
Problem: TypeAlias = str | None
"""What is wrong with an input, in words for the model; None if nothing is."""

VisibilityHandler: TypeAlias = Callable[[Any, Mapping[str, Any]], bool]
"""Takes the input and the attributes; says whether the function is there for them."""

ValidateInput: TypeAlias = Callable[[Input], Any]
"""Answers True or None (fine), False or a text (refused), or raises; sync or async."""

_LOG = logging.getLogger("llm_tools")


class Implementation(Struct, frozen=True, kw_only=True):
    """How a function is called.

    Attributes:
        call: takes what `decode` gave; the function's value, or an awaitable of it.
        decode: turns valid input into what `call` takes; raises `FunctionInputError`.
        is_async: whether `call` belongs on the event loop, not in a thread.
        source: the Python function behind it, where there is one.
        whole: whether the function takes the input as one value.
    """

    call: Callable[[Any], Any]
    decode: Callable[[Input], Any]
    is_async: bool
    source: Any = None
    whole: bool = True


class Later:
    """A coroutine on its way out of a worker thread; trio lets none out as it is."""

    __slots__ = ("_coroutine",)

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()


class CallableExecutor:
    """A function a model may call; made by `create_callable_executor` or `@tool`.

    Attributes:
        key: an identifier of the caller's own; the name if none was given.
        attributes: of the caller's own; its visibility handler sees them.
        settings: how `dispatch` and `run` run it.
    """

    def __init__(
        self,
        *,
        implementation: Implementation,
        define: Callable[[], FunctionDefinition],
        settings: FunctionSettings,
        key: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        visibility_handler: VisibilityHandler | None = None,
        validate_input: ValidateInput | None = None,
    ) -> None:
        self.settings = settings
        given = check_mapping("attributes", attributes, "values by name")
        self.attributes: dict[str, Any] = dict(given)
        self._key = key
        self._implementation = implementation
        self._define = define
        self._definition: FunctionDefinition | None = None
        self._visibility_handler = visibility_handler
        self._validate_input = validate_input

    @property
    def is_settled(self) -> bool:
        """Whether `definition` is there, and so stays what it is."""
        return self._definition is not None

    @property
    def is_constant(self) -> bool:
        """Whether it is settled, and there for every input."""
        seen = type(self).visible is CallableExecutor.visible and "visible" not in vars(self)
        return seen and self._visibility_handler is None and self.is_settled

    @property
    def definition(self) -> FunctionDefinition:
        """What the model is told; made on first use, and not changed afterwards.

        Raises:
            ConfigurationError: it is derived from a Python function that cannot be described.
        """
        if self._definition is None:
            self._definition = self._define()
        return self._definition

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.definition.name

    @property
    def key(self) -> str:
        """The caller's own identifier for it."""
        return self.name if self._key is None else self._key

    @property
    def is_async(self) -> bool:
        """Whether it runs on the event loop; a sync function runs in a worker thread."""
        return self._implementation.is_async

    @property
    def source(self) -> Any:
        """The Python function behind it, or None where an object is."""
        return self._implementation.source

    @property
    def qualified_name(self) -> tuple[str, str]:
        """Module and qualified name of the Python function behind it."""
        return self.source.__module__, self.source.__qualname__

    def visible(self, input: Any, attributes: Mapping[str, Any] | None = None) -> bool:  # noqa: A002 - the handler's word
        """Whether the function is there for this input; a handler that fails hides it."""
        if self._visibility_handler is None:
            return True
        try:
            return bool(self._visibility_handler(input, {**self.attributes, **(attributes or {})}))
        except Exception as error:  # noqa: BLE001 - a caller's handler may raise anything
            _LOG.warning(
                "visibility_handler of %r raised %s; it is hidden", self.name, type(error).__name__
            )
            return False

    def validate(self, input: Input) -> Problem | Awaitable[Problem]:  # noqa: A002 - the handler's word
        """What is wrong with an input: by the schema first, then by `validate_input`.

        An async `validate_input` makes this an awaitable.
        """
        if not isinstance(input, dict):
            return f"expected an object, got {type(input).__name__}"
        problem = self._check(input)
        if problem is not None or self._validate_input is None:
            return problem
        try:
            answer = self._validate_input(input)
        except Exception as error:  # noqa: BLE001 - a caller's handler may raise anything
            return _read_error(error)
        return _await_answer(answer) if inspect.isawaitable(answer) else _read_answer(answer)

    def decode(self, input: Input) -> Any:  # noqa: A002 - the field's name
        """What the Python function takes: the input itself, or arguments as its hints ask for.

        Raises:
            FunctionInputError: the input does not fit.
        """
        return self._implementation.decode(input)

    async def invoke(self, input: Input) -> Any:  # noqa: A002 - the field's name
        """Call it, on the event loop, whatever it is; the value as it came.

        Raises:
            FunctionInputError: the input does not fit.
        """
        value = self.invoke_sync(input)
        return await value if inspect.isawaitable(value) else value

    def invoke_sync(
        self,
        input: Input,  # noqa: A002 - the field's name
        begin: Callable[[], None] | None = None,
    ) -> Any:
        """Call it, in this thread; an async function gives an awaitable.

        Args:
            input: valid input.
            begin: called right before the function is.

        Raises:
            FunctionInputError: the input does not fit.
        """
        decoded = self.decode(input)
        if begin is not None:
            begin()
        value = self._implementation.call(decoded)
        return Later(value) if inspect.iscoroutine(value) else value

    def remote(self, input: Input) -> tuple[Callable[..., Any], tuple[Any, ...]]:  # noqa: A002 - the field's name
        """A module-level function and its arguments, for a worker process to do the call.

        Raises:
            FunctionInputError: the input does not fit.
        """
        decoded = self.decode(input)
        whole = self._implementation.whole
        positional, named = ([decoded], {}) if whole else decoded
        return call_by_name, (*self.qualified_name, positional, named)

    async def execute(self, input: Input) -> Any:  # noqa: A002 - the word of executors
        """Check the input, then call it; so that it can be another function's handler.

        Raises:
            FunctionInputError: the input does not fit, or `validate_input` refused it.
        """
        problem = self.validate(input)
        if inspect.isawaitable(problem):
            problem = await problem
        if problem is not None:
            raise FunctionInputError(f"The input of {self.name!r} is not usable: {problem}")
        return await self.invoke(input)

    def _check(self, value: Input) -> Problem:
        parameters = self.definition.parameters
        return None if parameters is None else validate(parameters, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def call_by_name(module: str, name: str, positional: list[Any], named: dict[str, Any]) -> Any:
    """Call a function another process can import, past a decorator that took its name."""
    found = attrgetter(name)(import_module(module))
    function = found.source if isinstance(found, CallableExecutor) else found
    return function(*positional, **named)


async def _await_answer(answer: Awaitable[Any]) -> Problem:
    try:
        return _read_answer(await answer)
    except Exception as error:  # noqa: BLE001 - a caller's handler may raise anything
        return _read_error(error)


def _read_answer(answer: Any) -> Problem:
    if isinstance(answer, str):
        return answer or None
    return "the input was refused" if answer is False else None


def _read_error(error: Exception) -> str:
    return str(error) or type(error).__name__
