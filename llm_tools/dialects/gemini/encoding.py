"""A call as the body of `generateContent`."""

from __future__ import annotations

from ...content import JSON, ResultWarning
from ...functions.output import PreparedOutput, prepare_output
from ...functions.preparing import PreparedFunctions
from ...functions.subsets import GEMINI_JSON_SCHEMA, GEMINI_OPENAPI
from ...rendering import merge_extra_body, schema_instructions
from ...spec import Body, Call, Encoded, Plan, Target
from .functions import prepare, render_functions
from .generation import render_generation
from .messages import render_messages
from .quirks import GeminiQuirks


def encode(target: Target[GeminiQuirks], call: Call) -> Encoded:
    """The body and the plan for its answer.

    Raises:
        UnsupportedOptionError: `parallel_function_calls=False`, or an effort the model lacks.
        ConfigurationError: there is nothing to send.
    """
    functions = prepare(target.quirks, call)
    output = _prepare_output(target.quirks, call)
    rendered = render_messages(target, call.messages, functions)
    system, warnings = list(rendered.system), list(rendered.warnings)
    native_output = output
    if (
        output is not None
        and call.functions is not None
        and not target.quirks.schema_with_functions
    ):
        native_output = None
        system.append({"text": schema_instructions(output.schema)})
        warnings.append(_schema_in_prompt(target))
    body: Body = {"contents": rendered.contents}
    if system:
        body["systemInstruction"] = {"parts": system}
    body |= render_functions(call, functions, json_schema=target.quirks.json_schema)
    body |= render_generation(target, call.params, native_output)
    return Encoded(
        body=_with_extras(body, call),
        plan=_plan(target, call, functions, output, warnings),
    )


def _prepare_output(quirks: GeminiQuirks, call: Call) -> PreparedOutput | None:
    if call.output is None:
        return None
    subset = GEMINI_JSON_SCHEMA if quirks.json_schema else GEMINI_OPENAPI
    return prepare_output(call.output, subset, strict=True)


def _schema_in_prompt(target: Target[GeminiQuirks]) -> ResultWarning:
    return ResultWarning(
        code="json_schema_emulated",
        detail=f"{target.model} takes no json_schema beside functions; it is in the prompt.",
    )


def _with_extras(body: Body, call: Call) -> Body:
    """The caller's `extra_body` over the body; hosted tools in it stand beside the functions."""
    merged = merge_extra_body(body, call.extra_body)
    ours: JSON = body.get("tools")
    if ours and merged["tools"] is not ours and isinstance(merged["tools"], list):
        merged["tools"] = [*ours, *merged["tools"]]
    return merged


def _plan(
    target: Target[GeminiQuirks],
    call: Call,
    functions: PreparedFunctions,
    output: PreparedOutput | None,
    warnings: list[ResultWarning],
) -> Plan:
    schema_warnings = output.warnings if output is not None else ()
    return Plan(
        target=target,
        call=call,
        functions=functions,
        output=output,
        warnings=(*call.warnings, *functions.warnings, *schema_warnings, *warnings),
    )
