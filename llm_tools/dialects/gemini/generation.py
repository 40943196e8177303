"""Parameters, as entries of `generationConfig`."""

from __future__ import annotations

from ...content import JSON
from ...errors import UnsupportedOptionError
from ...spec import Params, Target
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


def render_parameters(target: Target[GeminiQuirks], params: Params) -> dict[str, JSON]:
    """The entries for the parameters that were given.

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
    if params.effort is not None:
        config["thinkingConfig"] = _thinking(target, params.effort)
    return config


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
