"""Schemas are checked before any request: keyword shapes at any depth, references, the root."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.schemas.checking import check_schema


def properties(**schemas: Any) -> dict[str, Any]:
    """An object with these properties."""
    return {"type": "object", "properties": schemas}


@pytest.mark.parametrize(
    ("schema", "place", "said"),
    [
        (properties(a={"type": "strnig"}), "/properties/a/type", "expected one of array"),
        (properties(a={"type": "dict"}), "/properties/a/type", "Did you mean: object?"),
        (properties(a={"type": "String"}), "/properties/a/type", "Did you mean: string?"),
        (properties(a={"type": []}), "/properties/a/type", "or a list of them"),
        (properties(a={"type": ["string", 1]}), "/properties/a/type", "or a list of them"),
        ({"type": "object", "properties": []}, "/properties", "maps names to schemas"),
        (properties(a="string"), "/properties/a", "expected a schema"),
        (properties(a=None), "/properties/a", "expected a schema"),
        (
            {"type": "object", "required": "a"},
            "/required",
            "expected a list of property names, got 'a'",
        ),
        (properties(a={"required": True}), "/properties/a/required", "stands beside `properties`"),
        ({"type": "object", "required": [1]}, "/required", "list of property names"),
        ({"type": "object", "required": ["a", "a"]}, "/required", "Each stands there once"),
        (properties(a={"type": ["string", "string"]}), "/properties/a/type", "Each stands there once"),
        (
            properties(a={"type": "array", "items": "string"}),
            "/properties/a/items",
            "expected a schema",
        ),
        (properties(a={"items": [1]}), "/properties/a/items/0", "expected a schema"),
        (properties(a={"anyOf": []}), "/properties/a/anyOf", "at least one schema"),
        (properties(a={"anyOf": {}}), "/properties/a/anyOf", "at least one schema"),
        (
            properties(a={"oneOf": [{"allOf": [{"type": "x"}]}]}),
            "/properties/a/oneOf/0/allOf/0/type",
            "one of",
        ),
        (properties(a={"enum": "x"}), "/properties/a/enum", "at least one value"),
        (properties(a={"enum": []}), "/properties/a/enum", "at least one value"),
        (properties(a={"minimum": "1"}), "/properties/a/minimum", "expected a number"),
        (
            properties(a={"exclusiveMinimum": True}),
            "/properties/a/exclusiveMinimum",
            "Since draft 6",
        ),
        (properties(a={"minLength": -1}), "/properties/a/minLength", "zero or more"),
        (properties(a={"maxItems": 1.5}), "/properties/a/maxItems", "whole number"),
        (properties(a={"multipleOf": 0}), "/properties/a/multipleOf", "above zero"),
        (properties(a={"pattern": 1}), "/properties/a/pattern", "expected a string"),
        (properties(a={"description": ["x"]}), "/properties/a/description", "expected a string"),
        (properties(a={"uniqueItems": "yes"}), "/properties/a/uniqueItems", "true or false"),
        (properties(a={"additionalProperties": "no"}), "/properties/a/additionalProperties", "schema"),
        (properties(a={"dependentRequired": {"a": "b"}}), "/properties/a/dependentRequired", "lists"),
        (properties(a={"dependencies": {"a": 1}}), "/properties/a/dependencies/a", "schema"),
        (properties(**{"x/y~z": {"type": 1}}), "/properties/x~1y~0z/type", "one of"),
        ({"type": "object", "$defs": {"A": {"type": 1}}}, "/$defs/A/type", "one of"),
        (properties(a={"$ref": "#/$defs/A"}), "/properties/a/$ref", "points at no schema"),
        (properties(a={"$ref": "#nowhere"}), "/properties/a/$ref", "points at no schema"),
        (properties(a={"$ref": "#/properties/a/enum/0", "enum": [{}]}), "/properties/a/$ref", "points at no"),
        (properties(a={"$ref": "#/properties/b/anyOf/01"}, b={"anyOf": [{}, {}]}), "/properties/a/$ref", "points"),
        (properties(a={"$ref": "https://x.test/s.json"}), "/properties/a/$ref", "never fetched"),
        (properties(a={"$ref": "other.json#/a"}), "/properties/a/$ref", "remote reference"),
        (properties(a={"$ref": "#/properties/a"}), "/properties/a/$ref", "back to itself"),
        (properties(a={"anyOf": [{"$ref": "#/properties/a"}]}), "/properties/a/anyOf/0/$ref", "back to itself"),
        (properties(a={"allOf": [{}, {"$ref": "#/properties/a"}]}), "/properties/a/allOf/1/$ref", "back to itself"),
        (properties(a={"oneOf": [{"$ref": "#/properties/b"}]}, b={"$ref": "#/properties/a"}), "/properties/b/$ref", "back to itself"),
    ],
)  # fmt: skip
def test_bad_schemas(schema: Any, place: str, said: str) -> None:
    """The error names the function, the JSON pointer and what was expected there."""
    with pytest.raises(ConfigurationError) as caught:
        normalize_functions([{"name": "book", "parameters": schema}])
    message = str(caught.value)
    assert f"function 'book' is not valid at {place}:" in message
    assert said in message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": ["object", "null"]},
        {"enum": [1]},
        {"items": {}},
        {"anyOf": [{"type": "object"}, {"type": "string"}]},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "array"}}},
        {"anyOf": [True]},
    ],
)
def test_roots_that_are_no_object(schema: Any) -> None:
    """Parameters must describe an object."""
    with pytest.raises(ConfigurationError, match="parameters are an object"):
        normalize_functions([{"name": "f", "parameters": schema}])


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": True}}}},
        {"anyOf": [{"type": "object"}, {"required": ["a"]}], "properties": {"a": {}}},
        {"type": ["object"], "properties": {"a": False}},
        {"allOf": [{"properties": {"a": {}}}]},
        properties(a={"$ref": "#"}),
        properties(a={"$ref": "#node"}, b={"$anchor": "node"}),
        properties(a={"$ref": "#node"}, b={"$id": "#node"}),
        properties(a={"$ref": "#/properties/b/anyOf/1"}, b={"anyOf": [{}, {"type": "null"}]}),
        properties(a={"$ref": "#/$defs/x~1y"}) | {"$defs": {"x/y": {}}},
        properties(a={"$ref": "#/$defs/x%20y"}) | {"$defs": {"x y": {}}},
        properties(a={"anyOf": [{"type": "string"}, {"$ref": "#/properties/a"}]}),
        properties(
            a={"allOf": [{"$ref": "#/properties/b"}, {"$ref": "#/properties/b"}]},
            b={"type": "null"},
        ),
        properties(a={"$ref": "#/$defs/0"})
        | {"$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(99)} | {"99": {}}},
        properties(a={"items": [{}, {}], "additionalItems": False}),
        properties(a={"dependencies": {"a": ["b"], "c": {"type": "object"}}}),
        properties(a={"dependentRequired": {"a": ["b"]}, "default": {"type": "strnig"}}),
        properties(a={"x-order": 1, "optional": True, "minItems": 2.0}),
        properties(properties={"type": "object", "properties": {"type": {"type": "string"}}}),
    ],
)
def test_good_schemas(schema: Any) -> None:
    """What is valid passes, and is kept as it was."""
    (definition,) = normalize_functions([{"name": "f", "parameters": schema}]).definitions
    assert definition.parameters == schema


def test_any_owner() -> None:
    """The check serves other schemas as well."""
    check_schema({"type": "string"}, "json_schema")
    check_schema(True, "json_schema")
    with pytest.raises(ConfigurationError, match="schema of json_schema is not valid at the root"):
        check_schema([], "json_schema")


def test_hint_where_there_is_none() -> None:
    """A type that resembles nothing gets no hint; long values are cut."""
    with pytest.raises(ConfigurationError) as caught:
        check_schema({"type": "x" * 200}, "json_schema")
    assert "Did you mean" not in str(caught.value)
    assert "..." in str(caught.value)
    assert len(str(caught.value)) < 300


def test_rings_that_branch_end_the_search() -> None:
    """Definitions that offer the next one twice, and the last the first, are not tried in every order."""
    rings = {str(n): {"anyOf": [{"$ref": f"#/$defs/{(n + 1) % 40}"}] * 2} for n in range(40)}
    schema = properties(a={"$ref": "#/$defs/0"}) | {"$defs": rings}
    functions = normalize_functions([{"name": "f", "parameters": schema}])
    assert functions.by_name["f"].parameters == schema
