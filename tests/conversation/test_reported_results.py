"""What functions return or raise goes out as one legal result on every endpoint."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from conversation.bodies import complaints, dialect_of, said_in
from conversation.histories import call, handed, load, turn, user
from conversation.test_reported_histories import BLOCKS, TARGETS
from conversation.test_rich_history import PNG, assert_answered
from matrix.scenes import Aim

from llm_tools import (
    Dialogue,
    FunctionResult,
    OutputResultFunctionUse,
    OutputResultImage,
    create_dialogue,
    dispatch,
    tool,
)

every_aim = pytest.mark.parametrize("aim", TARGETS, ids=str)


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words for it")


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words for it")


def loop() -> list[Any]:
    items: list[Any] = [1]
    items.append(items)
    return items


def deep() -> list[Any]:
    items: list[Any] = []
    for _ in range(5000):
        items = [items]
    return items


RETURNED: dict[str, Any] = {
    "nothing": None,
    "no text": "",
    "blank": " \n",
    "text": "plain",
    "a word of JSON's": "null",
    "an object": {"a": 1},
    "an object with the wire's words": {"output": 1, "error": None},
    "a list": [1, 2],
    "an empty list": [],
    "true": True,
    "zero": 0,
    "a float": 1.5,
    "a big number": 2**70,
    "not a number": float("nan"),
    "infinity inside": {"x": [float("-inf")]},
    "a time": datetime.time(3, 4),
    "a date with zone": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    "a span": datetime.timedelta(seconds=90),
    "bytes": b"\x00\xff",
    "text in bytes": b"plain",
    "a set": {3, 1, 2},
    "a decimal": decimal.Decimal("1.10"),
    "a decimal that is none": decimal.Decimal("NaN"),
    "a fraction": fractions.Fraction(1, 3),
    "an id": uuid.UUID(int=7),
    "a path": pathlib.PurePosixPath("/a/b"),
    "an enum": Color.RED,
    "a dataclass": Point(1, datetime.date(2026, 1, 2)),
    "a range": range(3),
    "an array": array.array("i", [1, 2]),
    "a queue": collections.deque([1, "a"]),
    "a counter": collections.Counter("aab"),
    "an object of no kind": object(),
    "what cannot be printed": Unprintable(),
    "pairs as keys": {(1, 2): 3},
    "numbers as keys": {1: "a", None: "b"},
    "itself": loop(),
    "too deep": deep(),
    "half a character": "a\ud800b",
    "half a character as a key": {"\udfff": "\ud83d"},
    "markup": "<b>&amp;</b> {{ x }} ```",
}
RAISED: dict[str, Exception] = {
    "with words": ValueError("no such row"),
    "without words": ValueError(),
    "blank words": ValueError("  "),
    "a key": KeyError("name"),
    "broken words": Broken(),
    "half a character": RuntimeError("\ud800"),
    "several": ExceptionGroup("all", [ValueError("one"), KeyError("two")]),
    "with a cause": OSError(2, "No such file", "/secret/path"),
}


async def result_of(value: Any, error: Exception | None = None) -> FunctionResult:
    """What dispatch makes of a function that returns this, or raises that."""

    @tool
    def run() -> Any:
        """Run."""
        if error is not None:
            raise error
        return value

    (result,) = await dispatch(
        [OutputResultFunctionUse(name="run", input={}, function_id="c_1")], [run]
    )
    return result


def dialogue_of(result: FunctionResult) -> Dialogue:
    dialogue = create_dialogue().add_from_history([user("Go"), turn(call("c_1"))])
    dialogue.add_from_results([result])
    assert Dialogue.from_json(dialogue.to_json()) == dialogue
    return dialogue


def check(aim: Aim, result: FunctionResult, *, failed: bool) -> str:
    """One legal result in a body of valid JSON; the text the model sees."""
    request = aim.llm().build_request(dialogue_of(result), functions=[{"name": "run"}])
    text = msgspec.json.encode(request.body).decode()
    assert json.loads(text, parse_constant=pytest.fail) == request.body
    said = said_in(aim, request.body)
    assert_answered(said)
    (told,) = [turn_ for turn_ in said if turn_.role == "result"]
    assert complaints(aim, request.body) == []
    check_shape(aim, told.wire)
    if dialect_of(aim) in BLOCKS:
        assert told.failed == failed
    else:
        assert told.text.startswith("Error:") == failed
    return told.text


def check_shape(aim: Aim, wire: Any) -> None:
    """The kinds of content each wire has for a result."""
    match dialect_of(aim):
        case "gemini":
            assert isinstance(wire["response"], dict)
        case "bedrock_converse":
            assert wire
            for block in wire:
                assert block.get("text", "x").strip()
                assert isinstance(block.get("json", {}), dict)
        case "anthropic_messages":
            assert isinstance(wire, str | list)
        case _:
            assert isinstance(wire, str)


def handed_values() -> Iterator[tuple[str, Any, Exception | None]]:
    """The values of the report, which names them as Python text."""
    scope = {"datetime": datetime, "decimal": decimal}
    for name in load("B29/python_values.json")["values"]:
        if name.startswith("raise ValueError"):
            yield name, None, ValueError("no such row")
        elif name.startswith("raise "):
            yield name, None, Exception()
        else:
            yield name, eval(name, scope), None  # the report's own literals


@handed
@pytest.mark.anyio
@every_aim
async def test_the_reported_values(aim: Aim) -> None:
    """Each ends in one result; what was raised is a failure, and nothing else is."""
    for _, value, error in handed_values():
        text = check(aim, await result_of(value, error), failed=error is not None)
        assert "Traceback" not in text
        if error is not None:
            assert text.strip() not in ("", "Error:")


@pytest.mark.anyio
async def test_every_value_is_a_result_everywhere() -> None:
    """Whatever is returned, on every endpoint; and it never counts as a failure."""
    for value in RETURNED.values():
        result = await result_of(value)
        assert not result.is_error
        for aim in TARGETS:
            check(aim, result, failed=False)


@pytest.mark.anyio
async def test_every_exception_is_a_failure_everywhere() -> None:
    """Told by its kind and words, never by a traceback."""
    for name, error in RAISED.items():
        result = await result_of(None, error)
        assert result.is_error
        for aim in TARGETS:
            text = check(aim, result, failed=True)
            assert "Traceback" not in text, name
            assert ".py" not in text
            kind = type(error).__name__ if name != "several" else "ValueError: one"
            assert kind in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1, "b": None}, '{"a":1,"b":null}'),
        ([1, "a", True], '[1,"a",true]'),
        (None, "null"),
        (0, "0"),
        ("", ""),
        (False, "false"),
        ("é\u2028", "é\u2028"),
    ],
)
@every_aim
def test_a_value_is_told_as_it_is(aim: Aim, value: Any, text: str) -> None:
    """Text as text, everything else as JSON."""
    result = FunctionResult(name="run", function_id="c_1", content=value)
    told = check(aim, result, failed=False)
    try:
        assert json.loads(told) == json.loads(text)
    except json.JSONDecodeError:
        assert told == text


@pytest.mark.anyio
@every_aim
async def test_an_image_that_a_function_returns(aim: Aim) -> None:
    """It goes out in its result, or beside it, or the model is told that there was one."""
    image = OutputResultImage(data=PNG, media_type="image/png")
    result = await result_of(["Here:", image])
    assert result.content == (await result_of([{"type": "text", "text": "Here:"}, image])).content
    request = aim.llm().build_request(dialogue_of(result), functions=[{"name": "run"}])
    assert complaints(aim, request.body) == []
    text = json.dumps(request.body)
    assert text.count("Here:") == 1
    left_out = "image_left_out" in [warning.code for warning in request.warnings]
    assert text.count(PNG) == (not left_out)
