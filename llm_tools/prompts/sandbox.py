"""Jinja2, in a sandbox with limits, for templates that use more than names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

import msgspec

from ..errors import PromptError
from ..history import json_safe
from .templates import Fill, missing

_MOST_CHARACTERS = 10_000_000
_MOST_STEPS = 100_000  # numbers that all `range` calls of one filling may yield together
_MOST_BITS = 10_000
_UNDEFINED = re.compile(r"'(\w+)' is undefined")
_WIDE = re.compile(r"\d{5}|\*")
_RANGE = "range of a template"
_PADDING = frozenset({"center", "expandtabs", "format", "format_map", "ljust", "rjust", "zfill"})


def compile_sandboxed(text: str) -> Fill:
    """What fills a Jinja2 template.

    Raises:
        PromptError: a syntax error, with its line.
    """
    from jinja2 import TemplateError, TemplateSyntaxError, UndefinedError

    try:
        template = _environment().from_string(text)
    except TemplateSyntaxError as error:
        raise PromptError(
            f"The template is broken in line {error.lineno}: {str(error.message).rstrip('.')}. "
            "Write Literal(text) if the braces are meant as text."
        ) from error
    except (TemplateError, RecursionError, MemoryError, OverflowError) as error:
        raise PromptError(f"The template cannot be compiled: {error}.") from error

    def fill(values: Mapping[str, Any]) -> str:
        try:
            return str(template.render({"range": _bounded_range()} | dict(values)))
        except UndefinedError as error:
            name = _UNDEFINED.fullmatch(str(error))
            raise (
                missing(name[1], values)
                if name
                else PromptError(f"The template needs a value that is missing: {error}.")
            ) from error
        except Exception as error:
            raise PromptError(
                f"The template could not be filled: {type(error).__name__}: {error}"
            ) from error

    return fill


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "%"})
        concat = staticmethod(_join)

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            _check_operation(operator, left, right)
            return super().call_binop(context, operator, left, right)

        def wrap_str_format(self, value: Any) -> None:
            """No wrapper: `format` is refused like the other ways to pad."""

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            if isinstance(obj, str) and attr in _PADDING:
                return False
            return super().is_safe_attribute(obj, attr, value)

    environment = Sandbox(
        undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, cache_size=0
    )
    del environment.globals["lipsum"]
    environment.finalize = _refuse_own_words(environment.globals)
    for padding in ("center", "format"):
        del environment.filters[padding]
    environment.filters["tojson"] = _to_json
    return environment


def _refuse_own_words(own: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Takes what a template writes; a word of Jinja2's own stands where a value is missing."""
    from jinja2 import UndefinedError
    from jinja2.runtime import TemplateReference

    names = {id(word): name for name, word in own.items()}

    def check(value: Any) -> Any:
        if isinstance(value, TemplateReference):
            raise UndefinedError("'self' is the template itself, so call the value otherwise")
        is_range = isinstance(value, FunctionType) and value.__name__ == _RANGE
        name = "range" if is_range else names.get(id(value))
        if name is not None:
            raise UndefinedError(f"{name!r} is undefined")
        return value

    return check


def _to_json(value: Any, indent: int = 0) -> str:
    """Plain JSON: Jinja2's own filter escapes for HTML."""
    raw = msgspec.json.encode(json_safe(value))
    return (msgspec.json.format(raw, indent=min(indent, 8)) if indent else raw).decode()


def _join(parts: Iterable[str]) -> str:
    kept, room = [], _MOST_CHARACTERS
    for part in parts:
        room -= len(part)
        if room < 0:
            raise OverflowError(f"more than {_MOST_CHARACTERS:,} characters")
        kept.append(part)
    return "".join(kept)


def _bounded_range() -> Callable[..., range]:
    left = _MOST_STEPS

    def bounded(*arguments: int) -> range:
        nonlocal left
        numbers = range(*arguments)
        left -= len(numbers)
        if left < 0:
            raise OverflowError(f"range() may yield {_MOST_STEPS:,} numbers in one template")
        return numbers

    bounded.__name__ = _RANGE
    return bounded


def _check_operation(operator: str, left: Any, right: Any) -> None:
    """Refuse what would take memory or time out of all proportion."""
    if operator == "%":
        too_much = isinstance(left, str) and _WIDE.search(left) is not None
    elif isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        bits = bits * right if operator == "**" else bits + right.bit_length()
        too_much = bits > _MOST_BITS
    else:
        sizes = [_size(value) for value in (left, right)]
        too_much = operator == "*" and sizes[0] * sizes[1] > _MOST_CHARACTERS
    if too_much:
        raise OverflowError(f"the result of {operator!r} would be too large")


def _size(value: Any) -> int:
    if isinstance(value, int):
        return max(value, 1)
    return len(value) if isinstance(value, str | bytes | list | tuple) else 1
