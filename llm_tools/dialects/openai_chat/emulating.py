"""A forced call on hosts that cannot be told to make one: the answer is the call, as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from ...content import JSON
from ...functions.preparing import PreparedFunction
from ...rendering import json_text
from ...reply import EmulatedCall, read_emulated_call

_INSTRUCTIONS = (
    "Choose one of these functions and call it, by answering with one JSON object and nothing "
    'else: {"name": "<its name>", "arguments": {<what fits its parameters>}}'
)
NO_PARAMETERS: dict[str, JSON] = {"type": "object", "properties": {}}


def call_schema(functions: Sequence[PreparedFunction]) -> dict[str, JSON]:
    """The schema of `{"name": …, "arguments": …}` for a call of one of the functions."""
    definitions: dict[str, JSON] = {}
    branches = [_branch(function, definitions) for function in functions]
    schema = branches[0] if len(branches) == 1 else {"anyOf": branches}
    return {**schema, "$defs": definitions} if definitions else schema


def call_instructions(functions: Sequence[PreparedFunction]) -> str:
    """What the model is told: to call one of the functions, and which there are."""
    return "\n".join([_INSTRUCTIONS, *[json_text(_description(item)) for item in functions]])


def _description(function: PreparedFunction) -> JSON:
    said = {"name": function.wire_name, "description": function.definition.description}
    parameters = {"parameters": function.schema or NO_PARAMETERS}
    return {name: words for name, words in said.items() if words} | parameters


def call_in_text(text: str) -> EmulatedCall | None:
    """The call a text says; thoughts before it and a fence around it are looked past."""
    answer = text.rpartition("</think>")[2]
    for candidate in (text, answer[answer.find("{") : answer.rfind("}") + 1]):
        call = read_emulated_call(candidate)
        if call is not None:
            return call
    return None


def _branch(function: PreparedFunction, definitions: dict[str, JSON]) -> dict[str, JSON]:
    """One function's calls. References of its schema find it again under `$defs`, by its name."""
    name, arguments = function.wire_name, function.schema or NO_PARAMETERS
    moved = _moved(arguments, f"#/$defs/{name}")
    if moved != arguments:
        definitions[name] = moved
        arguments = {"$ref": f"#/$defs/{name}"}
    return {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": [name]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _moved(schema: JSON, root: str) -> JSON:
    """The schema with its references (`#…`) starting at `root`."""
    match schema:
        case dict():
            return {
                key: root + value[1:]
                if key == "$ref" and isinstance(value, str) and value.startswith("#")
                else _moved(value, root)
                for key, value in schema.items()
            }
        case list():
            return [_moved(item, root) for item in schema]
        case _:
            return schema
