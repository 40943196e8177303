"""Schemas as they go out, exactly, for each wire."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from functions.wires import (
    ANTHROPIC,
    BEDROCK,
    DEEPSEEK,
    GEMINI,
    LOCAL,
    MISTRAL,
    OPENAI,
    OPENAPI,
    PLAIN,
    WIRES,
    prepared,
    prepared_property,
    told,
)

from llm_tools.content import ResultWarning
from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.preparing import prepare_functions
from llm_tools.functions.rewriting.merging import Conflict, merge
from llm_tools.functions.subsets import WireRules

NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}},
    "required": ["v"],
}
LIST = {"type": "object", "properties": {"head": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}}


# ---------------------------------------------------------------- no parameters


@pytest.mark.parametrize(
    ("wire", "strict", "schema"),
    [
        ("plain", False, {"type": "object", "properties": {}}),
        ("ollama", False, {"type": "object", "properties": {}}),
        ("gemini", True, None),
        ("openapi", False, None),
        (
            "openai",
            True,
            {"type": "object", "properties": {}, "additionalProperties": False, "required": []},
        ),
        ("anthropic", True, {"type": "object", "properties": {}, "additionalProperties": False}),
        ("mistral", True, {"type": "object", "properties": {}, "additionalProperties": False}),
    ],
)
def test_no_parameters(wire: str, strict: bool, schema: Any) -> None:
    """Each wire's own form, the same for every spelling, also a closed one."""
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    for parameters in (None, {}, {"type": "object"}, {"type": "object", "properties": {}}):
        assert prepared(parameters, WIRES[wire], strict=strict).schema == schema
    if wire in ("gemini", "openapi", "openai", "anthropic"):
        assert prepared(closed, WIRES[wire], strict=strict).schema == schema


# ---------------------------------------------------------------- plain


def test_plain_goes_out_as_it_is() -> None:
    """Without strict the schema is the caller's, whatever keywords it has."""
    schema = {
        "type": "object",
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
            "a": {"type": "string", "minLength": 1, "format": "odd", "default": "x"},
            "b": {"$ref": "#/definitions/B", "description": "beside"},
            "c": {"oneOf": [{"const": 1}, {"not": {"type": "null"}}]},
        },
        "required": ["a"],
        "additionalProperties": {"type": "integer"},
        "patternProperties": {"^x": {}},
        "definitions": {"B": {"type": "array", "items": {"type": "string"}}},
        "x-order": 1,
    }
    item = prepared(schema, PLAIN, strict=False)
    assert item.schema == schema
    assert (item.strict, item.validate, item.restore, item.hide) == (False, False, None, None)
    assert item.warnings == ()


def test_plain_positions_are_said_in_todays_words() -> None:
    """A list of items is none since draft 2020-12: it goes out as `prefixItems`."""
    schema = {
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "array"}]},
            "more": {"type": "array", "items": [{}], "additionalItems": {"type": "integer"}},
        },
    }
    item = prepared(schema, PLAIN, strict=False)
    assert item.schema == {
        "type": "object",
        "properties": {
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "array", "items": {}}],
                "items": {},
            },
            "more": {"type": "array", "prefixItems": [{}], "items": {"type": "integer"}},
        },
    }
    assert item.warnings == ()


