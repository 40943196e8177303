"""Functions, and the choice among them. Converse has no `none` and no subset."""

from __future__ import annotations

from typing import NamedTuple

from ...claude.choosing import (
    FUNCTIONS_REBUILT,
    SUBSET_CHECKED,
    allow_forced,
    functions_again,
    only_named,
)
from ...content import JSON, ResultWarning
from ...functions.choice import FunctionChoice
from ...functions.output import PreparedOutput
from ...functions.preparing import PreparedFunction, PreparedFunctions, prepare_functions
from ...functions.rewriting.limits import NO_COST
from ...functions.subsets import ANTHROPIC_PROPERTY_NAMES, BEDROCK_STRICT, WireRules
from ...spec import Body, Call, Target
from ...turns import has_calls
from .params import thinking_type
from .quirks import ConverseQuirks
from .replay import holds_signed

_RULES = {
    (claude, structured): WireRules(
        strict=BEDROCK_STRICT if structured else None,
        property_names=ANTHROPIC_PROPERTY_NAMES if claude else None,
    )
    for claude in (False, True)
    for structured in (False, True)
}
_NO_PARAMETERS: JSON = {"type": "object"}
_CLOSED: JSON = {"type": "object", "properties": {}, "additionalProperties": False}
_NONE = FunctionChoice("none")


class Offer(NamedTuple):
    """The body's part, what was prepared for decoding, and what must be said or asked for."""

    body: Body
    prepared: PreparedFunctions | None
    choice: FunctionChoice | None
    instructions: tuple[str, ...] = ()
    warnings: tuple[ResultWarning, ...] = ()


def offer_functions(
    target: Target[ConverseQuirks], call: Call, output: PreparedOutput | None = None
) -> Offer:
    """`toolConfig`, and what says the choice where that cannot.

    A strict `output` counts against the same limits as strict functions.

    Raises:
        UnsupportedOptionError: a forced call that the model refuses.
    """
    choice = call.choice
    if call.functions is None:
        return _offer_history(target, call)
    rules = _RULES[target.quirks.claude_fields, target.quirks.structured]
    spent = NO_COST if output is None else output.cost
    prepared = prepare_functions(call.functions, rules, strict=call.strict, spent=spent)
    if choice is None:
        return Offer(_config(prepared), prepared, None, warnings=prepared.warnings)
    if choice.mode == "none":
        return _forbid(target, call, prepared, prepared.warnings)
    sent, warnings = _narrow(target, call, prepared)
    warnings = (*prepared.warnings, *warnings)
    if not choice.forced:
        # Families that take no `toolChoice` at all refuse this one, too.
        auto: Body | None = {"auto": {}} if target.quirks.choices else None
        return Offer(_config(sent, auto), prepared, choice, warnings=warnings)
    return _force(target, call, Offer({}, prepared, choice, warnings=warnings), sent)


def _offer_history(target: Target[ConverseQuirks], call: Call) -> Offer:
    """Tool blocks need `toolConfig` beside them, though nothing is offered in this call."""
    prepared = functions_again(call, _RULES[False, False])
    if prepared is None:
        return Offer({}, None, call.choice)
    return _forbid(target, call, prepared, (FUNCTIONS_REBUILT,))


def _forbid(
    target: Target[ConverseQuirks],
    call: Call,
    prepared: PreparedFunctions,
    warnings: tuple[ResultWarning, ...],
) -> Offer:
    """No call: no functions where none are needed, Claude's own `none`, or a warning."""
    if not has_calls(call.messages):
        return Offer({}, prepared, _NONE)
    body = _config(prepared)
    if target.quirks.claude_fields:
        # Beside `toolChoice` this would be refused.
        body["additionalModelRequestFields"] = {"tool_choice": {"type": "none"}}
        return Offer(body, prepared, _NONE, warnings=warnings)
    detail = (
        "The functions stay, since the history holds calls, and the wire cannot forbid new ones; "
        "a call that comes anyway is marked and never run."
    )
    unsaid = ResultWarning(code="none_not_enforced", detail=detail)
    return Offer(body, prepared, _NONE, warnings=(*warnings, unsaid))


def _config(functions: PreparedFunctions, choice: Body | None = None) -> Body:
    config: Body = {"tools": functions.fragment("bedrock_converse", _render)}
    if choice is not None:
        config["toolChoice"] = choice
    return {"toolConfig": config}


def _render(function: PreparedFunction) -> JSON:
    spec: dict[str, JSON] = {"name": function.wire_name}
    if function.definition.description:
        spec["description"] = function.definition.description
    schema = function.schema or (_CLOSED if function.strict else _NO_PARAMETERS)
    spec["inputSchema"] = {"json": schema}
    if function.strict:
        spec["strict"] = True
    return {"toolSpec": spec}


def _narrow(
    target: Target[ConverseQuirks], call: Call, prepared: PreparedFunctions
) -> tuple[PreparedFunctions, tuple[ResultWarning, ...]]:
    """The functions that go out: a subset, unless thinking in the history is signed over all."""
    choice = call.choice
    if choice is None or choice.names is None or call.functions is None:
        return prepared, ()
    if choice.named is not None and "tool" in target.quirks.choices:
        return prepared, ()
    if holds_signed(target, call.messages):
        return prepared, (SUBSET_CHECKED,)
    return only_named(call.functions, prepared, choice.names)


def _force(
    target: Target[ConverseQuirks], call: Call, offer: Offer, sent: PreparedFunctions
) -> Offer:
    """A forced call: said by the wire, else asked for and checked."""
    choice, quirks = call.choice, target.quirks
    named = choice.named if choice is not None else None
    fields, warned = allow_forced(target.model, quirks, call, thinking_type(call))
    body = _config(sent) | ({"additionalModelRequestFields": fields} if fields else {})
    warnings = (*offer.warnings, *warned)
    if named is not None and "tool" in quirks.choices:
        body |= _config(sent, {"tool": {"name": sent.wire_name(named)}})
    elif "any" in quirks.choices:
        body |= _config(sent, {"any": {}})
    else:
        asked = f"Answer by calling {_listed(sent)}; do not answer in text."
        detail = "This model takes no toolChoice; the prompt asks for the call, and it is checked."
        warning = ResultWarning(code="function_call_emulated", detail=detail)
        return offer._replace(body=body, instructions=(asked,), warnings=(*warnings, warning))
    return offer._replace(body=body, warnings=warnings)


def _listed(functions: PreparedFunctions) -> str:
    names = [f"the tool {item.wire_name}" for item in functions.items]
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"
