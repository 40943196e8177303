"""What each provider's wire accepts of names and JSON Schema, as data."""

from __future__ import annotations

from msgspec import Struct


class SchemaSubset(Struct, frozen=True, kw_only=True):
    """The part of JSON Schema a provider takes."""

    key: str


class NameRule(Struct, frozen=True):
    """Legal names: a pattern for the whole name; its length limit is part of it."""

    pattern: str = r"[a-zA-Z0-9_-]{1,64}"


class WireRules(Struct, frozen=True, kw_only=True):
    """How functions may look on a wire.

    `plain` holds for ordinary functions, `strict` for those held to their schema (None: the wire
    has no strict, input is validated here).
    """

    names: NameRule = NameRule()
    plain: SchemaSubset = SchemaSubset(key="json_schema")
    strict: SchemaSubset | None = None
    property_names: NameRule | None = None


JSON_SCHEMA = SchemaSubset(key="json_schema")
OPENAI_STRICT = SchemaSubset(key="openai_strict")
ANTHROPIC_STRICT = SchemaSubset(key="anthropic_strict")
BEDROCK_STRICT = SchemaSubset(key="bedrock_strict")
DEEPSEEK_STRICT = SchemaSubset(key="deepseek_strict")
MISTRAL_STRICT = SchemaSubset(key="mistral_strict")
GROQ_STRICT = SchemaSubset(key="groq_strict")
GEMINI_JSON_SCHEMA = SchemaSubset(key="gemini_json_schema")
GEMINI_OPENAPI = SchemaSubset(key="gemini_openapi")
OLLAMA = SchemaSubset(key="ollama")