def test_plain_arrays_get_items() -> None:
    """Arrays without items get some, at any depth; an empty `required` is left out."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "array"}},
            "b": {"anyOf": [{"type": ["array", "null"]}, {"type": "string"}]},
            "c": {"type": "array", "prefixItems": [{"type": "array"}]},
            "d": {"type": "array", "items": True},
        },
        "required": [],
    }
    assert prepared(schema, PLAIN, strict=False).schema == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "array", "items": {}}},
            "b": {"anyOf": [{"type": ["array", "null"], "items": {}}, {"type": "string"}]},
            "c": {"type": "array", "prefixItems": [{"type": "array", "items": {}}], "items": {}},
            "d": {"type": "array", "items": True},
        },
    }


def test_root_is_said_plainly() -> None:
    """The root has a type and properties, and no reference."""
    assert prepared({"additionalProperties": True}, PLAIN).schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": True,
    }
    schema = {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}, "description": "A list."}
    assert prepared(schema, PLAIN).schema == {
        **NODE,
        "$defs": {"Node": NODE},
        "description": "A list.",
    }


def test_union_at_the_root() -> None:
    """OpenAI and Anthropic refuse it: it becomes one object that takes what any branch takes."""
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "required": ["kind"],
        "anyOf": [
            {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a", "b"]},
            {"$ref": "#/$defs/B"},
        ],
        "not": {"required": ["z"]},
        "$defs": {
            "B": {
                "properties": {"a": {"type": "number"}, "b": {"type": "string"}},
                "required": ["b"],
            }
        },
    }  # fmt: skip
    item = prepared(schema, ANTHROPIC, strict=False)
    assert item.schema == {
        "type": "object",
        "properties": {
            "kind": {"type": "string"},
            "a": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
            "b": {"type": "string"},
        },
        "required": ["kind", "b"],
    }
    assert told(item) == [
        ("schema_loosened", "/anyOf: a union at the root became one object"),
        ("schema_loosened", "/not: a union at the root became one object"),
    ]
    strict = prepared(schema, OPENAI)
    assert (strict.strict, strict.validate) == (False, True)


def test_branches_at_the_root_that_say_nothing() -> None:
    """A branch without properties adds none."""
    schema = {"type": "object", "properties": {"a": {}}, "oneOf": [True, {"required": ["a"]}]}
    schema["oneOf"][0] = {}  # type: ignore[index]
    assert prepared(schema, PLAIN, strict=False).schema == {
        "type": "object",
        "properties": {"a": {}},
    }


def test_root_all_of_is_merged() -> None:
    """`allOf` at the root is no loss: its members hold together."""
    schema = {
        "allOf": [
            {"$ref": "#/$defs/A"},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        ],
        "$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    item = prepared(schema, PLAIN, strict=False)
    assert item.schema == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["b"],
    }
    assert item.warnings == ()


# ---------------------------------------------------------------- strict, OpenAI


def test_optional_properties_become_nullable() -> None:
    """Every object is closed and wants all its properties; optional ones take null."""
    item = prepared(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "unit": {"type": "string", "enum": ["c", "f"]},
                "kind": {"const": "x"},
                "both": {"type": ["string", "integer"]},
                "already": {"type": ["string", "null"]},
                "listed": {"enum": ["a", None]},
                "either": {"anyOf": [{"type": "string"}, {"type": "boolean"}], "description": "E"},
                "node": {"$ref": "#/$defs/Node", "description": "N"},
                "maybe": {"$ref": "#/$defs/Maybe"},
                "inner": {"type": "object", "properties": {"x": {"type": "string"}}},
            },
            "required": ["name"],
            "$defs": {"Node": NODE, "Maybe": {"type": ["integer", "null"]}},
        },
        OPENAI,
    )
    assert item.strict
    assert not item.validate
    assert item.warnings == ()
    assert item.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "unit": {"type": ["string", "null"], "enum": ["c", "f", None]},
            "kind": {"type": ["string", "null"], "enum": ["x", None]},
            "both": {"type": ["string", "integer", "null"]},
            "already": {"type": ["string", "null"]},
            "listed": {"type": ["string", "null"], "enum": ["a", None]},
            "either": {
                "anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "null"}],
                "description": "E",
            },
            "node": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "description": "N"},
            "maybe": {"$ref": "#/$defs/Maybe"},
            "inner": {
                "type": ["object", "null"],
                "properties": {"x": {"type": ["string", "null"]}},
                "required": ["x"],
                "additionalProperties": False,
            },
        },
        "required": [
            "name", "unit", "kind", "both", "already", "listed", "either", "node", "maybe", "inner",
        ],
        "additionalProperties": False,
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "v": {"type": "integer"},
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                },
                "required": ["v", "next"],
                "additionalProperties": False,
            },
            "Maybe": {"type": ["integer", "null"]},
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "wire", "keyword"),
    [
        (
            {"type": "string", "minLength": 2},
            {"type": "string", "description": "(minLength: 2)"},
            "minLength",
        ),
        (
            {"type": "string", "format": "uri", "description": "U"},
            {"type": "string", "description": "U (format: \"uri\")"},
            "format",
        ),
        (
            {"type": "string", "pattern": "(?=a)"},
            {"type": "string", "description": "(pattern: \"(?=a)\")"},
            "pattern",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            {"type": "array", "items": {"type": "string"}, "description": "(uniqueItems: true)"},
            "uniqueItems",
        ),
    ],
)  # fmt: skip
def test_constraints_openai_does_not_take(schema: Any, wire: Any, keyword: str) -> None:
    """They move into the description, leave a warning, and the input is validated here."""
    root = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    item = prepared(root, OPENAI)
    assert item.schema is not None
    assert item.schema["properties"]["a"] == wire
    assert (item.strict, item.validate) == (True, True)
    assert told(item) == [
        ("schema_keyword_dropped", f"/properties/a/{keyword}: went into the description")
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "date-time", "pattern": r"^\d+$"},
        {"type": "number", "minimum": 1, "exclusiveMaximum": 3, "multipleOf": 0.5},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 4},
        {"type": "integer", "format": "int32"},
        {"type": "string", "const": "x"},
    ],
)
def test_constraints_openai_takes(schema: Any) -> None:
    """They go out untouched."""
    assert prepared_property(schema, OPENAI) == schema


def test_enum_values_of_another_type() -> None:
    """Values that the type rules out do not go out."""
    schema = {"type": "integer", "enum": ["a", 1, 2.0, 2.5, True, None]}
    assert prepared_property(schema, OPENAI) == {"type": "integer", "enum": [1, 2.0]}
    assert prepared_property({"type": "integer", "enum": ["a"]}, OPENAI) == {
        "type": "integer",
        "enum": ["a"],
    }


def test_annotations() -> None:
    """Titles and the like vanish quietly, defaults and examples move into the description."""
    schema = {
        "type": "string", "title": "T", "deprecated": True, "x-order": 3, "$comment": "c",
        "default": "d", "examples": ["e"], "nullable": True, "description": "D",
    }  # fmt: skip
    wire = {"type": "string", "description": 'D (default: "d"; examples: ["e"])'}
    assert prepared_property(schema, OPENAI) == wire
    long = {"type": "string", "default": "x" * 300, "description": "D"}
    assert prepared_property(long, OPENAI) == {"type": "string", "description": "D"}
    assert prepared_property({"type": ["string", "null"], "default": None}, OPENAI) == {
        "type": ["string", "null"]
    }


def test_one_of() -> None:
    """`oneOf` goes out as `anyOf`: a loss only where two branches can both fit."""
    apart = [
        [{"type": "string"}, {"type": "integer"}],
        [{"const": 1}, {"const": 2}],
        [{"enum": ["a", "b"]}, {"type": "string", "enum": ["c"]}],
        [{"type": "string"}, {"enum": [1]}],
        [
            {
                "type": "object",
                "properties": {"k": {"const": name}},
                "required": ["k"],
                "additionalProperties": False,
            }
            for name in "ab"
        ],
    ]
    for branches in apart:
        schema = {"type": "object", "properties": {"a": {"oneOf": branches}}, "required": ["a"]}
        item = prepared(schema, OPENAI)
        assert (item.strict, item.validate, item.warnings) == (True, False, ()), branches
        assert "anyOf" in item.schema["properties"]["a"]  # type: ignore[index]
    for branches in (
        [{"type": "integer"}, {"type": "number"}],
        [{"type": "string"}, {"type": "string", "minLength": 0, "format": "date"}],
        [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
    ):
        schema = {
            "type": "object",
            "properties": {"a": {"oneOf": branches}},
            "$defs": {
                name: {
                    "type": "object",
                    "properties": {"x": {"type": "string"}},
                    "required": ["x"],
                }
                for name in "AB"
            },
        }
        item = prepared(schema, OPENAI)
        assert item.validate, branches
        assert ("schema_loosened", "/properties/a/oneOf: went out as anyOf") in told(item)


def test_one_of_with_true() -> None:
    """`true` fits with everything."""
    schema = {"type": "object", "properties": {"a": {"oneOf": [True, {"type": "null"}]}}}
    item = prepared(schema, LOCAL, strict=False)
    assert item.schema is not None
    assert item.schema["properties"]["a"] == {"anyOf": [{}, {"type": "null"}]}
    assert told(item) == [("schema_loosened", "/properties/a/oneOf: went out as anyOf")]


def test_discriminated_references_are_disjoint() -> None:
    """Branches behind references count, too."""
    kinds = {
        name: {"type": "object", "properties": {"k": {"const": name}}, "required": ["k"]}
        for name in ("cat", "dog")
    }
    schema = {
        "type": "object",
        "properties": {"pet": {"oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]}},
        "required": ["pet"],
        "$defs": kinds,
    }
    item = prepared(schema, OPENAI)
    assert item.warnings == ()
    assert item.schema is not None
    assert item.schema["properties"]["pet"] == {
        "anyOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]
    }


def test_tuples() -> None:
    """Positions, in both spellings, become items of any of the types."""
    for schema in (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
    ):
        assert prepared_property(schema, OPENAI) == {
            "type": "array",
            "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        }
    alike = {"type": "array", "prefixItems": [{"type": "string"}] * 2, "items": False}
    assert prepared_property(alike, OPENAI) == {"type": "array", "items": {"type": "string"}}
    more = {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}
    assert prepared_property(more, OPENAI) == {
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    assert prepared_property({**alike, "prefixItems": [{"type": "string"}]}, MISTRAL) == {
        "type": "array",
        "prefixItems": [{"type": "string"}],
        "items": False,
    }


@pytest.mark.parametrize(
    ("schema", "wire"),
    [
        (
            {"allOf": [{"$ref": "#/$defs/A"}], "description": "D"},
            {"anyOf": [{"$ref": "#/$defs/A"}], "description": "D"},
        ),
        ({"allOf": [{"$ref": "#/$defs/A"}]}, {"$ref": "#/$defs/A"}),
        ({"$ref": "#/$defs/A", "maxLength": 5, "minimum": 2}, {"type": "string", "minimum": 2}),
        (
            {"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3, "maximum": 5}, True]},
            {"type": "integer", "minimum": 3, "maximum": 5},
        ),
        (
            {"allOf": [{"type": "number"}, {"type": ["integer", "string"]}]},
            {"type": "integer"},
        ),
        (
            {"type": ["string", "null"], "allOf": [{"enum": ["a", "b", 1]}, {"enum": ["b", "a"]}]},
            {"type": "string", "enum": ["a", "b"]},
        ),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"x": {"type": "number"}, "y": True}},
                    {"properties": {"x": {"minimum": 1}, "y": {"type": "null"}}, "required": ["x", "y"]},
                    {"allOf": [{"required": ["x"]}, {"$ref": "#/$defs/O"}]},
                ]
            },
            {
                "type": "object",
                "properties": {
                    "x": {"type": "number", "minimum": 1},
                    "y": {"type": "null"},
                    "z": {"$ref": "#/$defs/A"},
                },
                "required": ["x", "y", "z"],
                "additionalProperties": False,
            },
        ),
    ],
)  # fmt: skip
def test_all_of(schema: Any, wire: Any) -> None:
    """What must all hold is merged into one schema."""
    root = {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "$defs": {
            "A": {"type": "string"},
            "O": {"type": "object", "properties": {"z": {"$ref": "#/$defs/A"}}, "required": ["z"]},
        },
    }
    item = prepared(root, OPENAI)
    assert item.strict, item.warnings
    assert item.schema is not None
    out = item.schema["properties"]["a"]
    out.pop("description", None) if "maxLength" in schema else None
    assert out == wire


def test_all_of_lists_by_position() -> None:
    """The items of one hold at the positions of the other, and behind them; or nothing does."""
    listed = {"type": "array", "prefixItems": [{"type": "integer"}, {"minimum": 1}]}
    numbers = {"type": "array", "items": {"type": "number"}}
    both = {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "number", "minimum": 1}],
    }
    assert prepared_property({"allOf": [numbers, listed]}, MISTRAL) == {
        **both,
        "items": {"type": "number"},
    }
    fewer = {"type": "array", "prefixItems": [{"type": "number"}], "maxItems": 2}
    assert prepared_property({"allOf": [listed, fewer]}, MISTRAL) == {
        **listed,
        "items": {},
        "maxItems": 2,
    }
    texts = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"a": {"allOf": [texts, listed]}}}
    assert not prepared(schema, MISTRAL, strict=True).strict


def test_union_with_something_beside() -> None:
    """What stands beside a union goes into each branch, so that branches can be closed."""
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "anyOf": [
            {"properties": {"x": {"type": "integer"}}, "required": ["x"]},
            {"$ref": "#/$defs/Y"},
        ],
        "description": "D",
    }
    root = {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "$defs": {"Y": {"properties": {"y": {"type": "integer"}}, "required": ["y"]}},
    }
    item = prepared(root, OPENAI)
    assert item.schema is not None
    assert item.schema["properties"]["a"] == {
        "anyOf": [
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "id": {"type": "string"}},
                "required": ["x", "id"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"y": {"type": "integer"}, "id": {"type": "string"}},
                "required": ["y", "id"],
                "additionalProperties": False,
            },
        ],
        "description": "D",
    }


def test_merging_what_is_the_same_and_what_is_bare() -> None:
    """Equal keywords are no contradiction; `true` adds nothing and `false` takes nothing."""
    one: Any = {"pattern": "x", "items": True, "properties": {"a": True, "b": False, "c": REF}}
    other: Any = {
        "pattern": "x",
        "items": {"type": "null"},
        "properties": {"a": {"type": "null"}, "b": {}, "c": REF},
    }
    assert merge(one, other) == {
        "pattern": "x",
        "items": {"type": "null"},
        "properties": {"a": {"type": "null"}, "b": False, "c": REF},
    }
    assert merge(other, one) == merge(one, other)
    assert merge({"properties": {"c": REF}}, {"properties": {"c": {"type": "null"}}}) == {
        "properties": {"c": {"allOf": [REF, {"type": "null"}]}}
    }
    assert merge({"uniqueItems": False}, {"uniqueItems": True}) == {"uniqueItems": True}
    with pytest.raises(Conflict):
        merge(one, {"pattern": "y"})


def test_all_of_that_leads_back() -> None:
    """A member that leads back to where it stands cannot be merged, and nothing hangs."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {
                "type": "object",
                "properties": {
                    "x": {"allOf": [{"$ref": "#/$defs/A"}, {"description": "again"}, True]}
                },
                "required": ["x"],
            }
        },
    }
    assert not prepared(schema, OPENAI).strict
    twice = {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}
    root = {**schema, "properties": {"a": twice}}
    for wire, rules in WIRES.items():
        item = prepared(root, rules)
        assert len(repr(item.schema)) < 5000, wire
    assert prepared({**schema, "allOf": [True, {"required": ["a"]}]}, PLAIN, strict=False).schema


