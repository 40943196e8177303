"""Parameters and the shape of the answer, as `generationConfig`."""

from __future__ import annotations

from ...content import JSON
from ...errors import UnsupportedOptionError
from ...functions.output import PreparedOutput
from ...spec import Body, Params, Target
from .quirks import GeminiQuirks

_FIELDS = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_tokens": "maxOutputTokens",
    "stop_sequences": "stopSequences",
    "seed": "seed",
}
# The budgets Google itself gives to efforts: https://ai.google.dev/gemini-api/docs/openai#thinking
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}


def render_generation(
    target: Target[GeminiQuirks], params: Params, output: PreparedOutput | None
) -> Body:
    """`generationConfig`, or nothing where nothing was asked for.

    Raises:
        UnsupportedOptionError: one call at a time, or an effort the model does not have.
    """
    if params.parallel_function_calls is False:
        raise UnsupportedOptionError(
            f"{target.endpoint.key} cannot take parallel_function_calls=False: Gemini has no such "
            "switch. Leave it out, or ask for one call at a time in the prompt."
        )
    config: dict[str, JSON] = {}
    for name, key in _FIELDS.items():
        value = getattr(params, name)
        if value is not None:
            config[key] = value
    if output is not None:
        config["responseMimeType"] = "application/json"
        key = "responseJsonSchema" if target.quirks.json_schema else "responseSchema"
        config[key] = output.schema
    if params.effort is not None:
        config["thinkingConfig"] = _thinking(target, params.effort)
    return {"generationConfig": config} if config else {}


def _thinking(target: Target[GeminiQuirks], effort: str) -> dict[str, JSON]:
    """How much to think; thoughts are shown where there are any."""
    quirks = target.quirks
    match quirks.thinking:
        case "level" if effort in quirks.levels:
            return {"thinkingLevel": effort.upper(), "includeThoughts": True}
        case "budget" if effort in _BUDGETS and not (effort == "none" and quirks.thinks_always):
            return {"thinkingBudget": _BUDGETS[effort], "includeThoughts": effort != "none"}
    raise UnsupportedOptionError(
        f"{target.model} at {target.endpoint.key} cannot take effort={effort!r}; "
        f"it takes {_efforts(quirks)}."
    )


def _efforts(quirks: GeminiQuirks) -> str:
    if quirks.thinking == "none":
        return "no effort at all, leave it out"
    if quirks.thinking == "level":
        return ", ".join(quirks.levels)
    return ", ".join(effort for effort in _BUDGETS if effort != "none" or not quirks.thinks_always)
