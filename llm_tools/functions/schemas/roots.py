"""The root of a function's parameters: an object, said plainly."""

from __future__ import annotations

from ...content import JSON
from ...errors import ConfigurationError
from .matching import type_names
from .walking import Schema, resolve

_OF_OTHERS = frozenset(
    {
        "const", "enum", "exclusiveMaximum", "exclusiveMinimum", "items", "maxItems", "maxLength",
        "maximum", "minItems", "minLength", "minimum", "multipleOf", "pattern", "prefixItems",
        "uniqueItems",
    }
)  # fmt: skip
_OF_EMPTY = frozenset(
    {
        "$comment", "$defs", "$id", "$schema", "definitions", "description", "properties",
        "required", "title", "type",
    }
)  # fmt: skip
_DEEPEST = 8
UNIONS = ("anyOf", "oneOf")
REFUSED = ("allOf", *UNIONS, "not", "enum", "const")
"""What OpenAI and Anthropic take at no root."""


def check_object_root(root: Schema, owner: str) -> None:
    """Refuse parameters that do not describe an object.

    Raises:
        ConfigurationError: naming the owner.
    """
    if not _describes_object(root, root, 0):
        raise ConfigurationError(
            f"The schema of {owner} is not valid at the root: parameters are an object "
            '({"type": "object", "properties": {…}}), and this describes something else.'
        )


def _describes_object(root: Schema, schema: JSON, depth: int) -> bool:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    named = type_names(schema)
    if named:
        return named == ["object"]
    if "$ref" in schema:
        return _describes_object(root, resolve(root, schema["$ref"]), depth + 1)
    if _OF_OTHERS & schema.keys():
        return False
    branches = [branch for key in REFUSED[:3] for branch in schema.get(key, ())]
    return all(_describes_object(root, branch, depth + 1) for branch in branches)


def is_empty_root(root: Schema) -> bool:
    """Whether parameters describe nothing: no property, and no word about others."""
    return not root.get("properties") and not root.get("required") and root.keys() <= _OF_EMPTY


def settle_root(root: Schema) -> Schema:
    """A checked root with its reference written out, its type and its properties said."""
    return {"type": "object", "properties": {}, **write_out_root(root)}


def write_out_root(root: Schema) -> Schema:
    """A checked root with what it refers to in place of a `$ref`."""
    while "$ref" in root:
        beside = {key: value for key, value in root.items() if key != "$ref"}
        target = resolve(root, root["$ref"])
        root = {**(target if isinstance(target, dict) else {}), **beside}
    return root


def is_plain_root(root: Schema) -> bool:
    """Whether a root is one object, not a union or the like."""
    return type_names(root) == ["object"] and not any(key in root for key in REFUSED)
