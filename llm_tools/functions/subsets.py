"""What each provider's wire accepts of names and JSON Schema, as data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from .schemas.keywords import ARRAYS, NUMBERS, TYPED


class Limits(Struct, frozen=True, kw_only=True):
    """How big one schema may be; definitions are counted each on their own.

    `depth` counts objects inside objects; `characters` the names, enum values and constants;
    `enum_characters` those of one enum with more than `long_enum` values.
    """

    properties: int
    depth: int
    enum_values: int
    characters: int
    long_enum: int
    enum_characters: int


class RequestLimits(Struct, frozen=True, kw_only=True):
    """How much all strict schemas of one request may hold together.

    `functions` strict functions; `optionals` optional properties and `unions` properties with
    several types, both counted without following `$ref`.
    """

    functions: int
    optionals: int | None = None
    unions: int | None = None


class SchemaSubset(Struct, frozen=True, kw_only=True):
    """The part of JSON Schema a provider takes.

    Attributes:
        key: its name, for messages.
        keywords: the keywords that may go out; None: all, and the schema goes out as it is.
        enforced: those the provider holds the model to in strict mode; None: all that go out.
        formats: the string formats that may go out; None: any.
        lookaround: whether a `pattern` may look around or refer back.
        most_min_items: the largest `minItems`; None: any.
        refs: `any` pointer; `defs`: only `#/$defs/<name>`; `acyclic`: those, without recursion;
            `optional`: those, recursion only through optional properties; `none`: written out.
        root_ref: whether `#` is among them.
        ref_siblings: what becomes of keywords beside a `$ref`: `keep`, or `wrap` (the `$ref` goes
            into an `anyOf`), or `inline`.
        root_union: whether the root may hold `anyOf`, `oneOf`, `allOf` and the like.
        root_object: whether the root of an output must be an object.
        typed: whether every schema must say its type.
        closed: whether every object must list all it may hold (`additionalProperties: false`).
        optional: how an optional property goes out: `omit` leaves it out of `required`, `null`
            makes it required and nullable.
        empty_objects: whether an object without properties may stand below the root.
        empty_texts: whether an enum may hold an empty text.
        described: whether `required` may name described properties only.
        split_types: whether a list of types that names an object or array becomes an `anyOf`.
        no_parameters: what a function without parameters gets: an empty `object`, or `nothing`.
        openapi: whether schemas go out in OpenAPI 3.0 terms (`STRING`, `nullable`, text enums).
        limits: of one schema. request: of all strict ones together.
        all_strict: whether one function that cannot be strict takes strictness from all.
    """

    key: str
    keywords: frozenset[str] | None = None
    enforced: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    lookaround: bool = True
    most_min_items: int | None = None
    refs: Literal["any", "defs", "acyclic", "optional", "none"] = "any"
    root_ref: bool = True
    ref_siblings: Literal["keep", "wrap", "inline"] = "keep"
    root_union: bool = False
    root_object: bool = True
    typed: bool = False
    closed: bool = False
    optional: Literal["omit", "null"] = "omit"
    empty_objects: bool = True
    empty_texts: bool = True
    described: bool = False
    split_types: bool = False
    no_parameters: Literal["object", "nothing"] = "object"
    openapi: bool = False
    limits: Limits | None = None
    request: RequestLimits | None = None
    all_strict: bool = False


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


# ---------------------------------------------------------------- names

GEMINI_NAMES = NameRule(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
"""https://ai.google.dev/api/caching#FunctionDeclaration; 64 is the limit on Vertex."""

ANTHROPIC_PROPERTY_NAMES = NameRule(r"[a-zA-Z0-9_.-]{1,64}")
"""Claude answers 400 naming this pattern to any other property key, on Bedrock as well."""