def test_all_of_that_nothing_fits() -> None:
    """At the root it cannot stay, so it is left out, with a warning."""
    root = {"type": "object", "properties": {"a": {}}, "allOf": [False]}
    item = prepared(root, PLAIN, strict=False)
    assert item.schema == {"type": "object", "properties": {"a": {}}}
    assert told(item) == [("schema_loosened", "/allOf: a union at the root became one object")]


def test_reference_and_all_of() -> None:
    """Both beside each other hold together."""
    schema = {"$ref": "#/$defs/A", "allOf": [{"$ref": "#/$defs/B"}], "description": "D"}
    root = {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "$defs": {"A": {"$ref": "#/$defs/S"}, "S": {"type": "string"}, "B": {"enum": ["x", 1]}},
    }
    for rules in (OPENAI, ANTHROPIC):
        item = prepared(root, rules)
        assert item.schema is not None, item.warnings
        assert item.schema["properties"]["a"] == {
            "type": "string",
            "enum": ["x"],
            "description": "D",
        }


REF = {"$ref": "#/$defs/A"}


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ({"anyOf": [{"required": ["a"]}]}, "the root: a union at the root"),
        (
            {
                "properties": {
                    "u": {
                        "type": "object",
                        "properties": {"c": REF},
                        "anyOf": [{"properties": {"c": {"minLength": 1, "type": "string"}}}],
                    }
                },
                "$defs": {"A": {"type": "string"}},
            },
            "/properties/u/anyOf/0/properties/c/allOf: its members cannot be merged",
        ),
    ],
)
def test_unions_that_cannot_be_strict(root: Any, reason: str) -> None:
    """A union at the root, and one whose branches meet in a reference."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, **root}
    item = prepared(schema, BEDROCK)
    assert (item.strict, item.validate) == (False, True)
    assert reason in told(item)[0][1]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object"}, "/properties/a: an object whose properties are not listed"),
        ({"type": "object", "properties": {}}, "/properties/a: an object whose"),
        (
            {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": True},
            "/properties/a: an object that may hold any further property",
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "any further property"),
        (
            {"type": "object", "properties": {"x": {"type": "null"}}, "required": ["y"]},
            "'y' is required and not described",
        ),
        ({"type": "object", "enum": [{}]}, "objects listed by value"),
        ({}, "/properties/a: a value of no stated type"),
        (True, "/properties/a: a value of no stated type"),
        (False, "/properties/a: a schema that nothing fits"),
        ({"description": "anything"}, "a value of no stated type"),
        ({"type": "array"}, "/properties/a: an array whose items"),
        ({"type": "array", "items": {}}, "/properties/a/items: a value of no stated type"),
        ({"type": "array", "items": True}, "/properties/a: an array whose items"),
        ({"type": "string", "not": {"enum": ["x"]}}, "/properties/a/not: a keyword"),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, "/properties/a/if: a keyword"),
        ({"type": "object", "patternProperties": {"^x": {}}}, "/properties/a/patternProperties"),
        (
            {"allOf": [{"type": "string"}, {"type": "integer"}]},
            "/properties/a/allOf: its members cannot be merged",
        ),
        ({"allOf": [{"type": "string"}, False]}, "/properties/a/allOf"),
        ({"allOf": [{"enum": [1]}, {"enum": [2]}]}, "/properties/a/allOf"),
        (
            {
                "allOf": [
                    {"properties": {"x": {"type": "string"}}, "additionalProperties": False},
                    {"properties": {"y": {"type": "string"}}},
                ]
            },
            "/properties/a/allOf",
        ),
        ({"$ref": "#/$defs/S", "type": "integer"}, "/properties/a/$ref: what stands beside it"),
        (
            {"type": "string", "anyOf": [{"type": "integer"}]},
            "/properties/a/anyOf: a branch contradicts",
        ),
        (
            {"type": "object", "properties": {"x": {}}, "anyOf": [{"$ref": "#/$defs/U"}]},
            "/properties/a/anyOf: a branch contradicts",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_strict(schema: Any, reason: str) -> None:
    """It goes out plain, with the reason, and is validated here; never as an emptied object."""
    root = {
        "type": "object",
        "properties": {"a": schema},
        "$defs": {
            "S": {"type": "string"},
            "U": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        },
    }
    item = prepared(root, OPENAI)
    assert (item.strict, item.validate) == (False, True)
    assert item.schema == prepared(root, PLAIN, strict=False).schema
    ((code, detail),) = told(item)
    assert code == "strict_unavailable"
    assert detail.startswith("not strict, but validated here: ")
    assert reason in detail


def test_open_root() -> None:
    """An open map at the root cannot be strict either."""
    item = prepared({"type": "object", "additionalProperties": {"type": "string"}}, OPENAI)
    assert not item.strict
    assert told(item)[0][1].endswith("the root: an object that may hold any further property")


def test_references() -> None:
    """Every pointer becomes one to `$defs`; names are cleaned; what nobody needs is left out."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/List[int]"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#here"},
            "d": {"$ref": "#/$defs/List[int]"},
            "e": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["a", "b", "c", "d", "e"],
        "definitions": {"List[int]": {"type": "integer", "$anchor": "here"}},
        "$defs": {"List[int]": {"type": "string"}, "Unused": {"type": "string"}},
    }
    item = prepared(schema, OPENAI)
    assert item.schema is not None
    assert item.schema["properties"] == {
        "a": {"$ref": "#/$defs/List_int_"},
        "b": {"$ref": "#/$defs/a"},
        "c": {"$ref": "#/$defs/here"},
        "d": {"$ref": "#/$defs/List_int__2"},
        "e": {"type": "array", "items": {"$ref": "#"}},
    }
    assert item.schema["$defs"] == {
        "List_int_": {"type": "integer"},
        "a": {"$ref": "#/$defs/List_int_"},
        "here": {"type": "integer"},
        "List_int__2": {"type": "string"},
    }


