"""A call as the body of a Responses request."""

from __future__ import annotations

from ...content import ResultWarning
from ...errors import UnsupportedOptionError
from ...functions.output import PreparedOutput, prepare_output
from ...functions.preparing import PreparedFunctions, prepare_functions
from ...functions.subsets import OPENAI_STRICT, WireRules
from ...rendering import merge_extra_body
from ...spec import Body, Call, Encoded, Plan, Target
from .choosing import encode_functions
from .messages import encode_messages
from .parameters import encode_parameters
from .quirks import ResponsesQuirks

_STRICT_RULES = WireRules(strict=OPENAI_STRICT)
_PLAIN_RULES = WireRules()


def encode(target: Target[ResponsesQuirks], call: Call) -> Encoded:
    """The request body and the plan for its answer.

    Raises:
        ConfigurationError: an option this endpoint or model cannot take; nothing was sent.
    """
    quirks = target.quirks
    functions = _prepare_functions(call, quirks)
    output = prepare_output(call.output, OPENAI_STRICT, strict=True) if call.output else None
    conversation = encode_messages(target, call, functions)
    choosing = encode_functions(call, functions, quirks)
    body: Body = {
        "model": target.model,
        **conversation.body,
        **choosing.body,
        **_encode_output(output),
        **encode_parameters(target, call.params, has_functions=functions is not None),
        **_encode_state(quirks),
    }
    warnings = list(call.warnings)
    for source in (functions, output, conversation, choosing):
        if source is not None:
            warnings += source.warnings
    warnings += _hold_reasoning(target, call, body)
    if call.stream:
        body["stream"] = True
    body = merge_extra_body(merge_extra_body(dict(target.endpoint.body), body), call.extra_body)
    plan = Plan(
        target=target, call=call, functions=functions, output=output, warnings=tuple(warnings)
    )
    return Encoded(body=body, plan=plan)


def _prepare_functions(call: Call, quirks: ResponsesQuirks) -> PreparedFunctions | None:
    if call.functions is None:
        return None
    rules = _STRICT_RULES if quirks.strict else _PLAIN_RULES
    return prepare_functions(call.functions, rules, strict=call.strict)


def _encode_output(prepared: PreparedOutput | None) -> Body:
    if prepared is None:
        return {}
    return {
        "text": {
            "format": {
                "type": "json_schema",
                "name": prepared.output.name,
                "schema": prepared.schema,
                "strict": prepared.strict,
            }
        }
    }


def _encode_state(quirks: ResponsesQuirks) -> Body:
    """Nothing is stored; what the model needs of its reasoning comes back to us, encrypted.

    Models that never reason refuse the `include`:
    https://github.com/pydantic/pydantic-ai/issues/2865
    """
    if quirks.reasoning == "never" or not quirks.encrypted_reasoning:
        return {"store": False}
    return {"store": False, "include": ["reasoning.encrypted_content"]}


def _hold_reasoning(
    target: Target[ResponsesQuirks], call: Call, body: Body
) -> tuple[ResultWarning, ...]:
    """Switch reasoning off in `body` for a forced call, where the two exclude each other."""
    forced = call.choice is not None and call.choice.forced
    if not (forced and target.quirks.forced_call_stops_reasoning):
        return ()
    if call.params.effort == "none":
        return ()
    if call.params.effort is not None or "reasoning" in (call.extra_body or {}):
        raise UnsupportedOptionError(
            f"{target.endpoint.key} refuses a forced function_call while the model reasons: leave "
            "effort (or extra_body's reasoning) out, or use function_call='auto'."
        )
    body["reasoning"] = {"effort": "none"}
    detail = f"Reasoning is off in this call: {target.endpoint.key} refuses forced calls with it."
    return (ResultWarning(code="thinking_switched_off", detail=detail),)
