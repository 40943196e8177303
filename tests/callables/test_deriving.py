"""Definitions and schemas come from signatures, hints and docstrings."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePosixPath
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
)
from uuid import UUID

import msgspec
import pytest
import typing_extensions

from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import FunctionDefinition, normalize_functions
from llm_tools.functions.deriving import derive_definition, derive_schema

T = TypeVar("T")
Bounded = TypeVar("Bounded", bound=int)
City = NewType("City", str)
Alias = typing_extensions.TypeAliasType("Alias", list[int])
Many = typing_extensions.TypeAliasType("Many", list[T], type_params=(T,))


class Colour(enum.Enum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    S = 1


class Odd(enum.Enum):
    PAIR = (1, 2)


@dataclasses.dataclass
class Point:
    """A place.

    Attributes:
        x: Across.
        y: Not told.
    """

    x: int
    y: Annotated[int, msgspec.Meta(ge=0), "Down."] = 0
    tags: list[str] = dataclasses.field(default_factory=list)
    made: int = dataclasses.field(default=1, init=False)


@dataclasses.dataclass
class Undocumented:
    x: int


class Node(msgspec.Struct, rename="camel", tag="node", forbid_unknown_fields=True):
    the_value: int
    next_node: Node | None = None


class Extra(TypedDict, total=False):
    a: Required[int]
    b: Annotated[NotRequired[str], "Bee."]
    c: typing_extensions.ReadOnly[int]


class Row(NamedTuple):
    a: int


class Box(msgspec.Struct, Generic[T]):
    item: T
    next: Box[T] | None = None


@dataclasses.dataclass
class Crate(Generic[T]):
    """Holds something.

    Attributes:
        item: What is in it.
    """

    item: list[T]
    kind: ClassVar[str] = "crate"


@dataclasses.dataclass
class Pair(Crate[T], Generic[T, Bounded]):
    other: Bounded | None = None


class Numbers(Pair[int, Bounded]):
    """A class of its own adds nothing."""


class Open(TypedDict, Generic[T]):
    item: T


class Closed(Open[int]):
    more: str


class Partly(msgspec.Struct):
    x: int
    y: int | msgspec.UnsetType = msgspec.UNSET
    z: str | msgspec.UnsetType | None = msgspec.UNSET


@dataclasses.dataclass
class Seeded:
    x: int
    seed: dataclasses.InitVar[int]


INTEGER = {"type": "integer"}
STRING = {"type": "string"}
NULL = {"type": "null"}
POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "integer", "description": "Across."},
        "y": {"type": "integer", "minimum": 0, "description": "Down.", "default": 0},
        "tags": {"type": "array", "items": STRING},
    },
    "required": ["x"],
    "description": "A place.",
}


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Any, {}), (object, {}), (bool, {"type": "boolean"}), (int, INTEGER),
        (float, {"type": "number"}), (str, STRING), (None, NULL), (type(None), NULL),
        (typing_extensions.LiteralString, STRING),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.time, {"type": "string", "format": "time"}),
        (datetime.timedelta, {"type": "string", "format": "duration"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Decimal, {"type": "string", "description": "A decimal number, as text."}),
        (bytes, {"type": "string", "description": "Bytes, as base64 text."}),
        (list, {"type": "array", "items": {}}), (list[int], {"type": "array", "items": INTEGER}),
        (set[int], {"type": "array", "items": INTEGER}),
        (Sequence[int], {"type": "array", "items": INTEGER}), (Iterable[int], {"type": "array", "items": INTEGER}),
        (tuple, {"type": "array", "items": {}}), (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (tuple[int, str], {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2}),
        (dict, {"type": "object", "additionalProperties": True}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": True}),
        (int | None, {"anyOf": [INTEGER, NULL]}),
        (Optional[int], {"anyOf": [INTEGER, NULL]}),  # noqa: UP045 - the old spelling is what is tested
        (Union[int, str], {"anyOf": [INTEGER, STRING]}),  # noqa: UP007 - likewise
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1, None], {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
        (Literal[True], {"type": "boolean", "enum": [True]}),
        (Colour, {"type": "string", "enum": ["red", "blue"], "description": "A colour."}),
        (Size, {"type": "integer", "enum": [1]}),
        (Annotated[bytes, msgspec.Meta(min_length=3, max_length=4)], {"type": "string", "description": "Bytes, as base64 text.", "minLength": 4, "maxLength": 8}),
        (Path, STRING), (list[PurePosixPath], {"type": "array", "items": STRING}), (Many[str], {"type": "array", "items": STRING}),
        (City, STRING), (Alias, {"type": "array", "items": INTEGER}), (T, {}), (Bounded, INTEGER),
        (Final[int], INTEGER),
        (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
        (Annotated[Annotated[int, "in"], "out"], {"type": "integer", "description": "out"}),
        (Annotated[int, typing_extensions.Doc("Doc."), object()], {"type": "integer", "description": "Doc."}),
        (Annotated[float, msgspec.Meta(gt=0, lt=9, multiple_of=0.5, title="T", examples=[1])],
         {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.5, "title": "T", "examples": [1]}),
        (Annotated[int, msgspec.Meta(ge=1, le=2, extra_json_schema={"x": 1})], {"type": "integer", "minimum": 1, "maximum": 2, "x": 1}),
        (Annotated[str, msgspec.Meta(min_length=1, max_length=3, pattern="a", description="D")],
         {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "a", "description": "D"}),
        (Annotated[list[int], msgspec.Meta(max_length=3)], {"type": "array", "items": INTEGER, "maxItems": 3}),
        (Annotated[dict[str, int], msgspec.Meta(min_length=1)], {"type": "object", "additionalProperties": INTEGER, "minProperties": 1}),
        (Annotated[list[int] | str | None, msgspec.Meta(min_length=2), "Both."],
         {"anyOf": [{"type": "array", "items": INTEGER, "minItems": 2}, {"type": "string", "minLength": 2}, NULL], "description": "Both."}),
        (Point, POINT), (list[Point], {"type": "array", "items": POINT}),
        (Undocumented, {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]}),
        (Extra, {"type": "object", "properties": {"a": INTEGER, "b": {"type": "string", "description": "Bee."}, "c": INTEGER}, "required": ["a"]}),
    ],
)  # fmt: skip
def test_a_type_has_a_schema(hint: Any, expected: Any) -> None:
    """Exactly this one, and every schema is one that functions may have."""
    assert derive_schema(hint) == expected
    definition = FunctionDefinition(
        name="f", parameters={"type": "object", "properties": {"x": expected}}
    )
    normalize_functions([definition])


def test_a_type_that_holds_itself_refers_to_itself() -> None:
    """The root stays an object; a tag is a property like the others."""
    node = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["node"]},
            "theValue": INTEGER,
            "nextNode": {"anyOf": [{"$ref": "#/$defs/Node"}, NULL]},
        },
        "required": ["type", "theValue"],
        "additionalProperties": False,
    }
    assert derive_schema(Node) == {**node, "$defs": {"Node": node}}
    assert derive_schema(list[Node]) == {
        "type": "array",
        "items": {"$ref": "#/$defs/Node"},
        "$defs": {"Node": node},
    }

    def walk(first: Node, second: Node) -> None: ...

    assert derive_definition(walk).parameters == {
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/Node"}, "second": {"$ref": "#/$defs/Node"}},
        "required": ["first", "second"],
        "$defs": {"Node": node},
    }


def test_two_types_of_one_name_are_told_apart() -> None:
    """Both hold themselves, so both need a name of their own."""

    outer = Node

    def another() -> Any:
        class Node(msgspec.Struct):
            kids: list[Node] = []

        return Node

    def walk(first, second) -> None: ...

    inner = another()
    walk.__annotations__ = {"first": outer, "second": inner}
    definition = derive_definition(walk, {"Node": inner})
    assert definition.parameters is not None
    assert sorted(definition.parameters["$defs"]) == ["Node", "Node2"]


def test_types_only_msgspec_knows_are_its_own() -> None:
    """Named tuples."""
    assert derive_schema(Row)["type"] == "array"


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Crate[str], {"item": {"type": "array", "items": STRING, "description": "What is in it."}}),
        (Crate[int | Colour], {"item": {"type": "array", "items": {"anyOf": [INTEGER, {"type": "string", "enum": ["red", "blue"], "description": "A colour."}]}, "description": "What is in it."}}),
        (Pair[str, int], {"item": {"type": "array", "items": STRING}, "other": {"anyOf": [INTEGER, NULL]}}),
        (Numbers, {"item": {"type": "array", "items": INTEGER}, "other": {"anyOf": [INTEGER, NULL]}}),
        (Open[str], {"item": STRING}), (Closed, {"item": INTEGER, "more": STRING}),
        (Open, {"item": {}}), (Open[Open[int]], {"item": {"type": "object", "properties": {"item": INTEGER}, "required": ["item"]}}),
        (Partly, {"x": INTEGER, "y": INTEGER, "z": {"anyOf": [STRING, NULL]}}),
        (Seeded, {"x": INTEGER, "seed": INTEGER}),
    ],
)  # fmt: skip
def test_the_fields_of_a_class_are_told_with_their_types(hint: Any, expected: Any) -> None:
    """What stands for type variables, also those of a base; what is never sent is left out."""
    assert derive_schema(hint)["properties"] == expected


def test_a_generic_type_that_holds_itself_refers_to_itself() -> None:
    """Each under a name of its own."""

    def both(first: Box[int], second: Box[str]) -> None: ...

    parameters = derive_definition(both).parameters
    assert parameters is not None
    properties = {
        name: [*item["properties"].values()] for name, item in parameters["$defs"].items()
    }
    assert properties == {
        "Box": [INTEGER, {"anyOf": [{"$ref": "#/$defs/Box"}, NULL]}],
        "Box2": [STRING, {"anyOf": [{"$ref": "#/$defs/Box2"}, NULL]}],
    }


def test_unpacked_options_are_parameters() -> None:
    """Each by its name; what else could be unpacked has none."""

    def find(city: str, **options: Unpack[Extra]) -> None:
        """Find.

        Args:
            a: First.
        """

    def wrong(**options: Unpack[tuple[int, int]]) -> None: ...  # type: ignore[misc] # is the point

    parameters = derive_definition(find).parameters
    assert parameters is not None
    assert parameters["properties"] == {
        "city": STRING,
        "a": {"type": "integer", "description": "First."},
        "b": {"type": "string", "description": "Bee."},
        "c": INTEGER,
    }
    assert parameters["required"] == ["city", "a"]
    assert "additionalProperties" not in parameters
    with pytest.raises(ConfigurationError, match="can unpack a TypedDict only"):
        derive_definition(wrong)


@pytest.mark.parametrize(
    "hint",
    [
        complex,
        Callable[[], int],
        Odd,
        Literal[Colour.RED],
        Literal[[1]],
        type,
        list[complex],
        deque[int],
        "x",
    ],
)
def test_a_type_json_has_no_word_for_is_refused(hint: Any) -> None:
    """The error lists what there is."""
    with pytest.raises(ConfigurationError, match="JSON has no word for"):
        derive_schema(hint)


ORIGIN = Point(1)


def weather(
    city: str,
    unit: Literal["C", "F"] = "C",
    *,
    when: datetime.date | None = None,
    colour: Colour = Colour.RED,
    anything=None,
    place: Annotated[Point, "Where."] = ORIGIN,
    **more: Annotated[int, "Counts."],
) -> str:
    """Look up the weather.

    Only for cities.

    Args:
        city: The city.
        place: Left to the hint.
        anything: What you like.
    """
    return city


def test_a_function_has_a_definition() -> None:
    """Name, text and parameters; defaults make optional, `**kwargs` take more."""
    assert derive_definition(weather) == FunctionDefinition(
        name="weather",
        description="Look up the weather.\n\nOnly for cities.",
        parameters={
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
                "when": {"anyOf": [{"type": "string", "format": "date"}, NULL]},
                "colour": {
                    "type": "string",
                    "enum": ["red", "blue"],
                    "description": "A colour.",
                    "default": "red",
                },
                "anything": {"description": "What you like."},
                "place": {**POINT, "description": "Where."},
            },
            "required": ["city"],
            "additionalProperties": {"type": "integer", "description": "Counts."},
        },
    )


class Speaker:
    """Speaks."""

    def speak(self, text: str) -> str:
        """Say it."""
        return text

    def __call__(self, loud: bool) -> None:
        """Shout."""


def test_methods_partials_and_objects_are_functions_too() -> None:
    """Without self, and without what a partial has given already."""
    method = derive_definition(Speaker().speak)
    assert (method.name, method.description) == ("speak", "Say it.")
    assert method.parameters == {
        "type": "object",
        "properties": {"text": STRING},
        "required": ["text"],
    }
    part = derive_definition(partial(weather, "Oslo", unit="F"))
    assert part.name == "weather"
    assert part.parameters is not None
    assert list(part.parameters["properties"]) == ["when", "colour", "anything", "place"]
    called = derive_definition(Speaker())
    assert (called.name, called.description) == ("Speaker", "Shout.")
    assert called.parameters is not None
    assert called.parameters["required"] == ["loud"]


def test_an_object_without_a_text_on_its_call_is_told_by_its_class() -> None:
    """Never by what Python says of every call."""

    class Told:
        """Looks it up."""

        def __call__(self, x: int) -> None: ...

    class Untold(Told):
        pass

    assert derive_definition(Told()).description == "Looks it up."
    assert derive_definition(partial(Told(), 1)).description == "Looks it up."
    assert derive_definition(Untold()).description == ""


def test_a_function_without_parameters_has_none() -> None:
    """Nothing to send."""

    def ping() -> None: ...

    assert derive_definition(ping) == FunctionDefinition(name="ping")


def test_open_functions_take_any_name() -> None:
    """`**kwargs` without a hint are an open map."""

    def store(**values) -> None: ...

    assert derive_definition(store).parameters == {
        "type": "object",
        "properties": {},
        "additionalProperties": True,
    }


def test_types_a_function_closes_over_are_found() -> None:
    """Hints as text may name what the function uses from around it."""

    class Local(msgspec.Struct):
        x: int

    def use_it(local: Local) -> Any:
        return Local

    assert derive_definition(use_it).parameters == {
        "type": "object",
        "properties": {
            "local": {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]}
        },
        "required": ["local"],
    }


def test_hints_that_cannot_be_found_are_refused() -> None:
    """Naming the function, and what to do."""

    class Local(msgspec.Struct):
        x: int

    def hidden(local: Local) -> None: ...

    def later(x: int) -> Any:
        return unbound

    if hidden is None:
        unbound = 1
    later.__annotations__ = {"x": "unbound"}
    for function in (hidden, later):
        with pytest.raises(ConfigurationError, match=f"hint of function '{function.__name__}'"):
            derive_definition(function)
    with pytest.raises(ConfigurationError, match="cannot be resolved"):
        derive_schema(Outer)


@dataclasses.dataclass
class Outer:
    x: Nowhere  # noqa: F821 - that it is missing is the point


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda *names: None, r"takes \*names"),
        (Point, "is a class"),
        (iter, "no signature"),
        (Speaker.speak, "is a method, and 'self' is nothing a model could give"),
    ],
)
def test_what_no_model_could_call_is_refused(function: Any, expected: str) -> None:
    """`*args` have no name, a class is no function."""
    with pytest.raises(ConfigurationError, match=expected):
        derive_definition(function)
