"""Lists as models write them: bullets, numbers, `key: value` lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypedDict

import msgspec

from ..errors import ParserError
from ..functions.schemas.kinds import type_of
from ..functions.schemas.matching import type_names
from ..functions.validating import validate
from .markdown import code_blocks, split_lines
from .parser import read_choice

_BULLET = r"[-*+\u2022\u2023\u25e6\u00b7\u2013\u2014]|\(?(?:\d{1,3}|[a-zA-Z])[.)]"
_MARKER = re.compile(rf"(?:{_BULLET})\s+(?:\[[ xX]\]\s+)?")
_EMPHASIS = re.compile(r"(\*\*|__|`)(.+?)\1")
_SPLIT = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


class KeyValue(TypedDict):
    """One `key: value` line."""

    key: str
    value: str


class _Line(NamedTuple):
    indent: int
    marked: bool
    text: str


def read_array(text: str) -> list[str]:
    """The items of a list, without their markers.

    Text around a marked list is left out, lines that run on belong to their item, nested items
    follow their parent. Without markers every line is an item, but for a heading that ends with a
    colon. A JSON array of plain values is read, too.
    """
    as_json = _json_array(text)
    if as_json is not None:
        return as_json
    items: list[str] = []
    open_at: int | None = None
    lines = _lines(text)
    marked = any(line.marked for line in lines)
    for line in lines:
        if line.marked == marked:
            items.append(line.text)
            open_at = line.indent
        elif open_at is not None and line.indent > open_at:
            items[-1] = f"{items[-1]} {line.text}"
        else:
            open_at = None
    return items


def read_key_values(text: str) -> list[KeyValue]:
    """The `key: value` lines, in order, twice-named keys included; other lines are left out."""
    pairs = [_pair(line.text) for line in _lines(text)]
    found = [KeyValue(key=pair[0], value=pair[1]) for pair in pairs if pair]
    if not found:
        raise ParserError("expected `key: value` lines, found none")
    return found


def object_reader(options: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """Reads `key: value` lines into one object; deeper lines under an empty value nest."""
    style = read_choice(options, "key_transform", ("camel_case", "snake_case", "preserve"))
    return partial(_read_object, style=style, schema=options.get("schema"))


def _read_object(text: str, *, style: str, schema: Any) -> dict[str, Any]:
    root: dict[str, Any] = {}
    stack: list[tuple[int, dict[str, Any]]] = [(-1, root)]
    for line in _lines(text):
        pair = _pair(line.text)
        if pair is None:
            continue
        while line.indent <= stack[-1][0]:
            stack.pop()
        key, inside = _styled(pair[0], style), stack[-1][1]
        if key in inside:
            raise ParserError(f"the key {key!r} is there twice (list_to_key_value keeps both)")
        inside[key] = pair[1]
        if not pair[1]:
            inside[key] = {}
            stack.append((line.indent, inside[key]))
    if not root:
        raise ParserError("expected `key: value` lines, found none")
    return root if schema is None else _fitted(root, schema)


def _fitted(found: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The object with texts read as the types its schema asks for, and checked."""
    read = _as_types(found, schema)
    problem = validate(schema, read)
    if problem is not None:
        raise ParserError(problem)
    return read


def _as_types(found: dict[str, Any], schema: Any) -> dict[str, Any]:
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return {key: _as_type(value, properties.get(key, {})) for key, value in found.items()}


def _as_type(value: Any, schema: Any) -> Any:
    if isinstance(value, dict):
        return _as_types(value, schema)
    wanted = type_names(schema) if isinstance(schema, dict) else []
    if wanted in ([], ["string"]):
        return value
    try:
        read = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value
    kinds = {"integer", "number"} if type_of(read) == "integer" else {type_of(read)}
    return value if "string" in wanted and not kinds & {*wanted} else read


def _lines(text: str) -> list[_Line]:
    """The lines that say something, out of a code fence if the list stands in one."""
    blocks = list(code_blocks(text))
    body = blocks[0]["code"] if len(blocks) == 1 else text
    lines = [_line(raw) for raw in split_lines(body) if raw.strip(" \t-=*_#`")]
    if len(lines) > 1 and lines[0].text.endswith(":") and not lines[0].marked:
        deeper = lines[1].indent > lines[0].indent
        lines = lines if deeper else lines[1:]
    if not lines:
        raise ParserError("expected a list, found no text")
    return lines


def _line(raw: str) -> _Line:
    text = raw.strip()
    marker = _MARKER.match(text)
    indent = len(raw.expandtabs(4)) - len(raw.expandtabs(4).lstrip())
    return _Line(indent, marker is not None, text[marker.end() :].strip() if marker else text)


def _json_array(text: str) -> list[str] | None:
    blocks = list(code_blocks(text))
    body = blocks[0]["code"] if len(blocks) == 1 else text
    try:
        values = msgspec.json.decode(body.strip(), type=list[str | int | float | bool])
    except (msgspec.DecodeError, UnicodeError):
        return None
    return [
        value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in values
    ]


def _pair(line: str) -> tuple[str, str] | None:
    """Key and value of a line, at its first colon; emphasis around them is taken off."""
    key, colon, value = _EMPHASIS.sub(r"\2", line).partition(":")
    key = key.strip()
    return (key, value.strip()) if colon and key else None


def _styled(key: str, style: str) -> str:
    words = [word.lower() for word in _SPLIT.split(key) if word]
    if style == "preserve" or not words:
        return key
    if style == "snake_case":
        return "_".join(words)
    return words[0] + "".join([word.capitalize() for word in words[1:]])
