"""Schemas for the decoder: an end to everything, and nothing of the caller's changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from llm_tools.integrations.local.bounding import bounded, is_empty

TEXT = {"type": "string", "maxLength": 120}
SCALAR = {"anyOf": [TEXT, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, TEXT),
        ({"type": "string", "maxLength": 9000}, TEXT),
        ({"type": "string", "maxLength": 7}, {"type": "string", "maxLength": 7}),
        (
            {"type": "string", "minLength": 200},
            {"type": "string", "minLength": 200, "maxLength": 200},
        ),
        ({"type": "string", "format": "email"}, {**TEXT, "format": "email"}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "pattern": "^a$"}, {"type": "string", "pattern": "^a$"}),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"], "maxLength": 120}),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 1}),
        ({"const": {"type": "string"}}, {"const": {"type": "string"}}),
        ({"type": "array"}, {"type": "array", "items": SCALAR, "maxItems": 5}),
        (
            {"items": {"type": "string"}, "minItems": 9},
            {"items": TEXT, "minItems": 9, "maxItems": 9},
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {}},
            {"type": "array", "prefixItems": [TEXT]},
        ),
        (
            {"type": "array", "items": [{"type": "string"}]},
            {"type": "array", "items": [TEXT]},
        ),
        ({"type": "object"}, {"type": "object", "additionalProperties": SCALAR}),
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": TEXT},
        ),
        (
            {"properties": {"enum": {"type": "string"}, "x": True}, "additionalProperties": True},
            {"properties": {"enum": TEXT, "x": SCALAR}, "additionalProperties": False},
        ),
        ({"anyOf": [{"type": "string"}, {}]}, {"anyOf": [TEXT, SCALAR]}),
        (True, SCALAR),
        ({"description": "anything"}, SCALAR),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
            {"$ref": "#/$defs/a", "$defs": {"a": TEXT}},
        ),
        ({"title": "x", "definitions": {"a": {}}}, {**SCALAR, "definitions": {"a": SCALAR}}),
        ({"type": 7, "anyOf": 8}, {"type": 7, "anyOf": 8}),
        ("nonsense", "nonsense"),
    ],
)
def test_bounded(schema: Any, expected: Any) -> None:
    """What has no limit gets one, what has a tighter one keeps it."""
    before = copy.deepcopy(schema)
    assert bounded(schema) == expected
    assert schema == before


@pytest.mark.parametrize(
    ("schema", "empty"),
    [
        ({}, True),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"type": "object", "title": "T", "additionalProperties": True}, True),
        ({"type": "object", "properties": {"a": {}}}, False),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"$ref": "#/$defs/a"}, False),
        ({"type": "object", "minProperties": 1}, False),
        ({"type": "object", "required": ["a"]}, False),
    ],
)
def test_is_empty(schema: Any, empty: bool) -> None:
    """Only parameters that leave nothing to say are filled without asking."""
    assert is_empty(schema) is empty
