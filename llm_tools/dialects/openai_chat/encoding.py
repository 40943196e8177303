"""From a neutral call to a request body."""

from __future__ import annotations

from msgspec import Struct

from ...content import ResultWarning
from ...functions.caching import Bounded
from ...functions.output import PreparedOutput
from ...functions.preparing import PreparedFunctions
from ...rendering import merge_extra_body
from ...spec import Body, Call, Encoded, Plan, Target
from .choosing import offer_functions
from .messages import render_messages
from .output import shape_answer
from .params import decide_reasoning, render_params
from .quirks import ChatQuirks
from .turns import lacks_reasoning


class Frame(Struct, frozen=True, kw_only=True):
    """All of a request but its messages: the same for every call with the same options."""

    body: Body
    names: PreparedFunctions
    output: PreparedOutput | None
    stands_in: bool
    instructions: str | None
    reasons: bool
    path: str | None
    warnings: tuple[ResultWarning, ...]
    made_of: tuple[object, ...]


_FRAMES: Bounded[Frame] = Bounded(256)


def encode(target: Target[ChatQuirks], call: Call) -> Encoded:
    """The body of a chat completion request, and the plan for its answer.

    Raises:
        ConfigurationError: a parameter this host or model does not take.
        UnsupportedOptionError: functions, a forced call or images it does not take.
    """
    frame = _find_frame(target, call)
    messages = render_messages(
        target, call, frame.names, frame.instructions, reasoning=frame.reasons
    )
    body: Body = {"model": target.model, "messages": messages.elements, **frame.body}
    if target.endpoint.body:
        body = merge_extra_body(dict(target.endpoint.body), body)
    plan = Plan(
        target=target,
        call=call,
        functions=frame.names if call.functions is not None else None,
        output=frame.output,
        emulation="function_call" if frame.stands_in else None,
        warnings=(*call.warnings, *frame.warnings, *messages.warnings),
    )
    return Encoded(body=merge_extra_body(body, call.extra_body), plan=plan, path=frame.path)


def _find_frame(target: Target[ChatQuirks], call: Call) -> Frame:
    """The frame of a call; remembered, unless the messages or an `extra_body` have a say in it."""
    quirks = target.quirks
    narrowed = call.choice is not None and call.choice.names is not None
    if quirks.reasoning_required or quirks.functions_with_history or narrowed or call.extra_body:
        return _build_frame(target, call)
    key = (*map(id, _made_of(target, call)), call.strict, call.stream)
    return _FRAMES.get(key, lambda: _build_frame(target, call))


def _made_of(target: Target[ChatQuirks], call: Call) -> tuple[object, ...]:
    """What a frame is known by: these objects' ids, which are theirs as long as it keeps them."""
    return target, call.functions, call.choice, call.output, call.params


def _build_frame(target: Target[ChatQuirks], call: Call) -> Frame:
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
    return Frame(
        body={
            **offer.body,
            **shape.body,
            **params,
            **reasoning.body,
            **_render_stream(quirks, call),
        },
        names=offer.names,
        output=shape.prepared,
        stands_in=offer.stands_in is not None,
        instructions=shape.instructions,
        reasons=reasoning.on,
        path=offer.path,
        warnings=(*offer.warnings, *shape.warnings, *reasoning.warnings, *param_warnings),
        made_of=_made_of(target, call),
    )


def _render_stream(quirks: ChatQuirks, call: Call) -> Body:
    if not call.stream:
        return {}
    if not quirks.stream_usage:
        return {"stream": True}
    return {"stream": True, "stream_options": {"include_usage": True}}
