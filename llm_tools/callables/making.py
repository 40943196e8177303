"""`create_callable_executor`, and what makes a function fit to be one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from typing_extensions import Unpack

from ..errors import ConfigurationError, FunctionInputError
from ..functions.definitions import FunctionDefinition
from ..functions.deriving import derive_converter, derive_schema, told
from ..functions.numbers import refuse_lacking
from .executor import CallableExecutor, Implementation, Input, ValidateInput, VisibilityHandler
from .settings import FunctionOptions, FunctionSettings, read_settings


def create_callable_executor(
    *,
    name: str,
    handler: Any,
    description: str = "",
    parameters: Any = None,
    key: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    visibility_handler: VisibilityHandler | None = None,
    validate_input: ValidateInput | None = None,
    **settings: Unpack[FunctionOptions],
) -> CallableExecutor:
    """A function a model may call, from a handler of its whole input.

    Args:
        name: what the model calls it by.
        handler: `handler(input: dict)`, sync or async; or an executor.
        description: what it does, for the model.
        parameters: a JSON Schema of the input (an object); or a `msgspec.Struct`, dataclass or
            TypedDict type, and the handler gets that instead of a dict. None: no parameters.
        key: an identifier of your own.
        attributes: anything of your own; `visibility_handler` sees them.
        visibility_handler: `(input, attributes) -> bool`; a hidden function is neither sent nor
            run.
        validate_input: `(input)`, sync or async, after the schema: True or None is fine, False or
            a text refuses, so does an exception.
        settings: see `FunctionSettings`.

    Raises:
        ConfigurationError: a handler that cannot be called, or a setting out of range.
    """
    owner = f"function {name!r}"
    read = read_settings(settings, owner)
    schema, decode = _read_parameters(parameters)
    call, is_async = _read_handler(handler, owner)
    source = handler if inspect.isroutine(handler) else None
    check_isolation(read, source, is_async, owner)
    check_visibility(visibility_handler, owner)
    definition = FunctionDefinition(name=name, description=description, parameters=schema)
    return CallableExecutor(
        implementation=Implementation(call=call, decode=decode, is_async=is_async, source=source),
        define=lambda: definition,
        settings=read,
        key=key,
        attributes=attributes,
        visibility_handler=visibility_handler,
        validate_input=validate_input,
    )


def check_isolation(settings: FunctionSettings, source: Any, is_async: bool, owner: str) -> None:
    """Refuse `isolation="process"` for what another process cannot find by its name.

    Raises:
        ConfigurationError: it is async, no function, or not defined at module level.
    """
    if settings.isolation != "process":
        return
    name = getattr(source, "__qualname__", "<lambda>")
    if is_async or source is None or "<" in name or inspect.ismethod(source):
        raise ConfigurationError(
            f"{owner}: isolation='process' needs a sync function at module level, which the other "
            "process can import by its name."
        )


def check_visibility(handler: VisibilityHandler | None, owner: str) -> None:
    """Refuse a visibility handler that is async: functions are listed without waiting.

    Raises:
        ConfigurationError: it is.
    """
    if is_async_callable(handler):
        raise ConfigurationError(f"{owner}: visibility_handler must not be async.")


def is_async_callable(function: Any) -> bool:
    """Whether calling it gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - looks at what it is, does not call
    )


def _read_parameters(parameters: Any) -> tuple[Input | None, Callable[[Input], Any]]:
    if parameters is None or isinstance(parameters, dict):
        return _copy(parameters), dict
    schema, convert = derive_schema(parameters), derive_converter(parameters)

    def decode(value: Input) -> Any:
        try:
            return convert(value)
        except msgspec.ValidationError as error:
            raise FunctionInputError(told(error)) from error

    return schema, decode


def _copy(parameters: Input | None) -> Input | None:
    """A schema of our own, which stays what it is; what is no JSON is told of when it is used."""
    try:
        content = msgspec.json.encode(parameters)
        refuse_lacking(content, parameters, "parameters")
        return msgspec.json.decode(content, type=dict[str, Any] | None)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError, ConfigurationError):
        return parameters


def _read_handler(handler: Any, owner: str) -> tuple[Callable[[Any], Any], bool]:
    execute = None if isinstance(handler, type) else getattr(handler, "execute", None)
    if callable(execute):
        return execute, is_async_callable(execute)
    if not callable(handler):
        raise ConfigurationError(
            f"{owner}: handler must be a function of the input or an executor, got "
            f"{type(handler).__name__}."
        )
    return handler, is_async_callable(handler)
