"""The wires the tests prepare functions for, and short ways to do it."""

from __future__ import annotations

from typing import Any

from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.preparing import PreparedFunction, prepare_functions
from llm_tools.functions.subsets import (
    ANTHROPIC_PROPERTY_NAMES,
    ANTHROPIC_STRICT,
    BEDROCK_STRICT,
    DEEPSEEK_STRICT,
    GEMINI_JSON_SCHEMA,
    GEMINI_NAMES,
    GEMINI_OPENAPI,
    GEMINI_PROPERTY_NAMES,
    GROQ_STRICT,
    MISTRAL_STRICT,
    OLLAMA,
    OPENAI_STRICT,
    WireRules,
)

PLAIN = WireRules()
OPENAI = WireRules(strict=OPENAI_STRICT)
GROQ = WireRules(strict=GROQ_STRICT)
ANTHROPIC = WireRules(strict=ANTHROPIC_STRICT, property_names=ANTHROPIC_PROPERTY_NAMES)
BEDROCK = WireRules(strict=BEDROCK_STRICT, property_names=ANTHROPIC_PROPERTY_NAMES)
DEEPSEEK = WireRules(strict=DEEPSEEK_STRICT)
MISTRAL = WireRules(strict=MISTRAL_STRICT)
GEMINI = WireRules(names=GEMINI_NAMES, plain=GEMINI_JSON_SCHEMA, strict=GEMINI_JSON_SCHEMA)
OPENAPI = WireRules(
    names=GEMINI_NAMES,
    plain=GEMINI_OPENAPI,
    strict=GEMINI_OPENAPI,
    property_names=GEMINI_PROPERTY_NAMES,
)
LOCAL = WireRules(plain=OLLAMA)

WIRES = {
    "plain": PLAIN,
    "openai": OPENAI,
    "groq": GROQ,
    "anthropic": ANTHROPIC,
    "bedrock": BEDROCK,
    "deepseek": DEEPSEEK,
    "mistral": MISTRAL,
    "gemini": GEMINI,
    "openapi": OPENAPI,
    "ollama": LOCAL,
}


def prepared(schema: Any, rules: WireRules, *, strict: bool = True) -> PreparedFunction:
    """One function `f` with these parameters, for one wire."""
    functions = normalize_functions([{"name": "f", "parameters": schema}])
    (item,) = prepare_functions(functions, rules, strict=strict).items
    return item


def prepared_property(schema: Any, rules: WireRules, *, strict: bool = True) -> Any:
    """What becomes of the schema of a required property `a`."""
    root = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    wire = prepared(root, rules, strict=strict).schema
    assert wire is not None
    return wire["properties"]["a"]


def told(item: PreparedFunction) -> list[tuple[str, str]]:
    """Code and detail of each warning, without the function's name."""
    return [(warning.code, warning.detail.removeprefix("f: ")) for warning in item.warnings]
