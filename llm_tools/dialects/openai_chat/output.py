"""The shape of a text answer: `response_format`, or words where the host has none."""

from __future__ import annotations

from msgspec import Struct

from ...content import JSON, ResultWarning
from ...functions.output import PreparedOutput, prepare_output
from ...functions.preparing import PreparedFunctions
from ...functions.subsets import JSON_SCHEMA
from ...rendering import schema_instructions
from ...spec import Body, Call, Target
from .choosing import Offer
from .emulating import call_instructions, call_schema
from .quirks import ChatQuirks

# JSON mode wants the word in the prompt: api-docs.deepseek.com/guides/json_mode
_WORD = "The format of the answer is json."
_JSON_MODE: Body = {"response_format": {"type": "json_object"}}
_SCHEMA_LEFT_OUT = ResultWarning(
    code="json_schema_left_out",
    detail="A forced call leaves no text, so json_schema was not sent.",
)


class Shape(Struct, frozen=True, kw_only=True):
    """What goes out of the answer's shape; `instructions` are for a system message."""

    body: Body
    prepared: PreparedOutput | None = None
    instructions: str | None = None
    warnings: tuple[ResultWarning, ...] = ()


def shape_answer(target: Target[ChatQuirks], call: Call, offer: Offer) -> Shape:
    """The answer's shape: of a call's stand-in, else of what the caller asked for."""
    quirks = target.quirks
    if offer.stands_in is not None:
        return _shape_stand_in(quirks, offer.stands_in, call)
    if call.output is None:
        return Shape(body={})
    said = quirks.output
    if offer.sent is not None and not quirks.output_beside_functions:
        said = "prompt"
    subset = quirks.output_strict if said == "json_schema" else None
    prepared = prepare_output(call.output, subset or JSON_SCHEMA, strict=subset is not None)
    if said == "json_schema":
        strict = prepared.strict if subset is not None else None
        body = _response_format(prepared.output.name, prepared.schema, strict=strict)
        return Shape(body=body, prepared=prepared, warnings=prepared.warnings)
    detail = f"{target.endpoint.key} has no schema mode for this: the schema went out as words."
    warning = ResultWarning(code="json_schema_emulated", detail=detail)
    return Shape(
        body=_JSON_MODE if said == "json_object" else {},
        prepared=prepared,
        instructions=f"{_WORD}\n{schema_instructions(prepared.schema)}",
        warnings=(*prepared.warnings, warning),
    )


def _shape_stand_in(quirks: ChatQuirks, functions: PreparedFunctions, call: Call) -> Shape:
    body: Body = {}
    if quirks.output == "json_schema":
        body = _response_format("function_call", call_schema(functions.items), strict=None)
    elif quirks.output == "json_object":
        body = _JSON_MODE
    instructions = f"{_WORD}\n{call_instructions(functions.items)}"
    warnings = () if call.output is None else (_SCHEMA_LEFT_OUT,)
    return Shape(body=body, instructions=instructions, warnings=warnings)


def _response_format(name: str, schema: JSON, *, strict: bool | None) -> Body:
    described = {"name": name, "schema": schema}
    if strict is not None:
        described["strict"] = strict
    return {"response_format": {"type": "json_schema", "json_schema": described}}
