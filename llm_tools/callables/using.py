"""`UseExecutors`: several functions as one thing to offer, look up and call."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import anyio
from anyio import to_thread

from ..content import FunctionResult, OutputResultFunctionUse
from ..errors import (
    ConfigurationError,
    FunctionInputError,
    FunctionTimeoutError,
    UnknownFunctionError,
)
from ..functions.arguments import read_arguments
from ..functions.definitions import FunctionDefinition, FunctionLike, normalize_functions
from ..given import check_name
from ..history import result_content
from ..ids import mint_id
from .collecting import as_callable
from .executor import CallableExecutor, Problem

Offered: TypeAlias = CallableExecutor | FunctionDefinition


def use_executors(functions: Iterable[FunctionLike]) -> UseExecutors:
    """Several functions as one thing to offer, look up and call.

    Args:
        functions: `CallableExecutor`s, `@tool`s, typed Python functions, or definitions.

    Raises:
        ConfigurationError: something else, or a name given twice.
    """
    return UseExecutors(functions)


class UseExecutors:
    """Functions by name, in order. It can be given wherever a list of functions can."""

    __slots__ = ("_offered",)

    def __init__(self, functions: Iterable[FunctionLike]) -> None:
        if not isinstance(functions, Iterable):
            raise ConfigurationError(
                f"use_executors() takes a list of functions, got {type(functions).__name__}."
            )
        items = list(functions)
        definitions = normalize_functions(items).definitions
        self._offered: dict[str, Offered] = {
            definition.name: as_callable(item) or definition
            for definition, item in zip(definitions, items, strict=True)
        }

    def __iter__(self) -> Iterator[Offered]:
        return iter(self._offered.values())

    def __len__(self) -> int:
        return len(self._offered)

    def has_function(self, name: str) -> bool:
        """Whether there is a function of this name."""
        return self.get_function(name) is not None

    def get_function(self, name: str) -> Offered | None:
        """The function of this name (a definition where no Python function is behind it)."""
        return self._offered.get(check_name("A function's name", name))

    def get_functions(self) -> list[Offered]:
        """All functions, in order."""
        return list(self._offered.values())

    def get_visible_functions(
        self,
        input: Any = None,  # noqa: A002 - the handlers' word
        attributes: Mapping[str, Any] | None = None,
    ) -> list[Offered]:
        """The functions that are there for this input and these attributes."""
        return [
            item
            for item in self._offered.values()
            if not isinstance(item, CallableExecutor) or item.visible(input, attributes)
        ]

    async def validate_function_input(
        self,
        name: str,
        input: Any,  # noqa: A002 - the field's name
    ) -> Problem:
        """What is wrong with an input, in words for the model; None if it may be used.

        Raises:
            UnknownFunctionError: there is no such function.
        """
        function = self._find(name)
        value, problem = _read_input(input)
        if problem is not None or not isinstance(function, CallableExecutor):
            return problem
        answer = function.validate(value)
        return await answer if inspect.isawaitable(answer) else answer

    async def call_function(
        self,
        name: str | OutputResultFunctionUse,
        input: Any = None,  # noqa: A002 - the field's name
        *,
        function_id: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> FunctionResult:
        """Call one function: visible, then valid, then run. Always a result, never an exception.

        Args:
            name: the function's name, or a whole call of the model's.
            input: the input, or its JSON text; None is `{}`.
            function_id: the call's id; a fresh one if not given.
            attributes: what a visibility handler sees beside the function's own.
        """
        if isinstance(name, OutputResultFunctionUse):
            call = name
        else:
            value, problem = _read_input(input)
            call = OutputResultFunctionUse(
                name=name,
                input=value,
                function_id=function_id or mint_id(),
                input_error=problem,
            )
        return await self._call(call, attributes)

    async def _call(
        self, call: OutputResultFunctionUse, attributes: Mapping[str, Any] | None
    ) -> FunctionResult:
        began = anyio.current_time()
        failure: Exception | None = None
        value = None
        try:
            value = await self._run(call, attributes)
            content = result_content(value)
        except Exception as error:  # noqa: BLE001 - whatever a function raises is its result
            content, failure = _error_text(error), error
        return FunctionResult(
            name=call.name,
            function_id=call.function_id,
            content=content,
            is_error=failure is not None,
            error=failure,
            duration=anyio.current_time() - began,
            value=value,
        )

    async def _run(
        self, call: OutputResultFunctionUse, attributes: Mapping[str, Any] | None
    ) -> Any:
        function = self._find(call.name)
        if not isinstance(function, CallableExecutor):
            raise UnknownFunctionError(f"The function {call.name!r} has no implementation here.")
        if not function.visible(call.input, attributes):
            raise self._unknown(call.name)
        problem = call.input_error
        if problem is None:
            problem = await self.validate_function_input(call.name, call.input)
        if problem is not None:
            raise FunctionInputError(f"The input of {call.name!r} is not usable: {problem}")
        return await _run_within(function, call.input)

    def _find(self, name: str) -> Offered:
        found = self.get_function(name)
        if found is None:
            raise self._unknown(name)
        return found

    def _unknown(self, name: str) -> UnknownFunctionError:
        others = ", ".join(sorted(self._offered.keys() - {name})) or "none"
        return UnknownFunctionError(
            f"There is no function {name!r}. Available functions: {others}."
        )


async def _run_within(function: CallableExecutor, value: dict[str, Any]) -> Any:
    seconds = function.settings.timeout
    try:
        with anyio.fail_after(seconds) as scope:
            if function.is_async:
                return await function.invoke(value)
            answer = await to_thread.run_sync(
                function.invoke_sync, value, abandon_on_cancel=seconds is not None
            )
            return await answer if inspect.isawaitable(answer) else answer
    except TimeoutError as error:
        if not scope.cancelled_caught:
            raise
        raise FunctionTimeoutError(f"{function.name!r} took longer than {seconds:g} s.") from error


def _read_input(value: Any) -> tuple[dict[str, Any], Problem]:
    """An input in any form, as an object."""
    if value is None or isinstance(value, str):
        read = read_arguments(value, repair=False)
        return read.input, read.error
    if isinstance(value, Mapping):
        return dict(value), None
    return {}, f"expected an object, got {type(value).__name__}"


def _error_text(error: Exception) -> str:
    """The error in one line, never its traceback."""
    text = str(error)
    if isinstance(error, UnknownFunctionError | FunctionInputError | FunctionTimeoutError):
        return text
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind
