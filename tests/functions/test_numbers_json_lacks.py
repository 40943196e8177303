"""NaN and Infinity, which JSON cannot say, are refused in schemas instead of going out as null."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import msgspec
import pytest

from llm_tools import (
    ConfigurationError,
    create_callable_executor,
    tool,
    use_llm,
)
from llm_tools.functions.definitions import FunctionDefinition, normalize_functions
from llm_tools.functions.output import normalize_output

NUMBERS = [nan, inf, -inf]
PLACES = {
    "/properties/x/enum/1": lambda bad: {"enum": [1.5, bad]},
    "/properties/x/default": lambda bad: {"type": "number", "default": bad},
    "/properties/x/const": lambda bad: {"const": bad},
    "/properties/x/examples/0": lambda bad: {"type": "number", "examples": [bad]},
    "/properties/x/const/deep/0": lambda bad: {"const": {"deep": [bad]}},
    "/properties/x/maximum": lambda bad: {"type": "number", "maximum": bad},
    "/properties/x/anyOf/1/default": lambda bad: {"anyOf": [{"type": "null"}, {"default": bad}]},
}


def schema_of(property_: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": property_}}


@pytest.mark.parametrize("bad", NUMBERS, ids=repr)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("write", "prefix"),
    [
        (lambda schema: {"name": "f", "parameters": schema}, "/parameters"),
        (lambda schema: {"name": "f", "input_schema": schema}, "/input_schema"),
        (
            lambda schema: {"type": "function", "function": {"name": "f", "parameters": schema}},
            "/function/parameters",
        ),
        (lambda schema: FunctionDefinition(name="f", parameters=schema), "/parameters"),
        (
            lambda schema: create_callable_executor(name="f", parameters=schema, handler=str),
            "/parameters",
        ),
    ],
    ids=["dict", "anthropic", "openai", "definition", "executor"],
)
def test_function_schema(place: str, bad: float, write: Any, prefix: str) -> None:
    """The error names the function, the number and the place, in every form of a function."""
    function = write(schema_of(PLACES[place](bad)))
    with pytest.raises(ConfigurationError) as caught:
        normalize_functions([{"name": "first"}, function])
    assert str(caught.value) == (
        f"functions[1] ('f') holds {bad!r} at {prefix}{place}, a number JSON does not have: leave "
        "it out, or write it as a string."
    )


def test_after_null_in_the_same_place() -> None:
    """A schema that was seen with null in that place does not stand in for the one with NaN."""
    known = normalize_functions([{"name": "f", "parameters": schema_of({"default": None})}])
    assert known.by_name["f"].parameters == schema_of({"default": None})
    with pytest.raises(ConfigurationError, match="holds nan at /parameters/properties/x/default"):
        normalize_functions([{"name": "f", "parameters": schema_of({"default": nan})}])


@pytest.mark.parametrize("bad", NUMBERS, ids=repr)
@pytest.mark.parametrize("place", PLACES)
def test_output_schema(place: str, bad: float) -> None:
    """The same for the shape of a text answer."""
    with pytest.raises(ConfigurationError) as caught:
        normalize_output(schema_of(PLACES[place](bad)))
    assert str(caught.value) == (
        f"json_schema holds {bad!r} at {place}, a number JSON does not have: leave it out, or "
        "write it as a string."
    )


def test_default_of_an_output_type() -> None:
    """A type's default counts as well."""

    class Answer(msgspec.Struct):
        score: float = nan

    with pytest.raises(ConfigurationError, match=r"json_schema holds nan at /\$defs/"):
        normalize_output(Answer)


def test_python_default_is_not_told() -> None:
    """A Python function may well default to infinity: the model is not told that default."""

    @tool
    def search(limit: float = inf) -> str:
        """Search."""
        return str(limit)

    found = normalize_functions([search]).by_name["search"].parameters
    assert found == {
        "type": "object",
        "properties": {"limit": {"type": "number"}},
    }


@pytest.mark.parametrize("key", ["openai.gpt-4o-mini", "anthropic.claude-sonnet-4-5"])
def test_nothing_is_sent(key: str) -> None:
    """It is told when the request is made, before any I/O."""
    llm = use_llm(key, api_key="k")
    with pytest.raises(ConfigurationError, match="holds inf at"):
        llm.build_request("hi", functions=[{"name": "f", "parameters": schema_of({"const": inf})}])
    with pytest.raises(ConfigurationError, match="json_schema holds inf at"):
        llm.build_request("hi", json_schema=schema_of({"const": inf}))


def test_big_numbers_beside_null_are_fine() -> None:
    """Numbers beyond 64 bits, and text that looks like null, are no reason."""
    schema = schema_of({"enum": [None, 10**30, 1e308, ":null"]})
    known = normalize_functions([{"name": "f", "parameters": schema}]).by_name["f"]
    assert known.parameters == schema
