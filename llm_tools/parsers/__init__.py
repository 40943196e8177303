"""Parsers: a model's text as a value. They never see the arguments of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, overload

from ..errors import ConfigurationError
from ..given import hint
from .filling import filler
from .json_text import json_reader
from .lists import KeyValue, object_reader, read_array, read_key_values
from .markdown import CodeBlock, read_code_block, read_code_blocks
from .parser import Parser
from .words import boolean_reader, number_reader, word_reader

__all__ = ["CodeBlock", "KeyValue", "Parser", "create_custom_parser", "create_parser"]

T = TypeVar("T")
Options = dict[str, Any]

_KINDS: dict[str, tuple[frozenset[str], Callable[[Options], Callable[..., Any]]]] = {
    "string": (frozenset(), lambda _: str),
    "boolean": (frozenset({"match"}), boolean_reader),
    "number": (frozenset({"match"}), number_reader),
    "json": (frozenset({"schema", "match"}), json_reader),
    "list_to_array": (frozenset(), lambda _: read_array),
    "list_to_json": (frozenset({"key_transform", "schema"}), object_reader),
    "list_to_key_value": (frozenset(), lambda _: read_key_values),
    "markdown_code_block": (frozenset(), lambda _: read_code_block),
    "markdown_code_blocks": (frozenset(), lambda _: read_code_blocks),
    "replace_string_template": (frozenset({"values"}), filler),
    "string_extract": (frozenset({"enum", "match", "ignore_case"}), word_reader),
}


@overload
def create_parser(kind: Literal["string"] = "string") -> Parser[str]: ...
@overload
def create_parser(
    kind: Literal["boolean"], *, match: Literal["extract", "exact"] = "extract"
) -> Parser[bool]: ...
@overload
def create_parser(
    kind: Literal["number"], *, match: Literal["extract", "exact"] = "extract"
) -> Parser[int | float]: ...
@overload
def create_parser(
    kind: Literal["json"], *, schema: type[T], match: Literal["extract", "exact"] = "extract"
) -> Parser[T]: ...
@overload
def create_parser(
    kind: Literal["json"],
    *,
    schema: dict[str, Any] | None = None,
    match: Literal["extract", "exact"] = "extract",
) -> Parser[Any]: ...
@overload
def create_parser(kind: Literal["list_to_array"]) -> Parser[list[str]]: ...
@overload
def create_parser(
    kind: Literal["list_to_json"],
    *,
    key_transform: Literal["camel_case", "snake_case", "preserve"] = "camel_case",
    schema: dict[str, Any] | None = None,
) -> Parser[dict[str, Any]]: ...
@overload
def create_parser(kind: Literal["list_to_key_value"]) -> Parser[list[KeyValue]]: ...
@overload
def create_parser(kind: Literal["markdown_code_block"]) -> Parser[CodeBlock]: ...
@overload
def create_parser(kind: Literal["markdown_code_blocks"]) -> Parser[list[CodeBlock]]: ...
@overload
def create_parser(
    kind: Literal["replace_string_template"], *, values: Mapping[str, Any] | None = None
) -> Parser[str]: ...
@overload
def create_parser(
    kind: Literal["string_extract"],
    *,
    enum: list[str] | tuple[str, ...],
    match: Literal["word", "substring", "exact"] = "word",
    ignore_case: bool = True,
) -> Parser[str]: ...
def create_parser(kind: str = "string", **options: Any) -> Parser[Any]:
    """A parser of one of these kinds. What does not fit is a `ParserError` that keeps the text.

    - `string`: the text as it is.
    - `boolean`: true, yes, y, 1, on or false, no, n, 0, off, in any case and markup; in prose a
      leading yes or no, else the only one of true, yes, false, no (`match="exact"`: no prose).
    - `number`: the only number in the text; thousands separators, currency and units are passed
      over; an int where it has no decimals (`match="exact"`: no prose).
    - `json`: the only JSON value, alone, in a code fence or among prose; with `schema` (a JSON
      Schema, or a `msgspec.Struct`, dataclass or TypedDict type, of which it returns an instance)
      it also sets `json_schema` on the call (`match="exact"`: nothing around it).
    - `list_to_array`: the items of a list, without bullets, numbers and the text around it.
    - `list_to_key_value`: the `key: value` lines as `{"key", "value"}`, in order.
    - `list_to_json`: the same as one object; keys become `key_transform` (`camel_case`,
      `snake_case` or `preserve`), deeper lines nest, `schema` turns texts into its types.
    - `markdown_code_block`, `markdown_code_blocks`: the first, or all, as `{"language", "code"}`.
    - `replace_string_template`: the text with values in its `{{ name }}` places: those of
      `values`, and in an executor those of its input. Nothing else in the text is a template.
    - `string_extract`: the one of `enum` that the text holds as a word (`match="substring"`:
      anywhere, `"exact"`: alone), as `enum` spells it (`ignore_case=False`: only so spelled).

    Raises:
        ConfigurationError: another kind, or an option the kind does not have.
    """
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigurationError(f"There is no parser {kind!r}. {hint(kind, _KINDS)}")
    known, make = _KINDS[kind]
    for name in options:
        if name not in known:
            raise ConfigurationError(f"The {kind} parser has no {name!r}. {hint(name, known)}")
    schema = options.get("schema") if kind == "json" else None
    return Parser(kind, make(options), schema, takes_values=kind == "replace_string_template")


def create_custom_parser(name: str, fn: Callable[[str], T]) -> Parser[T]:
    """A parser from a function of the text; what it raises becomes a `ParserError`."""
    if not callable(fn):
        raise ConfigurationError(f"create_custom_parser({name!r}) needs a function of the text.")
    return Parser(name, fn)
