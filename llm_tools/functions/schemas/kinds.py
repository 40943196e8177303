"""The types of a schema: inferred, split apart, made nullable."""

from __future__ import annotations

from ...content import JSON
from .matching import type_names
from .walking import Schema

_OWN = {
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "object": {
        "properties", "required", "additionalProperties", "minProperties", "maxProperties",
        "propertyOrdering",
    },
    "string": {"minLength", "maxLength", "pattern", "format"},
}  # fmt: skip
_NUMBER_FORMATS = frozenset({"double", "float", "int32", "int64"})
_OWNED = frozenset[str]().union(*_OWN.values())
_TYPE_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}
NULL: Schema = {"type": "null"}


def type_of(value: JSON) -> str:
    """The JSON Schema type of a value."""
    return _TYPE_NAMES.get(type(value), "object")


def infer_type(schema: Schema) -> Schema:
    """The schema with its type said, where its values or keywords leave no doubt."""
    if schema.keys() & {"type", "$ref", "anyOf", "oneOf", "allOf"}:
        return schema
    named = _implied(schema)
    if not named:
        return schema
    return {"type": named[0] if len(named) == 1 else named, **schema}


def _implied(schema: Schema) -> list[str]:
    if "enum" in schema:
        named = dict.fromkeys(type_of(value) for value in schema["enum"])
        return [name for name in named if name != "integer" or "number" not in named]
    if "const" in schema:
        return [type_of(schema["const"])]
    if "properties" in schema:
        return ["object"]
    return ["array"] if schema.keys() & {"items", "prefixItems"} else []


def split_types(schema: Schema) -> Schema:
    """An `anyOf` with one branch for each type, each with the keywords that concern it."""
    named = type_names(schema)
    if len(named) < 2 or "anyOf" in schema:
        return schema
    shared = {
        key: value
        for key, value in schema.items()
        if key not in _OWNED and key not in ("type", "enum")
    }
    branches = [branch for name in named if (branch := _branch(schema, name)) is not None]
    return {"anyOf": branches or [{"type": name} for name in named], **shared}


def _branch(schema: Schema, name: str) -> Schema | None:
    branch: Schema = {"type": name}
    branch.update((key, value) for key, value in schema.items() if _concerns(key, value, name))
    if "enum" in schema:
        values = [value for value in schema["enum"] if _is_of(value, name)]
        if not values:
            return None
        branch["enum"] = values
    return branch


def fitting_values(schema: Schema) -> Schema:
    """The schema without enum values that its types do not take; OpenAI refuses those."""
    named = type_names(schema)
    if not named or "enum" not in schema:
        return schema
    values = [value for value in schema["enum"] if any(_is_of(value, name) for name in named)]
    return {**schema, "enum": values or schema["enum"]}


def _is_of(value: JSON, name: str) -> bool:
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return type_of(value) in (name, "integer" if name == "number" else name)


def fitting_keywords(schema: Schema) -> Schema:
    """The schema without keywords that concern only other types than its own."""
    named = type_names(schema)
    return {
        key: value
        for key, value in schema.items()
        if key not in _OWNED or any(_concerns(key, value, name) for name in named)
    }


def _concerns(key: str, value: JSON, name: str) -> bool:
    """Whether a keyword says something about values of a type."""
    if key == "format":
        return name == "string" if value not in _NUMBER_FORMATS else name in ("integer", "number")
    return key in _OWN.get(name, ())


def nullable(schema: Schema, *, split: bool) -> Schema:
    """A schema that takes null as well.

    Args:
        schema: takes no null yet.
        split: whether objects and arrays may not share a list of types with null.
    """
    named = type_names(schema)
    if not named or (split and not _is_scalar(named)):
        return _with_null_branch(schema)
    out = {**schema, "type": list(dict.fromkeys([*named, "null"]))}
    if "const" in out:
        out["enum"] = [out.pop("const")]
    if "enum" in out:
        out["enum"] = [*(value for value in out["enum"] if value is not None), None]
    return out


def _is_scalar(named: list[str]) -> bool:
    return not {"array", "object"} & set(named)


def _with_null_branch(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], NULL]}
    inner = {key: value for key, value in schema.items() if key != "description"}
    outer = {"description": schema["description"]} if "description" in schema else {}
    return {"anyOf": [inner, NULL], **outer}