def test_definitions_that_are_bare() -> None:
    """A definition may be `true` or `false`."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/T"}, "b": {"$ref": "#/$defs/F"}},
        "$defs": {"T": True, "F": False},
    }
    assert not prepared(schema, OPENAI).strict
    assert prepared(schema, GEMINI).schema == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/T"}, "b": {"$ref": "#/$defs/F"}},
        "$defs": {"T": {}, "F": {"description": '(not: {})'}},
    }  # fmt: skip


# ---------------------------------------------------------------- strict, elsewhere


def test_anthropic() -> None:
    """Optional stays optional; numbers and patterns move into the description; refs are kept."""
    item = prepared(
        {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1},
                "s": {"type": "string", "pattern": "^a", "format": "uri"},
                "l": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "m": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                "r": {"$ref": "#/$defs/R"},
                "q": {"$ref": "#/$defs/R", "description": "Q"},
            },
            "$defs": {"R": {"type": "object", "properties": {"x": {"type": "string"}}}},
        },
        ANTHROPIC,
    )
    inner = {
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "additionalProperties": False,
    }
    assert item.schema == {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "description": "(minimum: 1)"},
            "s": {"type": "string", "format": "uri", "description": '(pattern: "^a")'},
            "l": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "m": {
                "type": "array",
                "items": {"type": "string"},
                "description": "(minItems: 2)",
            },
            "r": {"$ref": "#/$defs/R"},
            "q": {"description": "Q", **inner},
        },
        "additionalProperties": False,
        "$defs": {"R": inner},
    }
    assert (item.strict, item.validate, item.restore) == (True, True, None)


@pytest.mark.parametrize("wire", ["anthropic", "bedrock", "deepseek"])
def test_recursion_that_cannot_be_strict(wire: str) -> None:
    """Recursion goes out plain where strict modes know none."""
    for schema in (LIST, {"type": "object", "properties": {"me": {"$ref": "#"}}}):
        item = prepared(schema, WIRES[wire])
        assert (item.strict, item.validate) == (False, True)
        assert item.schema == schema
        assert "is recursive" in item.warnings[0].detail


def test_bedrock_takes_simple_patterns() -> None:
    """Patterns without looking around or back go out, others do not."""
    simple = {"type": "string", "pattern": r"^a\\1(?:b)+$"}
    assert prepared_property(simple, BEDROCK) == simple
    for pattern in (r"(a)\1", "(?=a)", "(?!a)", "(?<=a)", r"\bx"):
        assert prepared_property({"type": "string", "pattern": pattern}, BEDROCK).keys() == {
            "type",
            "description",
        }


def test_deepseek() -> None:
    """References are written out; objects and arrays share no list of types with null."""
    item = prepared(
        {
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/R", "description": "A"},
                "b": {"type": ["array", "null"], "items": {"const": 1}},
                "c": {"type": "string", "format": "date"},
            },
            "$defs": {"R": {"type": "object", "properties": {"x": {"type": "string"}}}},
        },
        DEEPSEEK,
    )
    assert item.schema == {
        "type": "object",
        "properties": {
            "a": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"x": {"type": ["string", "null"]}},
                        "required": ["x"],
                        "additionalProperties": False,
                    },
                    {"type": "null"},
                ],
                "description": "A",
            },
            "b": {
                "anyOf": [
                    {"type": "array", "items": {"type": "integer", "enum": [1]}},
                    {"type": "null"},
                ]
            },
            "c": {"type": ["string", "null"], "description": '(format: "date")'},
        },
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }
    bare = {"type": "object", "properties": {}, "additionalProperties": False}
    root = {"type": "object", "properties": {"a": bare}}
    assert not prepared(root, DEEPSEEK).strict
    assert prepared(root, OPENAI).strict


def test_deepseek_takes_all_or_none() -> None:
    """One function that cannot be strict takes strictness from all."""
    functions = normalize_functions(
        [
            {"name": "good", "parameters": {"type": "object", "properties": {"a": {"type": "null"}}}},
            {"name": "open", "parameters": {"type": "object", "additionalProperties": True}},
        ]
    )  # fmt: skip
    items = prepare_functions(functions, DEEPSEEK, strict=True).items
    assert [(item.strict, item.validate) for item in items] == [(False, True), (False, True)]
    assert items[0].warnings[0].detail.endswith("all functions strict or none, and 'open' is not.")


def test_mistral_closes_and_no_more() -> None:
    """Objects are closed, all else stays."""
    schema = {"type": "string", "minLength": 2, "default": "x", "title": "T"}
    assert prepared_property(schema, MISTRAL) == schema
    assert prepared_property({"description": "any"}, MISTRAL) == {"description": "any"}
    item = prepared({"type": "object", "properties": {"a": {"const": 1}}}, MISTRAL)
    assert item.schema == {
        "type": "object",
        "properties": {"a": {"const": 1}},
        "additionalProperties": False,
    }
    assert item.restore is None
    assert prepared_property(True, MISTRAL) == {}


def test_no_strict_mode() -> None:
    """Where the wire has none: plain, validated here, and said once."""
    functions = normalize_functions([{"name": "f", "parameters": LIST}, {"name": "g"}])
    prepared_ = prepare_functions(functions, PLAIN, strict=True)
    assert prepared_.warnings == (
        ResultWarning(
            code="strict_emulated",
            detail="This wire has no strict mode: the input of functions is validated here.",
        ),
    )
    assert [(item.strict, item.validate) for item in prepared_.items] == [(False, True)] * 2
    assert prepare_functions(functions, PLAIN, strict=False).warnings == ()
    assert prepare_functions(normalize_functions([]), PLAIN, strict=True).warnings == ()


# ---------------------------------------------------------------- Gemini


def test_gemini_json_schema() -> None:
    """Nothing is closed; only what the server refuses is rewritten."""
    item = prepared(
        {
            "type": "object",
            "$schema": "x",
            "title": "T",
            "properties": {
                "c": {"const": "x"},
                "d": {"type": "string", "format": "date", "minLength": 1},
                "e": {"type": "string", "format": "email"},
                "m": {"type": "object", "additionalProperties": {"type": "integer"}},
                "r": {"$ref": "#/definitions/R", "description": "R"},
                "t": {"type": "array", "prefixItems": [{"type": "string"}]},
            },
            "definitions": {"R": {"type": "object", "properties": {"x": {}}}},
            "additionalProperties": False,
        },
        GEMINI,
    )
    assert item.schema == {
        "type": "object",
        "properties": {
            "c": {"type": "string", "enum": ["x"]},
            "d": {"type": "string", "format": "date", "minLength": 1},
            "e": {"type": "string", "description": '(format: "email")'},
            "m": {"type": "object", "additionalProperties": {"type": "integer"}},
            "r": {"anyOf": [{"$ref": "#/$defs/R"}], "description": "R"},
            "t": {"type": "array", "prefixItems": [{"type": "string"}], "items": {}},
        },
        "$defs": {"R": {"type": "object", "properties": {"x": {}}}},
        "additionalProperties": False,
    }
    assert (item.strict, item.validate) == (True, True)
    assert told(item) == [
        (
            "schema_keyword_unenforced",
            "/properties/d/minLength: is not enforced by the provider and is checked here",
        ),
        ("schema_keyword_dropped", "/properties/e/format: went into the description"),
    ]


def test_gemini_takes_no_empty_texts() -> None:
    """An enum goes out without them, and alone they leave none."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "enum": ["", "x", None]},
            "b": {"enum": [""]},
            "c": {"const": ""},
            "d": {"anyOf": [{"enum": ["", 1]}, {"type": "null"}]},
        },
    }
    item = prepared(schema, GEMINI)
    assert item.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "enum": ["x", None]},
            "b": {"type": "string"},
            "c": {"type": "string"},
            "d": {"anyOf": [{"enum": [1]}, {"type": "null"}]},
        },
    }
    paths = ("a", "b", "c", "d/anyOf/0")
    assert told(item) == [
        ("schema_narrowed", f"/properties/{path}/enum: the empty text was left out")
        for path in paths
    ]


