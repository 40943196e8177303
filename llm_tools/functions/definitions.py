"""The functions of a call, normalised once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from msgspec import Struct

from ..content import JSON
from ..errors import ConfigurationError

T = TypeVar("T")


class FunctionDefinition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A function a model may call; `parameters` is a JSON Schema of its input (an object)."""

    name: str
    description: str = ""
    parameters: dict[str, JSON] | None = None


class HasDefinition(Protocol):
    """A callable that brings its own definition (`CallableExecutor`, `@tool`)."""

    @property
    def definition(self) -> FunctionDefinition:
        """What the model is told."""


FunctionLike: TypeAlias = dict[str, Any] | FunctionDefinition | HasDefinition | Callable[..., Any]


class FunctionSet:
    """Functions that go out together, in order, with what was made from them so far.

    What a dialect or a subset makes of them is kept by `cached`, so it is made once.
    """

    __slots__ = ("_made", "by_name", "definitions")

    def __init__(self, definitions: Sequence[FunctionDefinition]) -> None:
        self.definitions = tuple(definitions)
        self.by_name = {item.name: item for item in definitions}
        self._made: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for `key`, made on first use."""
        try:
            return cast("T", self._made[key])
        except KeyError:
            return cast("T", self._made.setdefault(key, make()))


def normalize_functions(functions: Iterable[FunctionLike]) -> FunctionSet:
    """Read the caller's functions, in any accepted form, into a `FunctionSet`; cached."""
    definitions = []
    for item in functions:
        if isinstance(item, FunctionDefinition):
            definitions.append(item)
        elif isinstance(item, dict):
            inner = item.get("function", item)
            definitions.append(
                FunctionDefinition(
                    name=inner["name"],
                    description=inner.get("description") or "",
                    parameters=inner.get("parameters"),
                )
            )
        else:
            raise ConfigurationError(f"{item!r} is no function")
    return FunctionSet(definitions)
