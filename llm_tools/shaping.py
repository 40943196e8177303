"""How the shape of an answer's text is asked for: by the wire, or in the prompt."""

from __future__ import annotations

from typing import NamedTuple

from .content import ResultWarning
from .functions.output import OutputSchema, PreparedOutput
from .rendering import schema_instructions
from .spec import Body


class Shape(NamedTuple):
    """The body's part, what was prepared for decoding, what the prompt must say, and warnings."""

    body: Body
    prepared: PreparedOutput | None
    instructions: tuple[str, ...] = ()
    warnings: tuple[ResultWarning, ...] = ()


NO_SHAPE = Shape({}, None)


def shape_in_prompt(output: OutputSchema, why: str) -> Shape:
    """The schema in the prompt, where the wire cannot hold the model to it, and a warning why."""
    return Shape(
        {},
        PreparedOutput(output=output, schema=output.schema),
        (schema_instructions(output.schema),),
        (ResultWarning(code="json_schema_emulated", detail=why),),
    )
