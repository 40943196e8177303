"""Functions, and the choice among them. Converse has no `none` and no subset."""

from __future__ import annotations

from typing import NamedTuple

from ...content import JSON, ResultWarning
from ...errors import UnsupportedOptionError
from ...functions.choice import FunctionChoice
from ...functions.output import PreparedOutput
from ...functions.preparing import PreparedFunction, PreparedFunctions, prepare_functions
from ...functions.rewriting.limits import NO_COST
from ...functions.subsets import ANTHROPIC_PROPERTY_NAMES, BEDROCK_STRICT, WireRules
from ...spec import Body, Call, Target
from ...turns import functions_of_history, has_calls
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
    if not has_calls(call.messages):
        return Offer({}, None, call.choice)
    prepared = prepare_functions(
        functions_of_history(call.messages), _RULES[False, False], strict=False
    )
    detail = "The history holds calls, so the functions in it were declared again, without schemas."
    rebuilt = ResultWarning(code="functions_rebuilt", detail=detail)
    return _forbid(target, call, prepared, (rebuilt,))


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
        detail = (
            "The history holds reasoning signed over all functions, so all were sent; whether the "
            "model kept to the choice is checked here."
        )
        return prepared, (ResultWarning(code="subset_checked", detail=detail),)
    names = choice.names
    kept = call.functions.cached(("only", prepared, names), lambda: _only(prepared, names))
    detail = f"Only {', '.join(names)} went out: the wire cannot say a subset."
    return kept, (ResultWarning(code="subset_filtered", detail=detail),)


def _only(prepared: PreparedFunctions, names: tuple[str, ...]) -> PreparedFunctions:
    return PreparedFunctions(
        tuple(item for item in prepared.items if item.definition.name in names)
    )


def _force(
    target: Target[ConverseQuirks], call: Call, offer: Offer, sent: PreparedFunctions
) -> Offer:
    """A forced call: said by the wire, else asked for and checked."""
    choice, quirks = call.choice, target.quirks
    named = choice.named if choice is not None else None
    fields, warned = _allow_forced(target, call)
    body = _config(sent) | fields
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


def _allow_forced(
    target: Target[ConverseQuirks], call: Call
) -> tuple[Body, tuple[ResultWarning, ...]]:
    """What a forced call needs beside it."""
    name, quirks, thinking = target.model, target.quirks, thinking_type(call)
    if not quirks.forced_choice:
        raise UnsupportedOptionError(
            f"{name} refuses a forced call; use function_call='auto' and say in the prompt which "
            "function to call, or another model."
        )
    if thinking == "enabled":
        raise UnsupportedOptionError(
            "A forced call cannot be had while thinking is enabled; take 'thinking' out of "
            "extra_body, or use function_call='auto'."
        )
    off = thinking == "disabled" or (thinking is None and call.params.effort == "none")
    if off or not quirks.forced_needs_thinking_off:
        return {}, ()
    if thinking is not None or call.params.effort is not None:
        raise UnsupportedOptionError(
            f"{name} refuses a forced call while it thinks; leave effort and 'thinking' out, or "
            "use function_call='auto'."
        )
    detail = "Thinking was switched off: the model refuses a forced call while it thinks."
    warning = ResultWarning(code="thinking_switched_off", detail=detail)
    return {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}, (warning,)
