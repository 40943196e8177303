"""A call as a body of Converse."""

from __future__ import annotations

from msgspec.structs import replace

from ...functions.output import prepare_output
from ...functions.subsets import BEDROCK_STRICT
from ...rendering import json_text, merge_extra_body
from ...shaping import NO_SHAPE, Shape, shape_in_prompt
from ...spec import Body, Call, Encoded, Plan, Target
from .messages import render_messages
from .params import render_effort, render_params
from .quirks import ConverseQuirks
from .tools import offer_functions


def encode(target: Target[ConverseQuirks], call: Call) -> Encoded:
    """The request's body, and the plan for its answer.

    Raises:
        ConfigurationError: the host or the model cannot take what the caller asked for.
    """
    shape = _shape_output(target, call)
    offer = offer_functions(target, call, shape.prepared)
    instructions = (*offer.instructions, *shape.instructions)
    messages = render_messages(target, call, offer.prepared, instructions)
    body: Body = {**target.endpoint.body, **messages.body}
    fragments = (
        render_params(target, call), offer.body, render_effort(target, call), shape.body,
    )  # fmt: skip
    for fragment in fragments:
        body = merge_extra_body(body, fragment)
    return Encoded(
        body=merge_extra_body(body, call.extra_body),
        plan=Plan(
            target=target,
            call=replace(call, choice=offer.choice),
            functions=offer.prepared,
            output=shape.prepared,
            warnings=(*call.warnings, *messages.warnings, *offer.warnings, *shape.warnings),
        ),
    )


def _shape_output(target: Target[ConverseQuirks], call: Call) -> Shape:
    """`outputConfig.textFormat`, or the schema in the prompt where it cannot be had."""
    if call.output is None:
        return NO_SHAPE
    if target.quirks.structured:
        prepared = prepare_output(call.output, BEDROCK_STRICT, strict=True)
        if prepared.strict:
            definition = {"name": call.output.name, "schema": json_text(prepared.schema)}
            shape = {"type": "json_schema", "structure": {"jsonSchema": definition}}
            return Shape({"outputConfig": {"textFormat": shape}}, prepared, (), prepared.warnings)
    detail = f"{target.model} cannot be held to json_schema; the prompt asks for it instead."
    return shape_in_prompt(call.output, detail)
