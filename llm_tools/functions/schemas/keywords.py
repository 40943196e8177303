"""The keywords of JSON Schema by what leaving one out does."""

from __future__ import annotations

TYPED = frozenset(
    {
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "type",
        "$ref",
        "$defs",
        "definitions",
    }
)
"""What every subset takes, or has rewritten before."""

NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
STRINGS = frozenset({"minLength", "maxLength", "pattern", "format"})
ARRAYS = frozenset({"minItems", "maxItems", "uniqueItems"})
CONSTRAINTS = (
    NUMBERS
    | STRINGS
    | ARRAYS
    | {
        "contains",
        "dependentRequired",
        "maxContains",
        "maxProperties",
        "minContains",
        "minProperties",
        "propertyNames",
    }
)
"""Left out, more is accepted; nothing becomes impossible to say."""

APPLICATORS = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "additionalItems",
        "allOf",
        "dependencies",
        "dependentSchemas",
        "else",
        "if",
        "not",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Left out of a closed schema, what they allow could no longer be said."""

TOLD = frozenset({"default", "examples", "example"})
"""Say nothing about validity, but help the model: they move into the description."""
