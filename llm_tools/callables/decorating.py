"""`@tool`: a typed Python function that a model may call, and that stays a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from msgspec import Struct
from typing_extensions import Unpack

from ..errors import ConfigurationError, FunctionInputError
from ..functions.definitions import FunctionDefinition, require_name
from ..functions.deriving import Arguments, Bind, bind, derive_definition
from ..functions.hints import annotation_names
from ..functions.signatures import check_shape, name_of
from .executor import (
    CallableExecutor,
    Implementation,
    Input,
    Problem,
    ValidateInput,
    VisibilityHandler,
)
from .making import check_isolation, check_visibility, is_async_callable
from .settings import FunctionOptions, FunctionSettings, read_settings

P = ParamSpec("P")
R = TypeVar("R")


class ToolOptions(Struct, frozen=True, kw_only=True):
    """What `@tool` was given; `namespace` holds names the hints use from where it was given."""

    name: str | None = None
    description: str | None = None
    key: str | None = None
    attributes: Mapping[str, Any] | None = None
    visibility_handler: VisibilityHandler | None = None
    validate_input: ValidateInput | None = None
    settings: FunctionSettings = FunctionSettings()
    namespace: Mapping[str, Any] = {}


class Tool(CallableExecutor, Generic[P, R]):
    """A `CallableExecutor` over a typed Python function; calling it calls the function.

    A method stays a method: on an instance it is a tool without `self`, a class method's without
    the class.
    """

    def __init__(self, function: Callable[P, R], options: ToolOptions) -> None:
        self._function = function
        self._options = options
        self._attribute = name_of(function)
        self._binder: Bind | None = None
        owner = f"function {options.name or name_of(function)!r}"
        is_async = is_async_callable(function)
        check_shape(function)
        check_isolation(options.settings, function, is_async, owner)
        check_visibility(options.visibility_handler, owner)
        super().__init__(
            implementation=Implementation(
                call=self._call,
                decode=self._decode,
                is_async=is_async,
                source=function,
                whole=False,
            ),
            define=self._derive,
            settings=options.settings,
            key=options.key,
            attributes=options.attributes,
            visibility_handler=options.visibility_handler,
            validate_input=options.validate_input,
        )
        update_wrapper(self, function, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, as if it were not decorated."""
        return self._function(*args, **kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None or isinstance(self._function, staticmethod):
            return self
        method = Tool(MethodType(self._function, instance), self._options)
        own = getattr(instance, "__dict__", None)
        if isinstance(own, dict):  # found there from now on, so its limits are shared
            own[self._attribute] = method
        return method

    def _call(self, arguments: Arguments) -> Any:
        positional, named = arguments
        return self._function(*positional, **named)

    def _decode(self, value: Input) -> Arguments:
        if self._binder is None:
            self._binder = bind(self._function, self._options.namespace)
        return self._binder(value)

    def _derive(self) -> FunctionDefinition:
        options = self._options
        derived = derive_definition(self._function, options.namespace)
        name = options.name or derived.name
        require_name(name)
        description = derived.description if options.description is None else options.description
        return FunctionDefinition(name=name, description=description, parameters=derived.parameters)

    def _check(self, value: Input) -> Problem:
        try:
            self._decode(value)
        except FunctionInputError as error:
            return str(error)
        return None


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    key: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    visibility_handler: VisibilityHandler | None = None,
    validate_input: ValidateInput | None = None,
    **settings: Unpack[FunctionOptions],
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a typed Python function one that a model may call; bare, or with options.

    Name, description and parameters come from the function's name, docstring, signature and type
    hints; input reaches it as the types it asks for. It can still be called as before.

    Args:
        function: the function, sync or async; its `*args` have no name and are refused.
        options: `name` and `description` instead of the function's own; the rest as for
            `create_callable_executor`.

    Raises:
        ConfigurationError: `*args`, or an option that is unknown or out of range. What is wrong
            with type hints is raised when the definition is first needed, so that they may name
            types defined further down.
    """
    around = sys._getframe(1).f_locals  # noqa: SLF001 - hints may name types local to the caller

    def decorate(function: Callable[..., Any]) -> Tool[..., Any]:
        if not callable(function):
            raise ConfigurationError(f"@tool needs a function, got {type(function).__name__}.")
        if isinstance(function, Tool):
            function = function.source
        return Tool(function, _read_options(options, _names_for(function, around)))

    return decorate if function is None else decorate(function)


def _names_for(function: Callable[..., Any], around: Mapping[str, Any]) -> dict[str, Any]:
    """What a function's hints may name that its module does not know: its neighbours."""
    names = annotation_names(function)
    nested = "<locals>" in getattr(function, "__qualname__", "")
    return {
        name: value
        for name, value in around.items()
        if name in names or (nested and isinstance(value, type))
    }


def _read_options(options: Mapping[str, Any], namespace: Mapping[str, Any]) -> ToolOptions:
    own = {key: value for key, value in options.items() if key in ToolOptions.__struct_fields__}
    rest = {key: value for key, value in options.items() if key not in own}
    settings = read_settings(rest, "@tool")
    return ToolOptions(**{**own, "settings": settings, "namespace": namespace})
