"""JSON in a model's text: alone, in a code fence, or among prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ..content import JSON
from ..errors import ParserError
from ..functions.arguments import read_arguments
from ..functions.deriving import derive_converter, derive_schema
from ..functions.python_values import msgspec_reads
from ..functions.validating import validate
from .markdown import code_blocks
from .parser import read_choice

Fit = Callable[[JSON], Any]
"""Gives the value as the caller wants it, or raises `ParserError`."""

_STEP = re.compile(r'["{}\[\]]')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_START = re.compile(r"[{\[]")
_OPENED = re.compile(r"""\{\s*(?:"(?:[^"\\]|\\.)*"|'\w*')\s*:|\[\s*[{\["]""")
"""What begins a value and no prose: where it has no end, what is inside is not the answer."""
_MOST_STEPS = 200_000  # text made of braces alone must not hold anyone up


def json_reader(options: dict[str, Any]) -> Callable[[str], Any]:
    """Reads one JSON value, in the shape of `schema` (a JSON Schema or a type) if one is given."""
    fit = _fit_for(options.get("schema"))
    exact = read_choice(options, "match", ("extract", "exact")) == "exact"

    def read(text: str) -> Any:
        try:
            whole = _decode(text.strip().removeprefix("\ufeff"))
        except ParserError:
            if exact:
                raise
            return _read_within(text, fit)
        return fit(whole)

    return read


def _fit_for(schema: Any) -> Fit:
    if schema is None:
        return lambda value: value
    if isinstance(schema, dict):
        return lambda value: _checked(schema, value)
    derived = derive_schema(schema)  # refuses what is no type of JSON's
    convert, is_whole = derive_converter(schema), msgspec_reads(schema)

    def fit(value: JSON) -> Any:
        if not is_whole:  # taken to pieces, so that limits of what holds them are not looked at
            _checked(derived, value)
        try:
            return convert(value)
        except msgspec.ValidationError as error:
            raise ParserError(str(error)) from error

    return fit


def _checked(schema: dict[str, Any], value: JSON) -> JSON:
    problem = validate(schema, value)
    if problem is not None:
        raise ParserError(problem)
    return value


def _decode(text: str) -> JSON:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ParserError(f"no JSON: {error}") from error


def _read_within(text: str, fit: Fit) -> Any:
    """The one value among fences or prose; what cannot be told apart is refused."""
    fenced = [block["code"] for block in code_blocks(text)]
    for pieces in (fenced, list(_spans(text))):
        for read in (_decode, _mend):
            values = [value for piece in pieces for value in _read_each(piece, read)]
            if values:
                return _choose(values, fit)
    raise ParserError("expected JSON, found none")


def _read_each(piece: str, read: Callable[[str], JSON]) -> Iterator[JSON]:
    try:
        yield read(piece.strip())
    except ParserError:
        return


def _mend(text: str) -> JSON:
    """An object with the slips that arguments of calls are mended for."""
    arguments = read_arguments(text, repair=True)
    if arguments.error is not None or not text:
        raise ParserError(f"no JSON: {arguments.error}")
    return arguments.input


def _choose(values: list[JSON], fit: Fit) -> Any:
    objects = [value for value in values if isinstance(value, dict)]
    fitting, problems = [], []
    for value in _distinct(objects if len(objects) == 1 else values):
        try:
            fitting.append(fit(value))
        except ParserError as error:
            problems.append(error)
    if len(fitting) > 1:
        raise ParserError(f"expected one JSON value, found {len(fitting)}")
    if not fitting:
        raise problems[0]
    return fitting[0]


def _distinct(values: Iterable[JSON]) -> list[JSON]:
    return list({msgspec.json.encode(value, order="sorted"): value for value in values}.values())


def _spans(text: str) -> Iterator[str]:
    """The outermost pieces that begin and end with matching braces or brackets."""
    position, steps_left = 0, _MOST_STEPS
    while steps_left > 0 and (start := _START.search(text, position)):
        end, steps = _end_of(text, start.start(), steps_left)
        steps_left -= steps
        if end is None and _OPENED.match(text, start.start()):
            raise ParserError("the JSON is cut off")
        if end is not None:
            yield text[start.start() : end]
        position = end or start.end()


def _end_of(text: str, start: int, most_steps: int) -> tuple[int | None, int]:
    """Where the value that starts here ends (None where it does not), and the steps it took."""
    depth, position = 0, start
    for steps in range(1, most_steps + 1):
        step = _STEP.search(text, position)
        string = _STRING.match(text, step.start()) if step and step[0] == '"' else None
        if step is None or (step[0] == '"' and string is None):
            return None, steps
        position = (string or step).end()
        if string is None:
            depth += 1 if step[0] in "{[" else -1
        if depth == 0:
            return position, steps
    return None, most_steps
