"""A quick yes is always the whole validator's yes, and comes wherever it can."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from typing import Any

import jsonschema
import pytest
from functions.schema_strategies import ANY_SCHEMA, Misfit, parameters, values
from hypothesis import given, reject, settings, strategies as st

from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.schemas.accepting import accepter
from llm_tools.functions.validating import validate

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(-2, 2)
    | st.text("abc1 é", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "title", "items", "c"]), inner, max_size=3)
    ),
    max_leaves=8,
)
DIALECTS = [
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


def fits(schema: Any, value: Any) -> bool:
    """By the whole validator, of the draft the schema names."""
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return bool(kind(schema).is_valid(value))


@settings(max_examples=600, deadline=None)
@given(ANY_SCHEMA, VALUES, st.sampled_from([None, *DIALECTS]))
def test_a_yes_is_never_wrong(schema: Any, value: Any, dialect: str | None) -> None:
    """Any schema, any value."""
    if dialect is not None:
        schema = {"$schema": dialect, **schema}
    if "$ref" not in repr(schema) and accepter(schema)(value):
        assert fits(schema, value)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_yes_for_what_a_model_gives_is_never_wrong(data: st.DataObject) -> None:
    """Values that were made for the schema, and others beside them."""
    schema = data.draw(parameters())
    try:
        normalize_functions([{"name": "f", "parameters": schema}])
        value = data.draw(values(schema, schema))
    except (ConfigurationError, Misfit):  # such as a schema that leads back to itself alone
        reject()
    if accepter(schema)(value):
        assert fits(schema, value)


ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date", "minLength": 1, "maxLength": 10},
        "lines": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "article": {"type": "string"},
                    "amount": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
                    "price": {"type": "number", "exclusiveMinimum": 0, "maximum": 5.5},
                },
                "required": ["article", "amount"],
                "additionalProperties": False,
            },
        },
        "kind": {"enum": ["new", "old", None, 1]},
        "fixed": {"const": True},
        "note": {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "null"}]},
        "both": {"allOf": [{"minProperties": 1}, {"maxProperties": 1}]},
        "tag": {"type": ["string", "null"]},
        "free": True,
        "code": {"type": "string", "pattern": "^[a-z]+$"},
    },
    "required": ["day"],
    "additionalProperties": {"type": "integer"},
}
LINE = {"article": "tea", "amount": 2, "price": 1.5}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"lines": [LINE, LINE]},
        {"lines": [{"article": "tea", "amount": 8}]},
        {"kind": None, "fixed": True, "tag": None, "free": [{}]},
        {"kind": 1, "note": None, "both": {"x": 1}, "tag": ""},
        {"whatever": 3},
    ],
)
def test_what_is_simple_is_accepted_at_once(more: Any) -> None:
    """Of a schema that says more elsewhere, too."""
    value = {"day": "2026-03-02", **more}
    assert accepter(ORDER)(value)
    assert fits(ORDER, value)


@pytest.mark.parametrize(
    "more",
    [
        {"day": ""},
        {"day": "2026-03-02T08"},
        {"lines": []},
        {"lines": [LINE, LINE, LINE]},
        {"lines": [{"article": "tea"}]},
        {"lines": [{**LINE, "x": 1}]},
        {"lines": [{**LINE, "amount": 0}]},
        {"lines": [{**LINE, "amount": 9}]},
        {"lines": [{**LINE, "amount": True}]},
        {"lines": [{**LINE, "price": 0}]},
        {"lines": [{**LINE, "price": 6}]},
        {"lines": [{**LINE, "price": float("nan")}]},
        {"kind": True},
        {"kind": 1.0},
        {"fixed": 1},
        {"both": {}},
        {"both": {"x": 1, "y": 2}},
        {"note": "b"},
        {"tag": 1},
        {"whatever": "x"},
    ],
)
def test_what_is_wrong_or_not_simple_is_left_to_the_validator(more: Any) -> None:
    """It says no, or what is wrong."""
    value = {"day": "2026-03-02", **more}
    assert not accepter(ORDER)(value)
    assert (validate(ORDER, value) is None) is fits(ORDER, value)


@pytest.mark.parametrize(
    "value",
    [OrderedDict(day="x"), {"day": "x", "lines": (LINE,)}, {"day": type("T", (str,), {})("x")}],
)
def test_what_is_no_plain_json_is_left_to_the_validator(value: Any) -> None:
    """Whatever passes for JSON in Python is not taken for it here."""
    assert not accepter(ORDER)(value)
    assert not accepter({"minProperties": 3, "maxLength": 0})(value)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "text"},
        {"oneOf": [{"type": "string"}]},
        {"not": {}},
        {"exclusiveMinimum": True, "minimum": 1},
        {"maxLength": "3"},
        {"$ref": "#"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"},
        {"unknown": 1},
    ],
)
def test_of_other_schemas_nothing_is_said(schema: Any) -> None:
    """Whatever the value."""
    for value in (1, "x", None, [], {}):
        assert not accepter(schema)(value)


def test_a_fitting_input_loads_no_validator() -> None:
    """The first call of a program does not wait for it."""
    code = (
        "import sys; from llm_tools.functions.validating import validate;"
        "assert validate({'type': 'object', 'properties': {'a': {'type': 'string'}}}, {'a': 'x'}) is None;"
        "assert 'jsonschema' not in sys.modules;"
        "assert validate({'type': 'string'}, 1) == 'at the root: expected string, got integer 1';"
        "assert 'jsonschema' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
