"""A call as the body of `/api/chat`."""

from __future__ import annotations

from msgspec.structs import replace

from ...content import ResultWarning
from ...functions.output import PreparedOutput, prepare_output
from ...functions.subsets import JSON_SCHEMA
from ...rendering import merge_extra_body
from ...shaping import NO_SHAPE, Shape, shape_in_prompt
from ...spec import Body, Call, Encoded, Plan, Target
from .functions import Offer, offer_functions
from .messages import render_messages
from .parameters import render_parameters
from .quirks import OllamaQuirks

# `format` takes any JSON Schema, an array at its root as well:
# https://docs.ollama.com/capabilities/structured-outputs
_FORMAT = replace(JSON_SCHEMA, key="ollama_format", root_object=False)


def encode(target: Target[OllamaQuirks], call: Call) -> Encoded:
    """The request's body, and the plan for its answer.

    Raises:
        UnsupportedOptionError: `parallel_function_calls=False`, an unknown effort, an image URL.
        ConfigurationError: there is nothing to send.
    """
    offer = offer_functions(call)
    shape = _shape_output(call, offer)
    messages = render_messages(
        target, call, offer.prepared, (*offer.instructions, *shape.instructions)
    )
    body: Body = {**target.endpoint.body, "model": target.model, "stream": call.stream}
    for fragment in (
        {"messages": messages.elements},
        shape.body,
        offer.body,
        render_parameters(target, call.params),
        call.extra_body,
    ):
        body = merge_extra_body(body, fragment)
    return Encoded(
        body=body,
        plan=Plan(
            target=target,
            call=call,
            functions=offer.prepared,
            output=shape.prepared,
            emulation=offer.emulation,
            warnings=(
                *call.warnings,
                *messages.warnings,
                *offer.warnings,
                *shape.warnings,
            ),
        ),
    )


def _shape_output(call: Call, offer: Offer) -> Shape:
    """`format` binds the answer from its first token on, so no call could come beside it."""
    if call.output is None:
        return NO_SHAPE
    if not offer.body:
        prepared = prepare_output(call.output, _FORMAT, strict=False)
        return Shape({"format": prepared.schema}, prepared, warnings=prepared.warnings)
    if offer.emulation is not None:
        detail = "A forced call leaves no text, so json_schema was not sent."
        left_out = ResultWarning(code="json_schema_left_out", detail=detail)
        prepared = PreparedOutput(output=call.output, schema=call.output.schema)
        return Shape({}, prepared, (), (left_out,))
    detail = "Ollama's format would rule out calls; json_schema is in the prompt instead."
    return shape_in_prompt(call.output, detail)
