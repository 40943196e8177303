"""Validation: exact, bounded, and in words a model can act on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from llm_tools.functions.validating import validate

PERSON: Any = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0},
        "unit": {"enum": ["c", "f"]},
        "fixed": {"const": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "home": {"$ref": "#/$defs/Home"},
        "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Home"}, {"type": "null"}]},
        "one": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        "never": False,
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "when": {"type": "string", "format": "date"},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {
        "Home": {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]}
    },
}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "A"},
        {"name": "A", "age": 1.0, "unit": "c", "fixed": 1, "tags": ["x"], "home": {"zip": "1"}},
        {"name": "A", "either": None, "when": "not a date", "code": "abc", "one": 1.5},
    ],
)
def test_what_fits(value: Any) -> None:
    """A fitting value has no complaint; formats are not checked."""
    assert validate(PERSON, value) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "at the root: expected object, got array []"),
        ({}, "at the root: missing 'name'"),
        ({"name": 1}, "at /name: expected string, got integer 1"),
        ({"name": ""}, 'at /name: expected minLength 1, got string ""'),
        ({"name": "A", "age": "1"}, 'at /age: expected integer, got string "1"'),
        ({"name": "A", "age": True}, "at /age: expected integer, got boolean true"),
        ({"name": "A", "age": 1.5}, "at /age: expected integer, got number 1.5"),
        ({"name": "A", "age": -1}, "at /age: expected minimum 0, got integer -1"),
        ({"name": "A", "unit": "k"}, 'at /unit: expected one of "c", "f", got string "k"'),
        ({"name": "A", "fixed": True}, "at /fixed: expected 1, got boolean true"),
        ({"name": "A", "tags": ["x", 1]}, "at /tags/1: expected string, got integer 1"),
        ({"name": "A", "home": {}}, "at /home: missing 'zip'"),
        (
            {"name": "A", "x": 1},
            "at the root: unexpected 'x'; the properties are 'name', 'age', 'unit', 'fixed', "
            "'tags', 'home', 'either', 'one', 'never', 'code', 'when'",
        ),
        ({"name": "A", "either": 1}, "at /either: expected string or object or null, got integer 1"),
        ({"name": "A", "either": {}}, "at /either: missing 'zip'"),
        ({"name": "A", "either": {"zip": 1}}, "at /either/zip: expected string, got integer 1"),
        ({"name": "A", "one": 1}, "at /one: expected exactly one of the alternatives to fit, got integer 1"),
        ({"name": "A", "tags": ["x", "x"]}, 'at /tags: expected uniqueItems true, got array ["x","x"]'),
        ({"name": "A", "never": 1}, "at /never: expected nothing here, got integer 1"),
        ({"name": "A", "code": "A1"}, 'at /code: expected pattern "^[a-z]+$", got string "A1"'),
    ],
)  # fmt: skip
def test_complaints(value: Any, said: str) -> None:
    """The JSON pointer, what was expected, what came."""
    assert validate(PERSON, value) == said


def test_several_complaints() -> None:
    """All are told, but no more than five, and each once."""
    schema = {"type": "object", "required": ["a", "b"], "properties": {"c": {"type": "null"}}}
    assert validate(schema, {"c": 1}) in (
        "at the root: missing 'a', 'b'; at /c: expected null, got integer 1",
        "at /c: expected null, got integer 1; at the root: missing 'a', 'b'",
    )
    many = validate({"items": {"type": "null"}}, list(range(9)))
    assert many is not None
    assert many.count("expected null") == 5


def test_pointers_and_lengths() -> None:
    """Odd keys are escaped, long values are cut."""
    schema = {"properties": {"a/b~c": {"items": {"type": "null"}}}}
    said = validate(schema, {"a/b~c": ["x" * 1000]})
    assert said is not None
    assert said.startswith('at /a~1b~0c/0: expected null, got string "xxx')
    assert len(said) < 160


def test_values_that_are_no_json() -> None:
    """A value that cannot be shown is named by its type."""
    assert validate({"type": "null"}, "\ud800") == "at the root: expected null, got string str"


def test_no_named_properties() -> None:
    """A closed object without properties says so."""
    assert validate({"additionalProperties": False}, {"x": 1}) == (
        "at the root: unexpected 'x'; the properties are none"
    )


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]}, [None], [1]),
        ({"items": [{"type": "null"}], "additionalItems": False}, [None], [None, 1]),
        ({"prefixItems": [{"type": "null"}], "items": False}, [None], [None, 1]),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "null"}]}, [None], [1]),
        ({"$schema": "http://json-schema.org/draft-04/schema", "minimum": 1, "exclusiveMinimum": True}, 2, 1),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema", "dependentRequired": {"a": ["b"]}}, {}, {"a": 1}),
        ({"$schema": "urn:my-own-dialect", "type": "null"}, None, 1),
    ],
)  # fmt: skip
def test_drafts(schema: Any, good: Any, bad: Any) -> None:
    """The draft is the one the schema names, or the one its tuples are spelled in."""
    assert validate(schema, good) is None
    assert validate(schema, bad) is not None


def test_nothing_is_fetched() -> None:
    """A remote reference is a complaint, not a request."""
    said = validate({"$ref": "http://127.0.0.1:9/schema.json"}, 1)
    assert said is not None
    assert "could not be checked" in said


def test_recursion() -> None:
    """Recursive schemas work; what never ends is a complaint."""
    tree: Any = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    }
    assert validate(tree, {"kids": [{"kids": []}, {}]}) is None
    assert validate(tree, {"kids": [{"kids": [{"x": 1}]}]}) == (
        "at /kids/0/kids/0: unexpected 'x'; the properties are 'kids'"
    )
    value: Any = {}
    for _ in range(5000):
        value = {"kids": [value]}
    for schema, bomb in ((tree, value), ({"anyOf": [{"$ref": "#"}]}, 1)):
        said = validate(schema, bomb)
        assert said is not None
        assert "nested too deeply" in said


def test_a_broken_schema() -> None:
    """A schema that was never checked is a complaint as well."""
    said = validate({"type": "object", "required": 7}, {})
    assert said is not None
    assert "could not be checked" in said


def test_pattern_properties() -> None:
    """Keys are matched by pattern, in bounded time."""
    schema = {"patternProperties": {"^x": {"type": "null"}, "(a+)+$": {}, "[": {"type": "null"}}}
    assert validate(schema, {"x1": None}) is None
    assert validate(schema, {"x1": 1, "y": 1}) is not None
    assert validate({"patternProperties": {"^x": {"type": "null"}}}, {"y": 1}) is None
    assert validate({"patternProperties": {"^x": False}}, [1]) is None
    evil = {"patternProperties": {"^(a+)+$": {"type": "null"}}}
    assert validate(evil, {"a" * 60 + "!": 1}) is None


def test_patterns_that_backtrack() -> None:
    """A hostile pattern costs nothing, and still means what it says."""
    schema = {"pattern": "^(a+)+$"}
    assert validate(schema, "a" * 5000) is None
    assert validate(schema, "a" * 5000 + "!") is not None
    assert validate(schema, 7) is None


TAGGED: dict[str, Any] = {
    "anyOf": [
        {"properties": {"kind": {"enum": ["cat"]}, "age": {"type": "integer"}}},
        {"properties": {"kind": {"const": "dog"}, "age": {"type": "string"}}},
    ]
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"kind": "cat", "age": "1"}, 'at /age: expected integer, got string "1"'),
        ({"kind": "dog", "age": 1}, "at /age: expected string, got integer 1"),
        ({"kind": "cow", "age": 1}, 'at /kind: expected one of "cat", "dog", got string "cow"'),
    ],
)
@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
def test_a_union_told_apart_by_a_tag(key: str, value: Any, said: str) -> None:
    """The complaint is about the branch that was meant, or names the tags of all."""
    assert validate({key: TAGGED["anyOf"]}, value) == said
    nested = {"properties": {"pets": {"items": {key: TAGGED["anyOf"]}}}}
    assert validate(nested, {"pets": [value]}) == said.replace("at /", "at /pets/0/")


@pytest.mark.parametrize(
    ("step", "good", "bad"),
    [
        (0.01, [19.99, 0.07, 3, 1e300, True, "x"], [19.999, 1e-9]),
        (0.1, [0.3, -0.7, 10**400], [0.35]),
        (3, [9, 9.0, 10**400 - 1], [10, 9.5]),
        (1e-300, [1, 2.5], []),
    ],
)
def test_multiples_are_those_of_the_numbers_as_written(step: Any, good: Any, bad: Any) -> None:
    """Not of what they are in binary, where no price is a multiple of a cent."""
    schema = {"items": {"multipleOf": step}}
    assert validate(schema, good) is None
    for value in bad:
        assert validate(schema, [value]) == (
            f"at /0: expected multipleOf {msgspec.json.encode(step).decode()}, "
            f"got {'integer' if isinstance(value, int) else 'number'} "
            f"{msgspec.json.encode(value).decode()}"
        )
