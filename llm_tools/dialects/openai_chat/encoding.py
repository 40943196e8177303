"""From a neutral call to a request body."""

from __future__ import annotations

from ...rendering import merge_extra_body
from ...spec import Body, Call, Encoded, Plan, Target
from .choosing import offer_functions
from .messages import render_messages
from .output import shape_answer
from .params import decide_reasoning, render_params
from .quirks import ChatQuirks
from .turns import lacks_reasoning


def encode(target: Target[ChatQuirks], call: Call) -> Encoded:
    """The body of a chat completion request, and the plan for its answer.

    Raises:
        ConfigurationError: a parameter this host or model does not take.
        UnsupportedOptionError: functions, a forced call or images it does not take.
    """
    quirks = target.quirks
    offer = offer_functions(target, call)
    reasoning = decide_reasoning(
        target,
        call,
        forced=offer.forced,
        history_lacks_reasoning=quirks.reasoning_required
        and lacks_reasoning(call.messages, target.replay_key),
    )
    shape = shape_answer(target, call, offer)
    params, param_warnings = render_params(target, call, reasoning)
    messages = render_messages(
        target, call, offer.names, shape.instructions, reasoning=reasoning.on
    )
    body: Body = {
        "model": target.model,
        "messages": messages.elements,
        **offer.body,
        **shape.body,
        **params,
        **reasoning.body,
        **_render_stream(quirks, call),
    }
    plan = Plan(
        target=target,
        call=call,
        functions=offer.names if call.functions is not None else None,
        output=shape.prepared,
        emulation=None if offer.stands_in is None else "function_call",
        warnings=(
            *call.warnings,
            *offer.warnings,
            *shape.warnings,
            *reasoning.warnings,
            *param_warnings,
            *messages.warnings,
        ),
    )
    whole = merge_extra_body(merge_extra_body(dict(target.endpoint.body), body), call.extra_body)
    return Encoded(body=whole, plan=plan, path=offer.path)


def _render_stream(quirks: ChatQuirks, call: Call) -> Body:
    if not call.stream:
        return {}
    if not quirks.stream_usage:
        return {"stream": True}
    return {"stream": True, "stream_options": {"include_usage": True}}