def test_gemini_has_required_names_described() -> None:
    """A name that is required alone is described as whatever the schema lets it be."""
    needs = {"anyOf": [{"required": ["x"]}, {"required": ["y"]}]}
    schema = {
        "type": "object",
        "properties": {
            "o": {"type": "object", "properties": {"x": {"type": "string"}}, **needs},
            "m": {"type": "object", "additionalProperties": {"type": "integer"}, "required": ["n"]},
            "no": {"type": "object", "additionalProperties": False, "required": ["n"]},
        },
        "required": ["o", "z"],
    }
    item = prepared(schema, GEMINI)
    assert item.schema == {
        "type": "object",
        "properties": {
            "o": {
                "type": "object",
                "properties": {"x": {"type": "string"}},
                "anyOf": [
                    {"required": ["x"], "properties": {"x": {}}},
                    {"required": ["y"], "properties": {"y": {}}},
                ],
            },
            "m": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "required": ["n"],
                "properties": {"n": {"type": "integer"}},
            },
            "no": {"type": "object", "additionalProperties": False, "required": ["n"]},
            "z": {},
        },
        "required": ["o", "z"],
    }
    assert told(item) == []


def test_gemini_cuts_required_recursion_only() -> None:
    """Recursion through an optional property stays, through a required one it is cut."""
    assert prepared(LIST, GEMINI).schema == LIST
    endless = copy.deepcopy(LIST)
    endless["$defs"]["Node"]["required"] = ["v", "next"]  # type: ignore[index]
    item = prepared(endless, GEMINI)
    assert item.schema is not None
    assert item.schema["$defs"]["Node"]["properties"]["next"] == {"type": "object"}
    assert item.schema["properties"]["head"] == {"$ref": "#/$defs/Node"}
    assert told(item) == [
        (
            "schema_recursion_cut",
            "/$defs/Node/properties/next/$ref: #/$defs/Node was cut to a plain value",
        )
    ]


