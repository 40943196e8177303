"""Templates: `{{ name }}`, and the rest of Jinja2 in a sandbox where a template uses more."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Struct

from ..errors import PromptError

Fill: TypeAlias = Callable[[Mapping[str, Any]], str]

_MARKS = re.compile(r"\{\{|\{%|\{#")
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}", re.ASCII)
_JINJA_WORDS = frozenset(
    {"true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if"}
    | {"else", "range", "dict", "cycler", "joiner", "namespace", "self", "super", "loop"}
)


class Literal(Struct, frozen=True):
    """Text that is no template: braces in it are braces."""

    text: str


def read_values(values: Any) -> Mapping[str, Any]:
    """The values of a call by name: a mapping, a struct's or dataclass's fields, none for None.

    Anything else is the value of `input`.
    """
    if isinstance(values, Mapping):
        return values
    if values is None:
        return {}
    if isinstance(values, Struct):
        return {name: getattr(values, name) for name in values.__struct_fields__}
    if dataclasses.is_dataclass(values) and not isinstance(values, type):
        return {field.name: getattr(values, field.name) for field in dataclasses.fields(values)}
    return {"input": values}


@lru_cache(maxsize=512)
def compile_template(text: str) -> Fill | None:
    """What fills the template; None where the text holds none.

    Raises:
        PromptError: a syntax error, with its line.
    """
    if _MARKS.search(text) is None:
        return None
    pieces = _NAME.split(text)
    if _is_simple(pieces):
        return _simple_fill(pieces)
    from .sandbox import compile_sandboxed

    return compile_sandboxed(text)


def missing(name: str, values: Mapping[str, Any]) -> PromptError:
    """The error for a name that has no value."""
    given = ", ".join(sorted(map(str, values))) or "none"
    return PromptError(
        f"The template needs a value for {name!r} and none was given (given: {given}). "
        f"Pass it, or write Literal(text) if the braces are meant as text."
    )


def _is_simple(pieces: list[str]) -> bool:
    """Whether a template is text and plain names only, which needs no Jinja2."""
    texts, names = pieces[::2], pieces[1::2]
    return not (
        any(_MARKS.search(text) for text in texts)
        or any(text.endswith("{") for text in texts[:-1])
        or any(name in _JINJA_WORDS for name in names)
    )


def _simple_fill(pieces: list[str]) -> Fill:
    def fill(values: Mapping[str, Any]) -> str:
        filled = pieces.copy()
        for position in range(1, len(filled), 2):
            name = filled[position]
            if name not in values:
                raise missing(name, values)
            filled[position] = str(values[name])
        return "".join(filled)

    return fill
