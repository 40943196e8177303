"""Functions in any accepted form, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ConfigurationError
from ..functions.caching import Bounded
from ..functions.definitions import FunctionDefinition, normalize_functions
from ..functions.visibility import visible_functions
from .decorating import Tool, ToolOptions
from .executor import CallableExecutor

__all__ = ["as_callable", "by_name", "visible_functions"]

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


def _listed(functions: Any) -> list[Any]:
    if functions is None:
        return []
    if isinstance(functions, str | bytes | Mapping) or not isinstance(functions, Iterable):
        raise ConfigurationError(
            f"functions must be a list of functions, got {type(functions).__name__}."
        )
    return list(functions)