GEMINI_PROPERTY_NAMES = NameRule(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
"""https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/FunctionDeclaration"""

# ---------------------------------------------------------------- plain

JSON_SCHEMA = SchemaSubset(key="json_schema")
"""All of it: the plain functions of OpenAI, Anthropic, Bedrock, Mistral, Groq, DeepSeek, xAI and
compatible hosts. OpenAI and Anthropic refuse unions at the root; OpenAI arrays without items."""

GEMINI_JSON_SCHEMA = SchemaSubset(
    key="gemini_json_schema",
    # `parametersJsonSchema`, also in mode VALIDATED. Keywords that are not honoured are passed
    # over, but these are refused: $schema, const, title, discriminator, examples, exclusive*.
    # So are empty texts in an enum ("enum[0]: cannot be empty"), and names in `required` that are
    # not among the properties ("required[0]: property is not defined").
    # https://ai.google.dev/gemini-api/docs/structured-output#json-schema-support
    keywords=TYPED
    - {"const"}
    | (NUMBERS - {"exclusiveMinimum", "exclusiveMaximum"})
    | ARRAYS
    | {
        "allOf", "default", "format", "maxLength", "maxProperties", "minLength", "minProperties",
        "oneOf", "pattern", "prefixItems", "propertyOrdering",
    },
    enforced=TYPED
    | {"format", "maxItems", "maximum", "minItems", "minimum", "oneOf", "prefixItems"},
    formats=frozenset({"date-time", "date", "time"}),
    refs="optional",
    root_ref=False,
    ref_siblings="wrap",
    root_object=False,
    empty_texts=False,
    described=True,
    no_parameters="nothing",
)  # fmt: skip

GEMINI_OPENAPI = SchemaSubset(
    key="gemini_openapi",
    # `parameters`: the OpenAPI 3.0 subset.
    # https://ai.google.dev/api/caching#Schema
    keywords=TYPED
    - {"additionalProperties", "const", "$ref", "$defs", "definitions"}
    | {
        "default", "format", "maxItems", "maxLength", "maxProperties", "maximum", "minItems",
        "minLength", "minProperties", "minimum", "nullable", "pattern", "propertyOrdering",
        "title",
    },
    formats=frozenset({"date-time", "enum"}),
    refs="none",
    root_object=False,
    typed=True,
    empty_texts=False,
    no_parameters="nothing",
    openapi=True,
)  # fmt: skip

OLLAMA = SchemaSubset(
    key="ollama",
    # The server reads schemas into a struct of its own and drops everything else in silence.
    # https://github.com/ollama/ollama/blob/main/api/types.go (ToolFunctionParameters)
    keywords=TYPED - {"additionalProperties", "const", "$ref", "$defs", "definitions"},
    refs="none",
)

# ---------------------------------------------------------------- strict

OPENAI_STRICT = SchemaSubset(
    key="openai_strict",
    # Chat Completions and Responses, tools and outputs.
    # https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    keywords=TYPED | NUMBERS | {"format", "maxItems", "minItems", "pattern"},
    formats=frozenset(
        {
            "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
        }
    ),
    lookaround=False,
    refs="defs",
    ref_siblings="wrap",
    typed=True,
    closed=True,
    optional="null",
    limits=Limits(
        properties=5000,
        depth=10,
        enum_values=1000,
        characters=120_000,
        long_enum=250,
        enum_characters=15_000,
    ),
)  # fmt: skip

GROQ_STRICT = replace(OPENAI_STRICT, key="groq_strict")
"""As OpenAI's. https://console.groq.com/docs/structured-outputs#schema-requirements"""

ANTHROPIC_STRICT = SchemaSubset(
    key="anthropic_strict",
    # https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
    # The vendor's SDK moves `pattern` and `default` into the description, so they do not go out.
    keywords=TYPED | {"format", "minItems"},
    formats=frozenset(
        {
            "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6",
            "uuid",
        }
    ),
    most_min_items=1,
    refs="acyclic",
    ref_siblings="inline",
    typed=True,
    closed=True,
    request=RequestLimits(functions=20, optionals=24, unions=16),
)  # fmt: skip

BEDROCK_STRICT = replace(
    ANTHROPIC_STRICT,
    key="bedrock_strict",
    # https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
    # The other two request limits are Claude's.
    keywords=TYPED | {"format", "minItems", "pattern"},
    lookaround=False,
)

DEEPSEEK_STRICT = SchemaSubset(
    key="deepseek_strict",
    # On the beta base URL; every function of the request must then be strict.
    # https://api-docs.deepseek.com/guides/tool_calls#strict-mode-beta
    keywords=TYPED - {"const"} | NUMBERS | {"format", "pattern"},
    formats=frozenset({"email", "hostname", "ipv4", "ipv6", "uuid"}),
    lookaround=False,
    refs="none",
    typed=True,
    closed=True,
    optional="null",
    empty_objects=False,
    split_types=True,
    all_strict=True,
)

MISTRAL_STRICT = SchemaSubset(
    key="mistral_strict",
    # The vendor's SDK closes objects and changes nothing else.
    # https://docs.mistral.ai/capabilities/structured-output/custom_structured_output/
    keywords=TYPED
    | NUMBERS
    | ARRAYS
    | {"default", "format", "maxLength", "minLength", "pattern", "prefixItems", "title"},
    refs="defs",
    closed=True,
)
