"""`json_schema`: read from dicts and types, made legal, and the text restored."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import msgspec
import pytest

from llm_tools.errors import ConfigurationError
from llm_tools.functions.output import OutputSchema, normalize_output, prepare_output
from llm_tools.functions.rewriting.limits import Cost
from llm_tools.functions.subsets import (
    ANTHROPIC_STRICT,
    GEMINI_JSON_SCHEMA,
    JSON_SCHEMA,
    OPENAI_STRICT,
    SchemaSubset,
)


class City(msgspec.Struct):
    """A struct."""

    name: str
    people: int | None = None


@dataclass
class Town:
    """A dataclass."""

    name: str


class Village(TypedDict):
    """A typed dict."""

    name: str


SCHEMA: Any = {"type": "object", "title": "My city!", "properties": {"name": {"type": "string"}}}


def test_dicts() -> None:
    """A dict is copied, checked, named by its title, and read once."""
    given = copy.deepcopy(SCHEMA)
    output = normalize_output(given)
    assert output.schema == SCHEMA
    assert output.schema is not given
    assert output.name.startswith("My_city_")
    assert output.type is None
    assert normalize_output(copy.deepcopy(SCHEMA)) is output
    assert normalize_output(output) is output
    given["properties"]["name"]["type"] = "integer"
    assert normalize_output(given).schema["properties"]["name"] == {"type": "integer"}
    assert normalize_output({"type": "array"}).name == "output"


@pytest.mark.parametrize("kind", [City, Town, Village])
def test_types(kind: Any) -> None:
    """A type gives its schema and its name, and is remembered."""
    output = normalize_output(kind)
    assert (output.name, output.type) == (kind.__name__, kind)
    prepared = prepare_output(output, JSON_SCHEMA, strict=False)
    assert prepared.schema["type"] == "object"
    assert prepared.schema["properties"]["name"] == {"type": "string"}
    assert normalize_output(kind) is output


def test_generic_type() -> None:
    """Any type msgspec knows will do."""
    output = normalize_output(list[City])
    prepared = prepare_output(output, OPENAI_STRICT, strict=True)
    assert prepared.restore is not None
    assert prepared.restore({"value": [{"name": "O", "people": None}]}) == [
        {"name": "O", "people": None}
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("text", "is no JSON Schema and no type"),
        (7, "is no JSON Schema and no type"),
        (object, "is no JSON Schema and no type"),
        ({"type": "strnig"}, "json_schema is not valid at /type"),
        ({"properties": {"a": {"$ref": "#/x"}}}, "/properties/a/\\$ref"),
        ({"default": object()}, "json_schema is not plain JSON"),
        ({"name": "x", "strict": True, "schema": {"type": "object"}}, "is the schema itself"),
        ({"type": "json_schema", "json_schema": {"name": "x"}}, "is the schema itself"),
    ],
)
def test_mistakes(value: Any, said: str) -> None:
    """Everything else is a typed error."""
    with pytest.raises(ConfigurationError, match=said):
        normalize_output(value)


@pytest.mark.parametrize("levels", [300, 5000])
def test_depth_bombs(levels: int) -> None:
    """Endless nesting is a typed error."""
    schema: Any = {}
    for _ in range(levels):
        schema = {"items": schema}
    with pytest.raises(ConfigurationError, match=r"nested|plain JSON"):
        normalize_output(schema)


def test_plain() -> None:
    """Not strict: the schema as it is."""
    output = normalize_output(SCHEMA)
    for subset in (JSON_SCHEMA, OPENAI_STRICT):
        prepared = prepare_output(output, subset, strict=False)
        assert prepared.schema == SCHEMA
        assert (prepared.strict, prepared.restore, prepared.warnings) == (False, None, ())
        assert prepared.cost == Cost()


def test_strict() -> None:
    """Strict: rewritten, and the invented nulls taken out of the answer."""
    output = normalize_output(SCHEMA)
    prepared = prepare_output(output, OPENAI_STRICT, strict=True)
    assert prepared.schema == {
        "type": "object",
        "properties": {"name": {"type": ["string", "null"]}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert prepared.strict
    assert prepared.restore is not None
    assert prepared.restore({"name": None}) == {}
    assert prepare_output(output, OPENAI_STRICT, strict=True) is prepared
    anthropic = prepare_output(output, ANTHROPIC_STRICT, strict=True)
    assert anthropic.cost == Cost(functions=0, optionals=1, unions=0)
    assert anthropic.restore is None


def test_not_strict_after_all() -> None:
    """What cannot be strict comes back plain, with the reason."""
    output = normalize_output({"type": "object", "additionalProperties": {"type": "string"}})
    prepared = prepare_output(output, OPENAI_STRICT, strict=True)
    assert prepared.strict is False
    assert prepared.schema == output.schema
    assert [(w.code, w.detail) for w in prepared.warnings] == [
        (
            "strict_unavailable",
            "json_schema: not strict, but validated here: the root: "
            "an object that may hold any further property",
        )
    ]


@pytest.mark.parametrize("subset", [OPENAI_STRICT, ANTHROPIC_STRICT])
@pytest.mark.parametrize("kind", [dict, {"type": "object"}, {"type": "object", "properties": {}}])
def test_any_object_stays_any(kind: Any, subset: SchemaSubset) -> None:
    """A root that lists nothing is not closed: nothing but `{}` could be answered."""
    output = normalize_output(kind)
    prepared = prepare_output(output, subset, strict=True)
    assert prepared.strict is False
    assert prepared.schema == output.schema
    assert [warning.code for warning in prepared.warnings] == ["strict_unavailable"]
    empty = normalize_output({"type": "object", "additionalProperties": False})
    assert prepare_output(empty, subset, strict=True).strict


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}, {"type": "string"}]},
        {"type": "object", "anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}]},
    ],
)
def test_root_that_is_no_object(schema: Any) -> None:
    """It goes out inside an object, and the answer is taken out of it again."""
    output = normalize_output(schema)
    prepared = prepare_output(output, OPENAI_STRICT, strict=True)
    assert prepared.schema["type"] == "object"
    assert list(prepared.schema["properties"]) == ["value"]
    assert prepared.schema["required"] == ["value"]
    assert prepared.strict
    assert prepared.warnings[0].code == "output_wrapped"
    assert prepared.restore is not None
    assert prepared.restore({"value": "x"}) == "x"
    assert prepared.restore("x") == "x"
    assert prepared.restore({"other": 1}) == {"other": 1}
    gemini = prepare_output(output, GEMINI_JSON_SCHEMA, strict=True)
    assert gemini.schema == schema
    assert gemini.restore is None


def test_wrapped_references() -> None:
    """References inside a wrapped root still lead where they led."""
    schema = {
        "anyOf": [{"$ref": "#/$defs/T"}, {"type": "array", "items": {"$ref": "#"}}],
        "$defs": {"T": {"type": "string"}},
    }
    prepared = prepare_output(normalize_output(schema), OPENAI_STRICT, strict=True)
    inner = {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "array", "items": {"$ref": "#/$defs/root"}}]}
    assert prepared.schema == {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
        "$defs": {"T": {"type": "string"}, "root": inner},
    }


def test_type_is_said() -> None:
    """An object that only lists properties is one."""
    output = normalize_output({"properties": {"a": {"type": "null"}}})
    assert prepare_output(output, OPENAI_STRICT, strict=True).schema["type"] == "object"


def test_schemas_too_deep_to_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that exhausts the stack is a typed error."""

    def endless(*_: Any, **__: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr("llm_tools.functions.output.rewrite", endless)
    output = OutputSchema(name="o", schema={"type": "object", "properties": {}})
    with pytest.raises(ConfigurationError, match="too deeply nested"):
        prepare_output(output, OPENAI_STRICT, strict=True)


@dataclass
class Cat:
    kind: Literal["cat"]


@dataclass
class Dog:
    kind: Literal["dog"]


class Home(msgspec.Struct):
    pet: Cat | Dog


def test_types_msgspec_has_no_schema_for() -> None:
    """A union of dataclasses is one like any other; a name that cannot be found is a mistake."""

    @dataclass
    class Lost:
        x: Nowhere  # type: ignore[name-defined] # noqa: F821 - that it is missing is the point

    pet = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"kind": {"type": "string", "enum": [kind]}},
                "required": ["kind"],
            }
            for kind in ("cat", "dog")
        ]
    }
    assert normalize_output(Cat | Dog).schema == pet
    assert normalize_output(Home).schema["properties"] == {"pet": pet}
    with pytest.raises(ConfigurationError, match="name 'Nowhere' is not defined"):
        normalize_output(Lost)
