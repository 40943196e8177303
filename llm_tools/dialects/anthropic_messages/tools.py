"""Functions, and the choice among them."""

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
from ...functions.subsets import ANTHROPIC_PROPERTY_NAMES, ANTHROPIC_STRICT, WireRules
from ...spec import Body, Call, Target
from .params import thinking_type
from .quirks import AnthropicQuirks
from .replay import holds_thinking

_RULES = WireRules(strict=ANTHROPIC_STRICT, property_names=ANTHROPIC_PROPERTY_NAMES)
_PLAIN = WireRules(property_names=ANTHROPIC_PROPERTY_NAMES)
_NO_PARAMETERS: JSON = {"type": "object"}
_CLOSED: JSON = {"type": "object", "properties": {}, "additionalProperties": False}


class Offer(NamedTuple):
    """The body's part, what was prepared for decoding, and what must be said."""

    body: Body
    prepared: PreparedFunctions | None
    warnings: tuple[ResultWarning, ...] = ()


def offer_functions(
    target: Target[AnthropicQuirks], call: Call, output: PreparedOutput | None = None
) -> Offer:
    """`tools` and `tool_choice`.

    A strict `output` counts against the same limits as strict functions.

    Raises:
        UnsupportedOptionError: a forced call that the model refuses.
    """
    if call.functions is None:
        return _offer_history(call)
    rules = _RULES if target.quirks.structured else _PLAIN
    spent = NO_COST if output is None else output.cost
    prepared = prepare_functions(call.functions, rules, strict=call.strict, spent=spent)
    sent, warnings = _narrow(target, call, prepared)
    body: Body = {"tools": sent.fragment("anthropic_messages", _render)}
    choice = _choice(call, prepared)
    if choice is not None:
        body["tool_choice"] = choice
    if call.choice is not None and call.choice.forced:
        extra, warned = allow_forced(target.model, target.quirks, call, thinking_type(call))
        body, warnings = body | extra, warnings + warned
    return Offer(body, prepared, (*prepared.warnings, *warnings))


def _offer_history(call: Call) -> Offer:
    """Tool blocks need `tools` beside them, though nothing is offered in this call."""
    prepared = functions_again(call, _PLAIN)
    if prepared is None:
        return Offer({}, None)
    tools = prepared.fragment("anthropic_messages", _render)
    body: Body = {"tools": tools, "tool_choice": {"type": "none"}}
    return Offer(body, prepared, (FUNCTIONS_REBUILT,))


def _render(function: PreparedFunction) -> JSON:
    definition = function.definition
    tool: dict[str, JSON] = {"name": function.wire_name}
    if definition.description:
        tool["description"] = definition.description
    tool["input_schema"] = function.schema or (_CLOSED if function.strict else _NO_PARAMETERS)
    if function.strict:
        tool["strict"] = True
    return tool


def _choice(call: Call, prepared: PreparedFunctions) -> Body | None:
    one_at_a_time = call.params.parallel_function_calls is False
    choice = call.choice or (FunctionChoice("auto") if one_at_a_time else None)
    if choice is None:
        return None
    if choice.mode == "none":
        return {"type": "none"}
    named = choice.named
    rendered: Body = {"type": choice.mode}
    if named is not None:
        rendered = {"type": "tool", "name": prepared.wire_name(named)}
    if one_at_a_time:
        rendered["disable_parallel_tool_use"] = True
    return rendered


def _narrow(
    target: Target[AnthropicQuirks], call: Call, prepared: PreparedFunctions
) -> tuple[PreparedFunctions, tuple[ResultWarning, ...]]:
    """The functions that go out: a subset, unless thinking in the history is signed over all."""
    names = call.choice.subset if call.choice is not None else None
    if names is None or call.functions is None:
        return prepared, ()
    if holds_thinking(target, call.messages):
        return prepared, (SUBSET_CHECKED,)
    return only_named(call.functions, prepared, names)
