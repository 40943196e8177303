"""Functions in any accepted form, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ConfigurationError
from ..functions.caching import Bounded
from ..functions.definitions import FunctionDefinition, normalize_functions
from .decorating import Tool, ToolOptions
from .executor import CallableExecutor

_FROM_FUNCTIONS: Bounded[CallableExecutor] = Bounded(512)


def as_callable(item: Any) -> CallableExecutor | None:
    """What runs a function; None for a definition with no Python function behind it.

    Args:
        item: a `CallableExecutor`, a `@tool`, a typed Python function, or a definition.

    Raises:
        ConfigurationError: something else.
    """
    if isinstance(item, CallableExecutor):
        return item
    if isinstance(item, Mapping | FunctionDefinition):
        return None
    if callable(item) and not isinstance(item, type):
        return _FROM_FUNCTIONS.get(item, lambda: Tool(item, ToolOptions()))
    if not isinstance(item, type) and hasattr(item, "definition"):
        return None
    raise ConfigurationError(
        f"{type(item).__name__} is no function: use @tool, create_callable_executor(), a typed "
        "Python function, or a definition."
    )


def by_name(functions: Any) -> dict[str, CallableExecutor | None]:
    """The functions by name; None where only a definition was given.

    Args:
        functions: a list of functions in any accepted form, or a `UseExecutors`; None is none.

    Raises:
        ConfigurationError: no list of functions, or a name given twice.
    """
    items = _listed(functions)
    definitions = normalize_functions(items).definitions
    return {
        definition.name: as_callable(item)
        for definition, item in zip(definitions, items, strict=True)
    }


def visible_functions(
    functions: Any,
    input: Any,  # noqa: A002 - the handlers' word
    attributes: Mapping[str, Any] | None = None,
) -> Any:
    """The functions without those hidden for this input; the same object where none is.

    Args:
        functions: a list of functions in any accepted form, or a `UseExecutors`, or None.
        input: what visibility handlers are asked about.
        attributes: what they see beside a function's own.
    """
    if functions is None:
        return None
    items = functions if isinstance(functions, list | tuple) else _listed(functions)
    shown = [
        item
        for item in items
        if not isinstance(item, CallableExecutor) or item.visible(input, attributes)
    ]
    return items if len(shown) == len(items) else shown


def _listed(functions: Any) -> list[Any]:
    if functions is None:
        return []
    if isinstance(functions, str | bytes | Mapping) or not isinstance(functions, Iterable):
        raise ConfigurationError(
            f"functions must be a list of functions, got {type(functions).__name__}."
        )
    return list(functions)
