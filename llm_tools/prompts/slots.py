"""Values in which every string may be a template: what the author of a prompt writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..errors import PromptError
from .templates import Literal, compile_template

Values: TypeAlias = Mapping[str, Any]
Slot: TypeAlias = Callable[[Values], Any]
"""Gives its value once the values of a call are known."""

_TOO_DEEP = 100


class Constant:
    """A slot that needs no values."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def __call__(self, values: Values) -> Any:
        """The value, whatever the values."""
        return self.value


def compile_text(text: str | Literal) -> Slot:
    """A slot for one text.

    Raises:
        PromptError: a broken template, or no text at all.
    """
    if not isinstance(text, str | Literal):
        raise PromptError(f"A template is text, or Literal(text); got {type(text).__name__}.")
    return compile_value(text)


def compile_value(value: Any, depth: int = 0) -> Slot:
    """A slot for a value: strings in it (not keys) are templates, `Literal`s and structs are not.

    Raises:
        PromptError: a broken template.
    """
    if isinstance(value, Literal):
        return Constant(value.text)
    if isinstance(value, str):
        return compile_template(value) or Constant(value)
    if depth > _TOO_DEEP:
        raise PromptError(f"The value is nested more than {_TOO_DEEP} levels deep.")
    if isinstance(value, Mapping):
        return _compile_mapping(
            {key: compile_value(item, depth + 1) for key, item in value.items()}
        )
    if isinstance(value, list | tuple):
        return _compile_list([compile_value(item, depth + 1) for item in value])
    return Constant(value)


def _compile_mapping(slots: dict[str, Slot]) -> Slot:
    def fill(values: Values) -> dict[str, Any]:
        return {key: slot(values) for key, slot in slots.items()}

    return _settle(fill, list(slots.values()))


def _compile_list(slots: list[Slot]) -> Slot:
    def fill(values: Values) -> list[Any]:
        return [slot(values) for slot in slots]

    return _settle(fill, slots)


def _settle(fill: Slot, inner: list[Slot]) -> Slot:
    constant = all(isinstance(slot, Constant) for slot in inner)
    return Constant(fill({})) if constant else fill