def test_gemini_root_recursion() -> None:
    """`#` becomes a definition of its own."""
    item = prepared({"type": "object", "properties": {"me": {"$ref": "#"}}}, GEMINI)
    inner = {"type": "object", "properties": {"me": {"$ref": "#/$defs/root"}}}
    assert item.schema == {**inner, "$defs": {"root": inner}}


@pytest.mark.parametrize(
    ("schema", "wire"),
    [
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        (
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": "D"},
            {"type": "INTEGER", "minimum": 0, "nullable": True, "description": "D"},
        ),
        (
            {"type": ["string", "integer", "null"], "description": "D", "minimum": 1, "minLength": 2},
            {
                "anyOf": [
                    {"type": "STRING", "minLength": 2, "description": "D"},
                    {"type": "INTEGER", "minimum": 1, "description": "D"},
                ],
                "nullable": True,
            },
        ),
        ({"const": "x"}, {"type": "STRING", "enum": ["x"]}),
        ({"enum": [1, 2.5]}, {"type": "STRING", "enum": ["1", "2.5"]}),
        (
            {"enum": [1, "a"]},
            {"anyOf": [{"type": "STRING", "enum": ["1"]}, {"type": "STRING", "enum": ["a"]}]},
        ),
        ({"type": "integer", "enum": [1, 2]}, {"type": "STRING", "enum": ["1", "2"]}),
        ({"type": "string", "enum": ["a", 1]}, {"type": "STRING", "enum": ["a"]}),
        ({"type": "string", "enum": [1]}, {"type": "STRING"}),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        ({"enum": ["", "a"]}, {"type": "STRING", "enum": ["a"]}),
        ({"type": "string", "enum": [""]}, {"type": "STRING"}),
        ({"enum": [None]}, {"type": "STRING", "nullable": True}),
        ({"type": "null"}, {"type": "STRING", "nullable": True}),
        ({"anyOf": [{"type": "null"}]}, {"type": "STRING", "nullable": True}),
        ({"type": "boolean", "enum": [True, False]}, {"type": "BOOLEAN"}),
        ({"type": "array", "enum": [[1]]}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"type": "array", "items": True}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {"type": "OBJECT"}),
        ({"type": "string", "items": {"type": "string"}}, {"type": "STRING"}),
        ({"items": {"type": "string"}}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({}, {"type": "STRING"}),
        (True, {"type": "STRING"}),
        (False, {"type": "STRING"}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": "string", "format": "date"}, {"type": "STRING", "description": '(format: "date")'}),
        ({"type": "integer", "format": "int64"}, {"type": "INTEGER", "format": "int64"}),
        (
            {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x", "y"]},
            {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}, "required": ["x"]},
        ),
        (
            {"type": "string", "anyOf": [{"minLength": 2}, {"pattern": "x"}]},
            {"anyOf": [{"type": "STRING", "minLength": 2}, {"type": "STRING", "pattern": "x"}]},
        ),
        (
            {"type": "string", "anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            {"anyOf": [{"type": "INTEGER"}, {"type": "BOOLEAN"}]},
        ),
        ({"type": "string", "anyOf": [{"type": "integer"}]}, {"type": "INTEGER"}),
        ({"type": "integer", "enum": ["a", 1]}, {"type": "STRING", "enum": ["1"]}),
        (
            {"allOf": [{"type": "string"}, {"type": "integer"}, {"minLength": 1}]},
            {"type": "STRING", "minLength": 1},
        ),
        ({"$ref": "#/properties/b", "type": "integer"}, {"type": "STRING", "title": "B"}),
        (
            {"type": ["string", "integer"], "enum": [True]},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        ),
        (
            {"type": ["string", "integer", "null"], "anyOf": [{"enum": ["a"]}, {"minimum": 1}]},
            {
                "anyOf": [
                    {"type": "STRING", "enum": ["a"]},
                    {"anyOf": [{"type": "STRING"}, {"type": "INTEGER", "minimum": 1}]},
                ],
                "nullable": True,
            },
        ),
    ],
)  # fmt: skip
def test_gemini_openapi(schema: Any, wire: Any) -> None:
    """One type, `nullable`, enums of strings, nothing beside an `anyOf`."""
    root = {
        "type": "object",
        "properties": {"a": schema, "b": {"type": "string", "title": "B"}},
    }
    out = prepared(root, OPENAPI, strict=False).schema
    assert out is not None
    assert out["type"] == "OBJECT"
    assert out["properties"]["a"] == wire


def test_openapi_writes_references_out() -> None:
    """A definition used twice is written out twice, a loop is cut, what stands beside is kept."""
    schema = {
        "type": "object",
        "properties": {
            "x": {"$ref": "#/$defs/Node", "description": "first"},
            "y": {"$ref": "#/$defs/Alias"},
        },
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "next": {"$ref": "#/$defs/Node", "description": "rest"},
                    "l": {"$ref": "#/$defs/L"},
                },
            },
            "Alias": {"$ref": "#/$defs/Node"},
            "L": {"type": "array", "items": {"$ref": "#/$defs/L"}},
        },
    }
    node = {
        "type": "OBJECT",
        "properties": {
            "next": {"type": "OBJECT", "description": "rest"},
            "l": {"type": "ARRAY", "items": {"type": "ARRAY", "items": {"type": "STRING"}}},
        },
    }
    item = prepared(schema, OPENAPI, strict=False)
    assert item.schema == {
        "type": "OBJECT",
        "properties": {"x": {"description": "first", **node}, "y": node},
    }
    codes = [code for code, _ in told(item)]
    assert codes.count("schema_recursion_cut") == 2


