"""A call as the body of `generateContent`."""

from __future__ import annotations

from ...content import JSON
from ...functions.output import prepare_output
from ...functions.subsets import GEMINI_JSON_SCHEMA, GEMINI_OPENAPI
from ...rendering import merge_extra_body
from ...shaping import NO_SHAPE, Shape, shape_in_prompt
from ...spec import Body, Call, Encoded, Plan, Target
from .functions import prepare, render_functions
from .generation import render_parameters
from .messages import render_messages
from .quirks import GeminiQuirks


def encode(target: Target[GeminiQuirks], call: Call) -> Encoded:
    """The request's body, and the plan for its answer.

    Raises:
        UnsupportedOptionError: `parallel_function_calls=False`, or an effort the model lacks.
        ConfigurationError: there is nothing to send.
    """
    functions = prepare(target.quirks, call)
    shape = _shape_output(target, call)
    messages = render_messages(target, call, functions, shape.instructions)
    generation = render_parameters(target, call.params) | shape.body
    body: Body = dict(target.endpoint.body)
    for fragment in (
        messages.body,
        render_functions(call, functions, json_schema=target.quirks.json_schema),
        {"generationConfig": generation} if generation else {},
    ):
        body = merge_extra_body(body, fragment)
    return Encoded(
        body=_with_extras(body, call),
        plan=Plan(
            target=target,
            call=call,
            functions=functions,
            output=shape.prepared,
            warnings=(
                *call.warnings,
                *messages.warnings,
                *functions.warnings,
                *shape.warnings,
            ),
        ),
    )


def _shape_output(target: Target[GeminiQuirks], call: Call) -> Shape:
    """How the answer's schema is said in `generationConfig`."""
    quirks = target.quirks
    if call.output is None:
        return NO_SHAPE
    if call.functions is not None and not quirks.schema_with_functions:
        detail = f"{target.model} takes no json_schema beside functions; it is in the prompt."
        return shape_in_prompt(call.output, detail)
    subset = GEMINI_JSON_SCHEMA if quirks.json_schema else GEMINI_OPENAPI
    prepared = prepare_output(call.output, subset, strict=True)
    key = "responseJsonSchema" if quirks.json_schema else "responseSchema"
    config: Body = {"responseMimeType": "application/json", key: prepared.schema}
    return Shape(config, prepared, warnings=prepared.warnings)


def _with_extras(body: Body, call: Call) -> Body:
    """The caller's `extra_body` over the body; hosted tools in it stand beside the functions."""
    merged = merge_extra_body(body, call.extra_body)
    ours: JSON = body.get("tools")
    if ours and merged["tools"] is not ours and isinstance(merged["tools"], list):
        merged["tools"] = [*ours, *merged["tools"]]
    return merged
