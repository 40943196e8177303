"""A model's input in the caller's terms again, and the caller's in the model's."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from functions.wires import ANTHROPIC, DEEPSEEK, OPENAI, OPENAPI, PLAIN, prepared
from hypothesis import given, strategies as st

from llm_tools.functions.rewriting.restoring import Way, hide, restore

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b", "x y", "kids"]) | st.text(max_size=2), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


def restored(schema: Any, value: Any) -> Any:
    """What OpenAI's answer becomes; the answer itself stays as it was."""
    item = prepared(schema, OPENAI)
    assert item.strict, item.warnings
    before = copy.deepcopy(value)
    out = item.restore(value) if item.restore else value
    assert value == before
    return out


def test_invented_nulls_disappear() -> None:
    """At any depth, through lists, references and unions; what the caller allows stays."""
    schema = {
        "type": "object",
        "properties": {
            "must": {"type": ["string", "null"]},
            "may": {"type": ["string", "null"]},
            "opt": {"type": "string"},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            "either": {"anyOf": [{"$ref": "#/$defs/Row"}, {"type": "string"}]},
            "wide": {"oneOf": [{"$ref": "#/$defs/Row"}, {"type": "null"}]},
        },
        "required": ["must"],
        "$defs": {
            "Row": {
                "type": "object",
                "properties": {
                    "x": {"type": "integer"},
                    "n": {"$ref": "#/$defs/MaybeText"},
                    "kid": {"$ref": "#/$defs/Row"},
                },
                "required": ["x"],
            },
            "MaybeText": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }
    row = {"x": 1, "n": None, "kid": {"x": 2, "n": "t", "kid": None}}
    clean = {"x": 1, "n": None, "kid": {"x": 2, "n": "t"}}
    answer = {
        "must": None,
        "may": None,
        "opt": None,
        "rows": [row, row],
        "either": row,
        "wide": row,
    }
    assert restored(schema, answer) == {
        "must": None,
        "may": None,
        "rows": [clean, clean],
        "either": clean,
        "wide": clean,
    }
    absent = {"must": "m", "may": "", "opt": None, "rows": None, "either": None, "wide": None}
    assert restored(schema, absent) == {"must": "m", "may": "", "wide": None}


def test_the_branch_that_was_meant() -> None:
    """Alternatives are told apart by their keys and by what fits."""
    schema = {
        "type": "object",
        "properties": {
            "shape": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}},
                        "required": ["kind"],
                    },
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "b"}, "n": {"type": ["integer", "null"]}},
                        "required": ["kind"],
                    },
                    {
                        "type": "object",
                        "properties": {"m": {"type": "integer"}},
                    },
                ]
            }
        },
        "required": ["shape"],
    }
    assert restored(schema, {"shape": {"kind": "a", "n": None}}) == {"shape": {"kind": "a"}}
    keeps = {"shape": {"kind": "b", "n": None}}
    assert restored(schema, keeps) == keeps
    assert restored(schema, {"shape": {"m": None}}) == {"shape": {}}
    assert restored(schema, {"shape": "odd"}) == {"shape": "odd"}


def test_merged_members() -> None:
    """`allOf` on the caller's side is followed member by member."""
    schema = {
        "type": "object",
        "properties": {
            "a": {
                "allOf": [
                    {"type": "object", "properties": {"x": {"type": "integer"}}},
                    {"$ref": "#/$defs/Y"},
                ]
            }
        },
        "$defs": {"Y": {"type": "object", "properties": {"y": {"type": "integer"}}}},
    }
    assert restored(schema, {"a": {"x": None, "y": None}}) == {"a": {}}
    assert restored(schema, {"a": None}) == {}


def test_maps_and_tuples_are_followed() -> None:
    """Values of open maps, and items by their position."""
    way = Way(
        {
            "additionalProperties": {"properties": {"a": {"type": "string"}}},
            "properties": {
                "t": {"prefixItems": [{"properties": {"a": {"type": "string"}}}], "items": False},
                "l": {"items": [{"properties": {"a": {"type": "string"}}}], "additionalItems": {}},
            },
        },
        {},
        nulls=True,
        texts=False,
    )
    value = {"k": {"a": None}, "t": [{"a": None}, {"a": None}], "l": [{"a": None}, {"a": None}]}
    assert restore(way, value) == {"k": {}, "t": [{}, {"a": None}], "l": [{}, {"a": None}]}


def test_branches_that_take_anything() -> None:
    """`true` among the alternatives takes what the others do not."""
    closed = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    way = Way({"anyOf": [True, closed]}, {}, nulls=True, texts=False)
    assert restore(way, {"a": None}) == {}
    assert restore(way, {"b": None}) == {"b": None}