def test_billion_laughs() -> None:
    """References that double at each level end in a small schema, quickly."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for n in range(1, 40):
        both = {side: {"$ref": f"#/$defs/d{n - 1}"} for side in "lr"}
        definitions[f"d{n}"] = {"type": "object", "properties": both}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d39"}},
        "$defs": definitions,
    }
    for wire in WIRES:
        item = prepared(schema, WIRES[wire])
        assert len(repr(item.schema)) < 100_000
        assert item.schema is not None
        written_out = "$ref" not in repr(item.schema)
        cut = any(code == "schema_recursion_cut" for code, _ in told(item))
        assert cut == written_out == (wire in ("openapi", "ollama"))
    wide = {f"p{n}": {"$ref": "#/$defs/S", "description": "x"} for n in range(600)}
    root = {"type": "object", "properties": wide, "$defs": {"S": {"type": "string"}}}
    assert not prepared(root, ANTHROPIC).strict


# ---------------------------------------------------------------- Ollama


def test_ollama() -> None:
    """What its server would drop in silence is told in the description instead."""
    item = prepared(
        {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1, "default": 2, "description": "N"},
                "c": {"const": "x"},
                "r": {"$ref": "#/$defs/R"},
                "m": {"type": "object", "additionalProperties": {"type": "integer"}},
                "o": {"oneOf": [{"type": "string"}, {"type": "null"}]},
                "p": {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
                "t": True,
            },
            "required": ["n"],
            "additionalProperties": False,
            "$defs": {"R": {"type": "string", "maxLength": 3}},
        },
        LOCAL,
        strict=False,
    )
    assert item.schema == {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "description": "N (minimum: 1; default: 2)"},
            "c": {"type": "string", "enum": ["x"]},
            "r": {"type": "string", "description": "(maxLength: 3)"},
            "m": {"type": "object", "description": '(additionalProperties: {"type":"integer"})'},
            "o": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "p": {
                "type": "object",
                "description": '(patternProperties: {"^x":{"type":"string"}})',
            },
            "t": {},
        },
        "required": ["n"],
    }
    assert told(item) == [
        ("schema_keyword_dropped", "/properties/n/minimum: went into the description"),
        ("schema_keyword_dropped", "/properties/m/additionalProperties: went into the description"),
        ("schema_keyword_dropped", "/properties/p/patternProperties: went into the description"),
        ("schema_keyword_dropped", "/$defs/R/maxLength: went into the description"),
    ]
    assert item.validate is False
    assert prepared({"type": "object", "properties": {"a": {}}}, LOCAL).validate is True


# ---------------------------------------------------------------- property names


def test_illegal_property_names() -> None:
    """They are renamed wherever a schema names them, and the description tells the real name."""
    schema = {
        "type": "object",
        "properties": {
            "x y": {"type": "string", "description": "D"},
            "日期": True,
            "ok": {
                "type": "object",
                "properties": {"x y": {"type": "integer"}},
                "dependentRequired": {"x y": ["x y"]},
                "dependentSchemas": {"x y": {"required": ["x y"]}},
            },
        },
        "required": ["x y", "ok"],
    }
    item = prepared(schema, ANTHROPIC, strict=False)
    assert item.schema is not None
    first, second, third = item.schema["properties"]
    assert item.schema == {
        "type": "object",
        "properties": {
            first: {"type": "string", "description": "D (named 'x y')"},
            second: True,
            "ok": {
                "type": "object",
                "properties": {first: {"type": "integer", "description": "(named 'x y')"}},
                "dependentRequired": {first: [first]},
                "dependentSchemas": {first: {"required": [first]}},
            },
        },
        "required": [first, "ok"],
    }
    assert third == "ok"
    assert item.hide is not None
    assert item.hide({"x y": 1}) == {first: 1}


def test_renaming_keeps_references() -> None:
    """A pointer through a renamed property still leads there."""
    schema = {
        "type": "object",
        "properties": {"x y": {"type": "string"}, "b": {"$ref": "#/properties/x y"}},
    }
    item = prepared(schema, ANTHROPIC, strict=False)
    assert item.schema is not None
    assert item.schema["properties"]["b"] == {"$ref": "#/$defs/x_y"}
    assert item.schema["$defs"] == {"x_y": {"type": "string"}}


# ---------------------------------------------------------------- the whole


def test_prepared_once() -> None:
    """The same functions for the same rules are prepared once, other rules another time."""
    functions = normalize_functions([{"name": "f", "parameters": LIST}])
    first = prepare_functions(functions, OPENAI, strict=True)
    assert prepare_functions(functions, WireRules(strict=OPENAI.strict), strict=True) is first
    assert prepare_functions(functions, OPENAI, strict=False) is not first
    rendered: list[str] = []

    def render(item: Any) -> Any:
        rendered.append(item.wire_name)
        return {"name": item.wire_name}

    assert bytes(first.fragment("k", render)) == b'[{"name":"f"}]'
    assert bytes(first.fragment("k", render)) == b'[{"name":"f"}]'
    assert rendered == ["f"]


def test_set_warnings_come_along() -> None:
    """What was ignored while reading is among the warnings."""
    functions = normalize_functions([{"name": "f", "cache_control": 1}])
    assert [w.code for w in prepare_functions(functions, PLAIN, strict=False).warnings] == [
        "function_key_ignored"
    ]


def test_schemas_too_deep_to_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that exhausts the stack is a typed error."""

    def endless(*_: Any, **__: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr("llm_tools.functions.preparing.rewrite", endless)
    functions = normalize_functions([{"name": "deep", "parameters": LIST}])
    with pytest.raises(ConfigurationError, match="function 'deep' is too deeply nested"):
        prepare_functions(functions, OPENAPI, strict=True)


@pytest.mark.parametrize("wire", WIRES)
def test_the_deepest_legal_schema(wire: str) -> None:
    """Nesting up to the limit is rewritten everywhere."""
    schema: Any = {"type": "string"}
    for _ in range(30):
        schema = {"type": "array", "items": {"type": "object", "properties": {"a": schema}}}
    root = {"type": "object", "properties": {"a": schema}}
    assert prepared(root, WIRES[wire]).schema is not None
