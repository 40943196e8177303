"""Functions that are there for some inputs only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .definitions import FunctionSet, are_plain_dicts, normalize_functions, require_list

_MOST = 256
_CONSTANT: dict[tuple[int, ...], tuple[FunctionSet, tuple[Any, ...]]] = {}
"""Sets of constant functions, by their ids, which are theirs as long as these keep them."""


def offer_functions(functions: Any) -> FunctionSet | None:
    """The functions that are there for an empty input, read; None where there are none.

    Functions whose `is_constant` says that they are there for every input, and stay what they are,
    are looked at once.

    Args:
        functions: functions in any accepted form.

    Raises:
        ConfigurationError: as `normalize_functions` does.
    """
    if isinstance(functions, FunctionSet):
        return functions if functions.definitions else None
    if are_plain_dicts(functions):
        offered = normalize_functions(functions)
        return offered if offered.definitions else None
    require_list(functions)
    held = tuple(functions)
    ids = tuple(map(id, held))
    known = _CONSTANT.get(ids)
    if known is not None:
        return known[0]
    # Asked before they are read: one that is used once is not constant yet, and not kept.
    constant = bool(held) and all(map(_is_constant, held))
    offered = normalize_functions(visible_functions(held, {}))
    if constant:
        if len(_CONSTANT) >= _MOST:
            _CONSTANT.clear()
        _CONSTANT[ids] = offered, held
    return offered if offered.definitions else None


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
    require_list(functions)
    items = functions if isinstance(functions, list | tuple) else list(functions)
    shown = [item for item in items if _is_visible(item, input, attributes)]
    return items if len(shown) == len(items) else shown


def _is_constant(item: Any) -> bool:
    """Whether it says so by itself, and not by an object it stands for."""
    return hasattr(type(item), "is_constant") and item.is_constant is True


def _is_visible(item: Any, value: Any, attributes: Mapping[str, Any] | None) -> bool:
    if type(item) is dict or isinstance(item, type):
        return True
    visible = getattr(item, "visible", None)
    return not callable(visible) or bool(visible(value, attributes))