def test_alternatives_that_require() -> None:
    """A branch whose required keys are missing is not meant."""
    schema = {
        "anyOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["b"]},
            {"properties": {"a": {"type": ["string", "null"]}, "c": {"type": "null"}}},
        ]
    }
    way = Way(schema, {}, nulls=True, texts=False)
    assert restore(way, {"a": None}) == {"a": None}
    assert restore(way, {"a": None, "b": None}) == {"b": None}


def test_nothing_to_restore() -> None:
    """Where nothing was invented there is no way back, and an unchanged value is not copied."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert prepared(schema, OPENAI).restore is None
    assert prepared(schema, PLAIN).restore is None
    assert prepared({"type": "object", "properties": {"a": {}}}, ANTHROPIC).restore is None
    item = prepared({"type": "object", "properties": {"a": {"type": "integer"}}}, OPENAI)
    assert item.restore is not None
    value = {"a": 1}
    assert item.restore(value) is value
    assert item.hide is None


def test_renamed_properties() -> None:
    """Names come back, also below, also where only `required` mentions them."""
    schema = {
        "type": "object",
        "properties": {
            "x y": {"type": "object", "properties": {"日": {"type": "integer"}}},
            "l": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/R"}, {"type": "string"}]}},
        },
        "required": ["x y", "z z"],
        "$defs": {
            "R": {"type": "object", "properties": {"x y": {"type": "integer"}}, "required": ["x y"]}
        },
    }
    item = prepared(schema, ANTHROPIC, strict=False)
    assert item.restore is not None
    assert item.hide is not None
    own = {"x y": {"日": 1}, "l": [{"x y": 2}, "s"], "z z": None, "free": {"x y": 3}}
    wire = item.hide(own)
    assert "x y" not in wire
    assert "x y" not in wire["l"][0]
    assert wire["free"] == {"x y": 3}
    assert item.restore(wire) == own
    assert item.restore(own) == own


def test_number_enums_come_back() -> None:
    """Numbers sent as texts are numbers again; texts that are texts stay."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "enum": [1, 2]},
            "f": {"enum": [1.5, 2]},
            "c": {"const": 3},
            "m": {"enum": ["1", 1, True]},
            "l": {"type": "array", "items": {"anyOf": [{"enum": [7]}, {"type": "boolean"}]}},
            "s": {"type": "string"},
        },
    }
    item = prepared(schema, OPENAPI, strict=False)
    assert item.restore is not None
    assert item.hide is not None
    wire = {"n": "2", "f": "1.5", "c": "3", "m": "1", "l": ["7", True], "s": "2"}
    own = {"n": 2, "f": 1.5, "c": 3, "m": "1", "l": [7, True], "s": "2"}
    assert item.restore(wire) == own
    assert item.hide(own) == wire
    odd = {"n": "9", "f": None, "c": True, "m": True}
    assert item.restore(odd) == odd
    assert item.hide({"n": 9}) == {"n": 9}


def test_deepseek_nulls() -> None:
    """Nulls invented through `anyOf` vanish as well."""
    schema = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "string"}}, "s": {"type": "null"}},
    }
    item = prepared(schema, DEEPSEEK)
    assert item.restore is not None
    assert item.restore({"l": None, "s": None}) == {"s": None}


RECURSIVE: Any = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "x y": {"enum": [1, 2, None]},
        "kids": {"type": "array", "items": {"$ref": "#"}},
        "b": {"anyOf": [{"$ref": "#"}, {"$ref": "#/properties/kids"}, {"$ref": "#/$defs/Loop"}]},
    },
    "additionalProperties": {"$ref": "#"},
    "$defs": {"Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"allOf": [{"$ref": "#/$defs/Loop"}]}]}},
}


@given(JSON)
def test_any_json(value: Any) -> None:
    """Whatever comes in, something comes out, and the value is not touched."""
    way = Way(RECURSIVE, {"x_y": "x y"}, nulls=True, texts=True)
    before = copy.deepcopy(value)
    restore(way, value)
    hide(way, value)
    assert value == before


def test_too_deep() -> None:
    """A value too deep to follow comes back as it was."""
    value: Any = {"kids": []}
    for _ in range(3000):
        value = {"kids": [value]}
    way = Way(RECURSIVE, {}, nulls=True, texts=False)
    assert restore(way, value) is value


@pytest.mark.parametrize("levels", [20, 30])
def test_unions_in_unions_stay_cheap(levels: int) -> None:
    """The work does not double with each level."""
    value: Any = {"a": None}
    for _ in range(levels):
        value = {"b": value}
    way = Way(RECURSIVE, {}, nulls=True, texts=False)
    out: Any = restore(way, value)
    for _ in range(levels):
        out = out["b"]
    assert out == {}
