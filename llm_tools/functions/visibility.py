"""Functions that are there for some inputs only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ConfigurationError
from .definitions import FunctionSet, are_plain_dicts


def visible_functions(
    functions: Any,
    input: Any,  # noqa: A002 - the handlers' word
    attributes: Mapping[str, Any] | None = None,
) -> Any:
    """The functions without those that hide themselves; the same object where none does.

    A function hides itself by a method `visible(input, attributes)`, as a `CallableExecutor` does;
    definitions are always there.

    Args:
        functions: functions in any accepted form, or None.
        input: what the handlers are asked about.
        attributes: what they see beside a function's own.

    Raises:
        ConfigurationError: no list of functions.
    """
    if functions is None or are_plain_dicts(functions) or isinstance(functions, FunctionSet):
        return functions
    if isinstance(functions, str | bytes | Mapping) or not isinstance(functions, Iterable):
        raise ConfigurationError(
            f"functions must be a list of functions, got {type(functions).__name__}."
        )
    items = functions if isinstance(functions, list | tuple) else list(functions)
    shown = [item for item in items if _is_visible(item, input, attributes)]
    return items if len(shown) == len(items) else shown


def _is_visible(item: Any, value: Any, attributes: Mapping[str, Any] | None) -> bool:
    if type(item) is dict or isinstance(item, type):
        return True
    visible = getattr(item, "visible", None)
    return not callable(visible) or bool(visible(value, attributes))
