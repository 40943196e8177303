"""Functions and the choice among them, as `tools` and `toolConfig`."""

from __future__ import annotations

from ...content import JSON
from ...functions.choice import FunctionChoice
from ...functions.definitions import FunctionSet
from ...functions.preparing import PreparedFunction, PreparedFunctions, prepare_functions
from ...functions.subsets import (
    GEMINI_JSON_SCHEMA,
    GEMINI_NAMES,
    GEMINI_OPENAPI,
    GEMINI_PROPERTY_NAMES,
    WireRules,
)
from ...spec import Body, Call
from .quirks import GeminiQuirks

_JSON_SCHEMA = WireRules(names=GEMINI_NAMES, plain=GEMINI_JSON_SCHEMA, strict=GEMINI_JSON_SCHEMA)
_OPENAPI = WireRules(
    names=GEMINI_NAMES,
    plain=GEMINI_OPENAPI,
    strict=GEMINI_OPENAPI,
    property_names=GEMINI_PROPERTY_NAMES,
)
_EMPTY_KEYS = {"type", "properties", "required", "additionalProperties"}
_NO_FUNCTIONS = FunctionSet(())


def prepare(quirks: GeminiQuirks, call: Call) -> PreparedFunctions:
    """The functions in legal form; without functions, what makes names of the history legal."""
    functions = call.functions or _NO_FUNCTIONS
    rules = _JSON_SCHEMA if quirks.json_schema else _OPENAPI
    return prepare_functions(functions, rules, strict=call.strict)


def render_functions(call: Call, functions: PreparedFunctions, *, json_schema: bool) -> Body:
    """`tools` and `toolConfig`, or nothing where there are no functions.

    `VALIDATED` is the automatic mode held to the schemas, so it says both `strict` and a subset
    under `auto`. `ANY` is held to the schemas by itself
    (https://ai.google.dev/gemini-api/docs/function-calling#function_calling_modes).
    """
    if not functions.items:
        return {}
    declarations = functions.fragment(
        "gemini" if json_schema else "gemini_openapi",
        lambda item: _declaration(item, "parametersJsonSchema" if json_schema else "parameters"),
    )
    body: Body = {"tools": [{"functionDeclarations": declarations}]}
    config = _calling_config(call.choice, functions, strict=call.strict)
    if config:
        body["toolConfig"] = {"functionCallingConfig": config}
    return body


def _declaration(item: PreparedFunction, key: str) -> JSON:
    """One function; an object schema without properties is refused, no schema at all is not."""
    declaration: dict[str, JSON] = {"name": item.wire_name}
    if item.definition.description:
        declaration["description"] = item.definition.description
    if item.schema is not None and not _is_empty(item.schema):
        declaration[key] = item.schema
    return declaration


def _is_empty(schema: dict[str, JSON]) -> bool:
    """Whether it describes an object without properties, and nothing else."""
    return schema.keys() <= _EMPTY_KEYS and not any(map(schema.get, _EMPTY_KEYS - {"type"}))


def _calling_config(
    choice: FunctionChoice | None, functions: PreparedFunctions, *, strict: bool
) -> dict[str, JSON]:
    if choice is None:
        return {"mode": "VALIDATED"} if strict else {}
    names = choice.names
    config: dict[str, JSON] = {"mode": choice.mode.upper()}
    if choice.mode == "auto" and (strict or names is not None):
        config["mode"] = "VALIDATED"
    if names is not None:
        config["allowedFunctionNames"] = [functions.wire_name(name) for name in names]
    return config
