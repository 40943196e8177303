"""What the type variables of a generic class stand for."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from inspect import get_annotations
from typing import Any

Variables = Mapping[Any, Any]


def class_of(hint: Any) -> Any:
    """The class of a generic type (`Box` of `Box[int]`); any other hint as it is."""
    return typing.get_origin(hint) or hint


def alias_value(hint: Any) -> Any:
    """What a type alias stands for (`type Many[T] = list[T]`, bare or `Many[int]`)."""
    alias = class_of(hint)
    variables = zip(alias.__type_params__, typing.get_args(hint), strict=False)
    return _filled(alias.__value__, dict(variables))


def is_alias(hint: Any) -> bool:
    """Whether a hint is a type alias that was declared as one."""
    return type(class_of(hint)).__name__ == "TypeAliasType"


def fill_in(hint: Any, hints: Mapping[str, Any]) -> dict[str, Any]:
    """The hints of a class with what its type variables stand for, also those of its bases."""
    return {name: _filled(found, _variables(hint, name)) for name, found in hints.items()}


def _variables(hint: Any, name: str) -> Variables:
    """What the type variables stand for where the class, or a base of it, has an annotation."""
    cls = class_of(hint)
    own = dict(zip(getattr(cls, "__parameters__", ()), typing.get_args(hint), strict=False))
    bases = [base for base in _bases(cls) if _has(base, name)]
    # A TypedDict repeats the annotations of its bases as its own.
    if not bases or (name in get_annotations(cls) and not _repeats(cls)):
        return own
    return {key: _filled(value, own) for key, value in _variables(bases[0], name).items()}


def _bases(cls: Any) -> tuple[Any, ...]:
    bases: tuple[Any, ...] = cls.__dict__.get("__orig_bases__", cls.__bases__)
    return bases


def _has(base: Any, name: str) -> bool:
    cls = class_of(base)
    if not isinstance(cls, type):
        return False
    return any(name in get_annotations(item) for item in cls.__mro__)


def _repeats(cls: Any) -> bool:
    return hasattr(cls, "__required_keys__")


def _filled(hint: Any, variables: Variables) -> Any:
    if isinstance(hint, typing.TypeVar):
        return variables.get(hint, hint)
    open_ones = getattr(hint, "__parameters__", ())
    if isinstance(hint, type) or not any(item in variables for item in open_ones):
        return hint
    return hint[tuple(variables.get(item, item) for item in open_ones)]
