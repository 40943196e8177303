"""A call as a body of the Messages API."""

from __future__ import annotations

from ...functions.output import prepare_output
from ...functions.subsets import ANTHROPIC_STRICT
from ...rendering import merge_extra_body
from ...shaping import NO_SHAPE, Shape, shape_in_prompt
from ...spec import Body, Call, Encoded, Plan, Target
from .messages import render_messages
from .params import api_version, render_effort, render_params
from .quirks import AnthropicQuirks
from .tools import offer_functions


def encode(target: Target[AnthropicQuirks], call: Call) -> Encoded:
    """The request's body, and the plan for its answer.

    Raises:
        ConfigurationError: the host or the model cannot take what the caller asked for.
    """
    shape = _shape_output(target, call)
    offer = offer_functions(target, call, shape.prepared)
    messages = render_messages(target, call, offer.prepared, shape.instructions)
    body: Body = {**target.endpoint.body, **_address(target, call), **render_params(target, call)}
    for fragment in (messages.body, offer.body, render_effort(target, call), shape.body):
        body = merge_extra_body(body, fragment)
    version = api_version(target)
    return Encoded(
        body=merge_extra_body(body, call.extra_body),
        headers={} if version is None else {"anthropic-version": version},
        plan=Plan(
            target=target,
            call=call,
            functions=offer.prepared,
            output=shape.prepared,
            warnings=(*call.warnings, *messages.warnings, *offer.warnings, *shape.warnings),
        ),
    )


def _address(target: Target[AnthropicQuirks], call: Call) -> Body:
    quirks = target.quirks
    body: Body = {"model": target.model} if quirks.model_in_body else {}
    return body | {"stream": True} if call.stream and quirks.stream_in_body else body


def _shape_output(target: Target[AnthropicQuirks], call: Call) -> Shape:
    """`output_config.format`, or the schema in the prompt where it cannot be had."""
    if call.output is None:
        return NO_SHAPE
    if target.quirks.structured:
        prepared = prepare_output(call.output, ANTHROPIC_STRICT, strict=True)
        if prepared.strict:
            shape = {"type": "json_schema", "schema": prepared.schema}
            return Shape({"output_config": {"format": shape}}, prepared, warnings=prepared.warnings)
    detail = f"{target.model} cannot be held to json_schema; the prompt asks for it instead."
    return shape_in_prompt(call.output, detail)
