"""Functions, and the choice among them."""

from __future__ import annotations

from typing import NamedTuple

from ...content import JSON, ResultWarning
from ...errors import UnsupportedOptionError
from ...functions.choice import FunctionChoice
from ...functions.output import PreparedOutput
from ...functions.preparing import PreparedFunction, PreparedFunctions, prepare_functions
from ...functions.rewriting.limits import NO_COST
from ...functions.subsets import ANTHROPIC_PROPERTY_NAMES, ANTHROPIC_STRICT, WireRules
from ...spec import Body, Call, Target
from ...turns import functions_of_history, has_calls
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
        extra, warned = _allow_forced(target, call)
        body, warnings = body | extra, warnings + warned
    return Offer(body, prepared, (*prepared.warnings, *warnings))


def _offer_history(call: Call) -> Offer:
    """Tool blocks need `tools` beside them, though nothing is offered in this call."""
    if not has_calls(call.messages):
        return Offer({}, None)
    prepared = prepare_functions(functions_of_history(call.messages), _PLAIN, strict=False)
    tools = prepared.fragment("anthropic_messages", _render)
    detail = "The history holds calls, so the functions in it were declared again, without schemas."
    warning = ResultWarning(code="functions_rebuilt", detail=detail)
    return Offer({"tools": tools, "tool_choice": {"type": "none"}}, prepared, (warning,))


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
        detail = (
            "The history holds thinking signed over all functions, so all were sent; whether the "
            "model kept to the subset is checked here."
        )
        return prepared, (ResultWarning(code="subset_checked", detail=detail),)
    kept = call.functions.cached(("only", prepared, names), lambda: _only(prepared, names))
    detail = f"Only {', '.join(names)} went out: the wire cannot say a subset."
    return kept, (ResultWarning(code="subset_filtered", detail=detail),)


def _only(prepared: PreparedFunctions, names: tuple[str, ...]) -> PreparedFunctions:
    return PreparedFunctions(
        tuple(item for item in prepared.items if item.definition.name in names)
    )


def _allow_forced(
    target: Target[AnthropicQuirks], call: Call
) -> tuple[Body, tuple[ResultWarning, ...]]:
    """What a forced call needs beside it.

    https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
    """
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
    return {"thinking": {"type": "disabled"}}, (warning,)
