"""Functions and the choice among them, as `tools` and `tool_choice`."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Raw

from ...content import JSON, ResultWarning
from ...functions.choice import FunctionChoice
from ...functions.preparing import PreparedFunction, PreparedFunctions
from ...spec import Body, Call
from .quirks import ResponsesQuirks

_MODES = {"auto": "auto", "none": "none", "any": "required"}


class Choosing(NamedTuple):
    """The part of the body that is about functions, and what was emulated in it."""

    body: Body
    warnings: tuple[ResultWarning, ...] = ()


def encode_functions(
    call: Call, functions: PreparedFunctions | None, quirks: ResponsesQuirks
) -> Choosing:
    """`tools` and `tool_choice`; nothing where there are no functions."""
    if functions is None:
        return Choosing({})
    body: Body = {"tools": functions.fragment("openai_responses", _render)}
    warnings: tuple[ResultWarning, ...] = ()
    choice = call.choice
    if choice is not None and choice.subset is not None and not quirks.allowed_tools:
        body["tools"] = _only(functions, choice.subset)
        choice = FunctionChoice(choice.mode)
        warnings = (_filtered_warning(call.choice),)
    if choice is not None:
        body["tool_choice"] = _tool_choice(choice, functions)
    return Choosing(body, warnings)


def _render(function: PreparedFunction) -> JSON:
    """One tool. `strict` is always said: left out, the server may try strict by itself."""
    tool: Body = {"type": "function", "name": function.wire_name}
    if function.definition.description:
        tool["description"] = function.definition.description
    tool["parameters"] = function.schema or {"type": "object", "properties": {}}
    tool["strict"] = function.strict
    return tool


def _tool_choice(choice: FunctionChoice, functions: PreparedFunctions) -> JSON:
    if choice.named is not None:
        return _reference(functions, choice.named)
    mode = _MODES[choice.mode]
    if choice.subset is None:
        return mode
    tools = [_reference(functions, name) for name in choice.subset]
    return {"type": "allowed_tools", "mode": mode, "tools": tools}


def _reference(functions: PreparedFunctions, name: str) -> JSON:
    return {"type": "function", "name": functions.wire_name(name)}


def _only(functions: PreparedFunctions, names: tuple[str, ...]) -> Raw:
    """The encoded list of the named functions alone."""
    return Raw(msgspec.json.encode([_render(functions.by_name[name]) for name in names]))


def _filtered_warning(choice: FunctionChoice | None) -> ResultWarning:
    names = ", ".join(choice.names or ()) if choice else ""
    detail = f"This wire knows no subset: only {names} went out."
    return ResultWarning(code="subset_filtered", detail=detail)
