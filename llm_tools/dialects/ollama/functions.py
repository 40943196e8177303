"""Functions, and the choice among them that the wire has no word for."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...content import JSON, ResultWarning
from ...functions.definitions import FunctionSet
from ...functions.preparing import PreparedFunction, PreparedFunctions, prepare_functions
from ...functions.subsets import OLLAMA, WireRules
from ...rendering import json_text
from ...spec import Body, Call

_RULES = WireRules(plain=OLLAMA)
_NOTHING: Body = {}
_NO_FUNCTIONS = FunctionSet(())
_NO_PARAMETERS: dict[str, JSON] = {"type": "object", "properties": {}}
_FORCED = (
    "Call exactly one of the functions below now. Answer with one JSON object and nothing else: "
    '{"name": <the function\'s name>, "arguments": <an object that fits its parameters>}.'
)


class Offer(NamedTuple):
    """What goes out of the functions, and how the answer is to be read."""

    prepared: PreparedFunctions
    body: Body = _NOTHING
    instructions: tuple[str, ...] = ()
    emulation: Literal["function_call"] | None = None
    warnings: tuple[ResultWarning, ...] = ()


def offer_functions(call: Call) -> Offer:
    """`tools` for `auto`, nothing for `none`, and a `format` in place of a forced call."""
    prepared = prepare_functions(call.functions or _NO_FUNCTIONS, _RULES, strict=call.strict)
    choice = call.choice
    if not prepared.items or (choice is not None and choice.mode == "none"):
        return Offer(prepared)
    chosen = prepared.items
    if choice is not None and choice.names is not None:
        chosen = tuple([prepared.by_name[name] for name in choice.names])
    if choice is not None and choice.forced:
        return _force(prepared, chosen)
    if chosen is prepared.items:
        tools: JSON = prepared.fragment("ollama", _tool)
        return Offer(prepared, {"tools": tools}, warnings=prepared.warnings)
    names = ", ".join([item.definition.name for item in chosen])
    detail = f"Ollama has no choice among functions: only {names} went out."
    warning = ResultWarning(code="subset_filtered", detail=detail)
    tools = [_tool(item) for item in chosen]
    return Offer(prepared, {"tools": tools}, warnings=(*prepared.warnings, warning))


def _force(prepared: PreparedFunctions, chosen: tuple[PreparedFunction, ...]) -> Offer:
    """The answer is bound to be a call in JSON; tools beside it would teach another form."""
    forms = [_call_schema(item) for item in chosen]
    described = "\n".join([json_text(_description(item)) for item in chosen])
    detail = "Ollama cannot force a call: the answer was bound to one as JSON text instead."
    return Offer(
        prepared,
        {"format": forms[0] if len(forms) == 1 else {"anyOf": forms}},
        (f"{_FORCED}\n{described}",),
        "function_call",
        (*prepared.warnings, ResultWarning(code="function_call_emulated", detail=detail)),
    )


def _call_schema(item: PreparedFunction) -> JSON:
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": [item.wire_name]},
            "arguments": item.schema or _NO_PARAMETERS,
        },
        "required": ["name", "arguments"],
    }


def _description(item: PreparedFunction) -> dict[str, JSON]:
    described: dict[str, JSON] = {"name": item.wire_name}
    if item.definition.description:
        described["description"] = item.definition.description
    described["parameters"] = item.schema or _NO_PARAMETERS
    return described


def _tool(item: PreparedFunction) -> JSON:
    return {"type": "function", "function": _description(item)}
