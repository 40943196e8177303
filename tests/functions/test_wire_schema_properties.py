"""What holds for every schema on every wire."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from functions import subset_rules
from functions.schema_strategies import Misfit, parameters, values
from functions.wires import WIRES, prepared
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.preparing import PreparedFunction, prepare_functions
from llm_tools.functions.validating import validate

STRICT_RULES: dict[str, Callable[[Any], list[str]]] = {
    "openai": subset_rules.openai_strict,
    "groq": subset_rules.openai_strict,
    "anthropic": subset_rules.anthropic_strict,
    "bedrock": subset_rules.bedrock_strict,
    "deepseek": subset_rules.deepseek_strict,
    "mistral": subset_rules.mistral_strict,
    "gemini": subset_rules.gemini_json_schema,
    "openapi": subset_rules.gemini_openapi,
}
PLAIN_RULES: dict[str, Callable[[Any], list[str]]] = {
    **dict.fromkeys(WIRES, subset_rules.every),
    "gemini": subset_rules.gemini_json_schema,
    "openapi": subset_rules.gemini_openapi,
    "ollama": subset_rules.ollama,
}
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def read(schema: Any, wire: str, *, strict: bool) -> PreparedFunction:
    """The prepared function; schemas that refer to themselves and nothing else are no case."""
    try:
        return prepared(schema, WIRES[wire], strict=strict)
    except ConfigurationError as error:
        assume("back to itself" not in str(error))
        raise


@pytest.mark.parametrize("wire", WIRES)
@SLOW
@given(schema=parameters(), strict=st.booleans())
def test_legal_and_untouched(wire: str, schema: Any, strict: bool) -> None:
    """The wire takes what goes out, the caller's schema is as before, a second time is equal."""
    before = copy.deepcopy(schema)
    item = read(schema, wire, strict=strict)
    assert schema == before
    rules = STRICT_RULES[wire] if item.strict else PLAIN_RULES[wire]
    assert rules(item.schema) == []
    assert item.validate is False or strict
    functions = normalize_functions([{"name": "f", "parameters": copy.deepcopy(schema)}])
    fresh = type(functions)(functions.definitions)
    (again,) = prepare_functions(fresh, WIRES[wire], strict=strict).items
    assert (again.schema, again.warnings) == (item.schema, item.warnings)


@pytest.mark.parametrize(
    "wire", ["openai", "anthropic", "bedrock", "deepseek", "mistral", "gemini"]
)
@SLOW
@given(schema=parameters(), data=st.data())
def test_answers_come_back(wire: str, schema: Any, data: st.DataObject) -> None:
    """What a model held to the wire's schema gives is valid for the caller, once restored."""
    item = read(schema, wire, strict=True)
    assume(item.strict and not item.validate and item.schema and item.definition.parameters)
    assert item.definition.parameters is not None
    try:
        answer = data.draw(values(item.schema, item.schema))
    except Misfit:
        assume(False)
    assume(validate(item.schema or {}, answer) is None)
    own = item.restore(answer) if item.restore else answer
    assert validate(item.definition.parameters, own) is None
    if item.hide is not None:
        assert item.restore is not None
        assert item.restore(item.hide(own)) == own


@pytest.mark.parametrize("wire", ["anthropic", "bedrock", "mistral", "gemini"])
@SLOW
@given(schema=parameters(), data=st.data())
def test_everything_can_be_said(wire: str, schema: Any, data: st.DataObject) -> None:
    """A strict schema takes every described value that the caller's takes, or says it does not."""
    item = read(schema, wire, strict=True)
    assume(item.strict and item.schema is not None)
    assume("schema_narrowed" not in [warning.code for warning in item.warnings])
    try:
        own = data.draw(values(schema, schema))
    except Misfit:
        assume(False)
    assume(validate(schema, own) is None)
    wired = item.hide(own) if item.hide else own
    assert validate(item.schema or {}, wired) is None


def test_the_rules_reject() -> None:
    """The rules these tests trust do refuse what a provider refuses."""
    open_ = {"type": "object", "properties": {"a": {"type": "array"}}}
    for rules in (*STRICT_RULES.values(), subset_rules.every):
        assert rules(open_) != []
    lost = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}
    assert subset_rules.every(lost) == ["#/properties/a"]
    assert subset_rules.ollama({"type": "object", "properties": {"a": True}}) != []
