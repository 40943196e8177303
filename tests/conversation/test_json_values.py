"""Any Python value becomes JSON that every encoder takes."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
import enum
import fractions
import uuid
from collections import OrderedDict, UserDict, deque, namedtuple
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from llm_tools.history import json_safe, legal_text


class Colour(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Point(msgspec.Struct, rename="camel", tag="point"):
    left_edge: int
    note: str | msgspec.UnsetType = msgspec.UNSET


class Bare(msgspec.Struct):
    at: datetime.date


@dataclasses.dataclass
class Order:
    number: int
    when: datetime.datetime


class Modelled:
    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"mode": mode}


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no")


class ShyText(str):
    __slots__ = ()


class SilentError(Exception):
    pass


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", ""),
        (0, 0),
        (False, False),
        (2**100, 2**100),
        (float("nan"), "NaN"),
        ({"x": float("inf")}, {"x": "Infinity"}),
        ([-float("inf")], ["-Infinity"]),
        (datetime.datetime.fromisoformat("2026-01-02T03:04:05"), "2026-01-02T03:04:05"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.time(3, 4), "03:04:00"),
        (datetime.timedelta(days=1, seconds=5), "P1DT5S"),
        (decimal.Decimal("1.10"), "1.10"),
        (decimal.Decimal("NaN"), "NaN"),
        (fractions.Fraction(1, 3), "1/3"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (b"text", "text"),
        (b"\x00\xff", "AP8="),
        (b"\x00", "AA=="),
        (bytearray(b"text"), "text"),
        (memoryview(b"text"), "text"),
        ({2, 1}, [1, 2]),
        (frozenset({"b", 1}), ["b", 1]),
        ((1, (2,)), [1, [2]]),
        (deque([1]), [1]),
        (range(3), [0, 1, 2]),
        (array.array("i", [1, 2]), [1, 2]),
        (OrderedDict(a=1), {"a": 1}),
        (UserDict({"a": {1}}), {"a": [1]}),
        ({1.5: "a", None: "b", True: "c"}, {"1.5": "a", "null": "b", "true": "c"}),
        ({(1, 2): 3}, {"[1,2]": 3}),
        ({Colour.RED: 1}, {"red": 1}),
        ({1: "a", "1": "b"}, [[1, "a"], ["1", "b"]]),
        (Colour.RED, "red"),
        (Colour.PAIR, [1, 2]),
        (Level.HIGH, 3),
        (Pair(1, 2), [1, 2]),
        (Point(left_edge=1), {"type": "point", "leftEdge": 1}),
        (Bare(at=datetime.date(2026, 1, 2)), {"at": "2026-01-02"}),
        (
            Order(1, datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)),
            {"number": 1, "when": "2026-01-02T00:00:00+00:00"},
        ),
        (Modelled(), {"mode": "json"}),
        (ValueError("no such row"), "no such row"),
        (SilentError(), "SilentError"),
        (ShyText("x"), "x"),
        ("\ud800x", "\ufffdx"),
        ("\ud83d\ude00", "\U0001f600"),
        ({"\udc00": "\udc00"}, {"\ufffd": "\ufffd"}),
        (Unprintable(), "<Unprintable object>"),
        (int, "<class 'int'>"),
    ],
)  # fmt: skip
def test_every_value_has_a_readable_json_form(value: Any, expected: Any) -> None:
    """Dates, numbers, bytes, sets, objects and broken text all become plain JSON."""
    assert json_safe(value) == expected
    assert type(json_safe(value)) is type(expected)


def test_plain_json_comes_back_as_the_same_object() -> None:
    """Nothing is copied where nothing has to change."""
    value = {"a": [1, 2.5, None, True, {"b": "é"}], "c": {}}
    assert json_safe(value) is value


def test_the_value_given_is_never_changed() -> None:
    """Conversion makes new containers."""
    inner = [{1}]
    value = {"a": inner}
    assert json_safe(value) == {"a": [[1]]}
    assert value == {"a": [{1}]}
    assert value["a"] is inner


def test_an_object_is_named_without_its_address() -> None:
    """The model is told what it is, the same in every process."""
    assert json_safe(object()) == "<object object>"


def test_a_value_inside_itself_ends() -> None:
    """A cycle is said, not followed."""
    loop: dict[str, Any] = {"n": 1}
    loop["self"] = loop
    assert json_safe(loop) == {"n": 1, "self": "(a reference to an enclosing value)"}
    shared = [1]
    assert json_safe([shared, shared]) == [[1], [1]]


def test_endless_nesting_ends() -> None:
    """Far too deep a value is cut, and what comes out can be encoded."""
    deep: Any = "bottom"
    for _ in range(5000):
        deep = [deep]
    text = msgspec.json.encode(json_safe(deep)).decode()
    assert "(nested too deeply)" in text


def test_a_chain_of_objects_too_deep_for_python_ends() -> None:
    """Objects that unpack into further objects are cut too."""

    class Onion:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

        def tolist(self) -> Any:
            return [self.inside]

    value: Any = 1
    for _ in range(2000):
        value = Onion(value)
    text = msgspec.json.encode(json_safe(value)).decode()
    assert "(nested too deeply)" in text


def test_a_stack_that_is_almost_full_ends_too() -> None:
    """Called from the deepest place there is, it still raises nothing."""
    nested: Any = 1
    for _ in range(90):
        nested = [nested]

    def descend() -> Any:
        try:
            return descend()
        except RecursionError:
            return json_safe(nested)

    assert descend() == "(nested too deeply)"


def test_a_number_too_long_for_python_to_write_is_told_in_hex() -> None:
    """Python refuses to write very long integers in decimal."""
    number = 1 << 20_000
    assert json_safe(number) == hex(number)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain", "plain"), ("é", "é"), ("a\ud800", "a\ufffd"), ("\ud83d\ude00", "\U0001f600")],
)
def test_text_is_made_legal_utf8(text: str, expected: str) -> None:
    """Lone halves of a pair become U+FFFD, whole pairs their character."""
    assert legal_text(text) == expected


_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
    | st.binary() | st.dates() | st.datetimes() | st.times() | st.timedeltas() | st.uuids()
    | st.decimals() | st.fractions() | st.complex_numbers()
)  # fmt: skip
_keys = st.text() | st.integers() | st.booleans() | st.none() | st.tuples(st.integers())
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner) | st.dictionaries(_keys, inner) | st.tuples(inner, inner)
        | st.frozensets(st.integers() | st.text())
    ),
)  # fmt: skip


@given(_values)
def test_what_comes_out_survives_json_exactly(value: Any) -> None:
    """Encoded and decoded, a converted value is the same; converting it again changes nothing."""
    safe = json_safe(value)
    assert msgspec.json.decode(msgspec.json.encode(safe)) == safe
    assert json_safe(safe) is safe
