"""Validated input reaches a function as the Python types of its hints; nothing is coerced."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping, Set
from decimal import Decimal
from pathlib import PurePosixPath
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    Unpack,
)
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, strategies as st
from typing_extensions import TypeAliasType

from llm_tools.errors import FunctionInputError
from llm_tools.functions.deriving import bind, derive_converter, derive_definition
from llm_tools.functions.validating import validate

NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.UTC)


class Colour(enum.Enum):
    RED = "red"


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Loose:
    when: str | datetime.date
    inner: Loose | None = None


class Cat(msgspec.Struct, rename="camel"):
    the_name: str


class Dog(msgspec.Struct):
    bark: int = 1


class Row(TypedDict):
    a: str | datetime.date
    b: NotRequired[int]


class Partly(msgspec.Struct):
    when: str | datetime.date
    x: int | str | UUID | msgspec.UnsetType = msgspec.UNSET


T = TypeVar("T")
Many = TypeAliasType("Many", list[T], type_params=(T,))


@dataclasses.dataclass
class Crate(Generic[T]):
    item: T


@dataclasses.dataclass
class Seeded:
    x: int
    seed: dataclasses.InitVar[int] = 0

    def __post_init__(self, seed: int) -> None:
        if self.x < 0:
            raise ValueError("x is below zero")
        self.x += seed


@dataclasses.dataclass
class Other:
    y: int


class Options(TypedDict):
    a: int
    b: NotRequired[datetime.date]


def optioned(city: str, **options: Unpack[Options]) -> None: ...


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 5, 5), (int, 5.0, 5), (float, 5, 5.0), (float, 5.0, 5.0), (bool, True, True),
        (str, "x", "x"), (None, None, None), (Any, {"a": [1.0]}, {"a": [1.0]}),
        (datetime.datetime, "2026-01-02T12:00:00Z", NOON),
        (datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
        (datetime.time, "03:04:00", datetime.time(3, 4)),
        (datetime.timedelta, "P1D", datetime.timedelta(days=1)),
        (UUID, "00000000-0000-0000-0000-000000000005", UUID(int=5)),
        (Decimal, "1.10", Decimal("1.10")), (bytes, "aGk=", b"hi"),
        (Colour, "red", Colour.RED), (Mixed, 1, Mixed.ONE), (Mixed, "two", Mixed.TWO),
        (Literal["a", 1], 1, 1), (Literal[True, "x"], True, True), (Literal[1.5], 1.5, 1.5),
        (list[Point], [{"x": 1}], [Point(1)]), (set[int], [1, 1], {1}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (tuple[int, Point], [1, {"x": 2}], (1, Point(2))), (tuple[int, ...], [1, 2], (1, 2)),
        (dict[str, Point], {"a": {"x": 1}}, {"a": Point(1)}), (dict[int, int], {"1": 2}, {1: 2}),
        (Cat, {"theName": "Tom"}, Cat(the_name="Tom")), (Cat | None, None, None),
        (Row, {"a": "x", "b": 1}, {"a": "x", "b": 1}),
        # What msgspec alone cannot tell apart:
        (str | datetime.date, "2026-01-02", datetime.date(2026, 1, 2)), (str | datetime.date, "x", "x"),
        (Cat | Dog, {"theName": "Tom"}, Cat(the_name="Tom")), (Cat | Dog, {}, Dog()),
        (Dog | dict[str, int], {"bark": 2}, Dog(bark=2)),
        (list[str | UUID], ["a", "00000000-0000-0000-0000-000000000005"], ["a", UUID(int=5)]),
        (set[str | UUID], ["a"], {"a"}), (Set[str | UUID], ["a"], {"a"}),
        (frozenset[str | UUID], ["a"], frozenset({"a"})),
        (tuple[str | UUID, ...], ["a"], ("a",)), (tuple[str | UUID, int], ["a", 1], ("a", 1)),
        (Mapping[str, str | UUID], {"k": "a"}, {"k": "a"}),
        (Loose, {"when": "x", "inner": {"when": "2026-01-02"}}, Loose("x", Loose(datetime.date(2026, 1, 2)))),
        (list[int] | set[str], [1], [1]), (list[int] | set[str], ["a"], {"a"}),
        (Annotated[str | UUID, "Doc."], "a", "a"),
        (Partly, {"when": "x"}, Partly("x")), (Partly, {"when": "x", "x": "y"}, Partly("x", "y")),
        (Crate[str | UUID], {"item": "a"}, Crate("a")), (Crate[Point | Other], {"item": {"y": 2}}, Crate(Other(2))),
        (Seeded, {"x": 1, "seed": 2}, Seeded(3)),
        (Annotated[bytes, msgspec.Meta(max_length=2)], "aGk=", b"hi"), (list[Annotated[bytes, msgspec.Meta(max_length=2)] | int], ["aGk="], [b"hi"]),
        (PurePosixPath, "/a/b", PurePosixPath("/a/b")), (dict[str, list[PurePosixPath]], {"a": ["b"]}, {"a": [PurePosixPath("b")]}),
        (PurePosixPath | int, "b", PurePosixPath("b")), (Many[datetime.date], ["2026-01-02"], [datetime.date(2026, 1, 2)]),
        (Many[Cat | Dog], [{"bark": 2}], [Dog(bark=2)]),
    ],
)  # fmt: skip
def test_a_value_becomes_the_type_of_its_hint(hint: Any, value: Any, expected: Any) -> None:
    """And what was valid by the schema is what the function gets."""

    def function(x): ...

    function.__annotations__ = {"x": hint}
    positional, named = bind(function)({"x": value})
    assert positional == []
    assert named == {"x": expected}
    assert type(named["x"]) is type(expected)
    parameters = derive_definition(function).parameters
    assert parameters is not None
    assert validate(parameters, {"x": value}) is None


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, "1", 'at /x: expected integer, got string "1"'), (int, 1.5, "at /x: expected integer, got number 1.5"),
        (int, True, "at /x: expected integer, got boolean true"), (int, None, "at /x: expected integer"),
        (str, 1, "at /x: expected string, got integer 1"), (bool, 1, "at /x: expected boolean, got integer 1"),
        (float, "1", 'at /x: expected number, got string "1"'),
        (Colour, "blue", 'at /x: expected one of "red", got string "blue"'),
        (Mixed, 2, 'at /x: expected one of 1, "two", got integer 2'), (Mixed, [], 'at /x: expected one of 1, "two"'),
        (Literal[True], 1, "at /x: expected boolean"), (Literal[True], False, "at /x: expected one of true"),
        (Annotated[int, msgspec.Meta(ge=3)], 1, "at /x: expected minimum 3, got integer 1"),
        (list[Point], [{"x": "1"}], 'at /x/0/x: expected integer, got string "1"'),
        (tuple[int, str], [1], "at /x: expected minItems 2"), (tuple[str | UUID, int], ["a"], "at /x: expected minItems 2"),
        (list[str | UUID], {}, "at /x: expected array"), (list[str | UUID], ["a", 1], "at /x/1: expected string"),
        (dict[str, str | UUID], None, "at /x: expected object"),
        (dict[str, str | UUID], {"k": 1}, "at /x/k: expected string, got integer 1"),
        (Loose, {}, "at /x: missing 'when'"), (Loose, {"when": 1}, "at /x/when: expected string"),
        (Cat | Dog, {"bark": "loud"}, 'at /x/bark: expected integer, got string "loud"'),
        (Annotated[str | UUID, msgspec.Meta(min_length=3)], "a", "at /x"),
        (PurePosixPath, 1, "at /x: expected string, got integer 1"), (list[PurePosixPath | None], [1], "at /x/0: expected string or null"),
        (Seeded, {"x": -1}, "at /x: x is below zero"), (Seeded | Other, {"x": -1}, "at /x: x is below zero"),
        (datetime.date, "soon", "at /x: Invalid"), (list[dict[str, datetime.date]], [{"a": "soon"}], r"at /x/0/\.\.\.: Invalid"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused(hint: Any, value: Any, expected: str) -> None:
    """In words for the model, with the place; nothing is coerced."""

    def function(x): ...

    function.__annotations__ = {"x": hint}
    with pytest.raises(FunctionInputError, match=expected):
        bind(function)({"x": value})


def places(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> None: ...


def extras(a: int, /, **more: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (places, {"a": 1}, ([1, 2], {})),
        (places, {"a": 1, "b": 5, "c": 6, "d": 7}, ([1, 5], {"c": 6, "d": 7})),
        (extras, {"a": 1, "z": 2.0}, ([1], {"z": 2})),
        (
            optioned,
            {"city": "x", "a": 1, "b": "2026-01-02"},
            ([], {"city": "x", "a": 1, "b": datetime.date(2026, 1, 2)}),
        ),
        (lambda: None, {}, ([], {})),
    ],
)
def test_arguments_go_to_their_places(function: Any, given: Any, expected: Any) -> None:
    """Positional-only ones by position with their defaults, the rest by name."""
    before = dict(given)
    assert bind(function)(given) == expected
    assert given == before


def test_everything_that_is_wrong_is_told_at_once() -> None:
    """Missing, unknown and wrong parameters, so that the model mends all."""
    with pytest.raises(FunctionInputError) as caught:
        bind(places)({"b": "x", "e": 1})
    assert set(str(caught.value).split("; ")) == {
        "at the root: missing 'a'",
        'at /b: expected integer, got string "x"',
        "at /e: there is no such parameter",
    }
    with pytest.raises(FunctionInputError, match="at /z: expected integer"):
        bind(extras)({"a": 1, "z": "x"})
    with pytest.raises(FunctionInputError, match="at /z: there is no such parameter"):
        bind(lambda: None)({"z": 1})


def test_a_null_for_a_default_is_refused_unless_the_hint_has_it() -> None:
    """Exact: leaving out and null are not the same."""
    with pytest.raises(FunctionInputError, match="at /c: expected integer"):
        bind(places)({"a": 1, "c": None})


def test_types_defined_inside_a_function_are_reached() -> None:
    """msgspec cannot resolve them by itself; their own hints included."""

    class Inner(msgspec.Struct):
        n: int

    @dataclasses.dataclass
    class Middle:
        inner: Inner
        others: list[Inner] = dataclasses.field(default_factory=list)

    def use_it(middle: Middle) -> Any:
        return Middle, Inner

    _, named = bind(use_it)({"middle": {"inner": {"n": 1}, "others": [{"n": 2}]}})
    assert named == {"middle": Middle(Inner(n=1), [Inner(n=2)])}


def test_a_converter_alone_says_what_does_not_fit() -> None:
    """For whoever has a type and no function."""
    assert derive_converter(list[Point])([{"x": 1.0}]) == [Point(1)]
    with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
        derive_converter(Point)({"x": "1"})


_hints = [int, float, bool, str, list[int], dict[str, float], Point, Loose, Cat | Dog, Mixed]
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "when", "inner", "theName", "bark"]), inner)
    ),
    max_leaves=8,
)


@given(st.sampled_from(_hints), _values)
def test_any_value_fits_or_is_refused(hint: Any, value: Any) -> None:
    """Never another exception, and what is not valid by the schema never fits."""

    def function(x): ...

    function.__annotations__ = {"x": hint}
    try:
        bind(function)({"x": value})
    except FunctionInputError:
        return
    parameters = derive_definition(function).parameters
    assert parameters is not None
    assert validate(parameters, {"x": value}) is None
