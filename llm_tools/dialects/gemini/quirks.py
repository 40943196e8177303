"""By what Gemini models and hosts differ."""

from __future__ import annotations

from typing import Literal

from ...spec import Quirks


class GeminiQuirks(Quirks, frozen=True, kw_only=True):
    """Flags of the `gemini` dialect; the defaults are those of Gemini 3 and later.

    Attributes:
        thinking: how effort is said: `thinkingLevel`, `thinkingBudget`, or not at all.
        levels: the efforts `thinkingLevel` takes for this model.
        thinks_always: a budget of 0, which turns thinking off, is refused.
        wants_signatures: a function call in the history without a signature is refused.
        schema_with_functions: functions and `responseJsonSchema` go together in one request.
        images_in_results: a `functionResponse` may hold images.
        json_schema: takes `parametersJsonSchema`; otherwise the OpenAPI subset in `parameters`.
        vertex_numbers: with integer enums, finish and block reasons are numbered as Vertex does.
    """

    thinking: Literal["level", "budget", "none"] = "level"
    levels: tuple[str, ...] = ("minimal", "low", "medium", "high", "xhigh")
    thinks_always: bool = False
    wants_signatures: bool = True
    schema_with_functions: bool = True
    images_in_results: bool = True
    json_schema: bool = True
    vertex_numbers: bool = False
