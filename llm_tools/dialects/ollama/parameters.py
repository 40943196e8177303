"""Parameters, as `options` and `think`."""

from __future__ import annotations

from ...content import JSON
from ...errors import UnsupportedOptionError
from ...spec import Body, Params, Target
from .quirks import OllamaQuirks

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_tokens": "num_predict",
    "stop_sequences": "stop",
    "seed": "seed",
}


def render_parameters(target: Target[OllamaQuirks], params: Params) -> Body:
    """The parameters that were given.

    Raises:
        UnsupportedOptionError: one call at a time, or an effort the model does not have.
    """
    if params.parallel_function_calls is False:
        raise UnsupportedOptionError(
            f"{target.endpoint.key} cannot take parallel_function_calls=False: Ollama has no such "
            "switch. Leave it out, or ask for one call at a time in the prompt."
        )
    options: dict[str, JSON] = {}
    for name, key in _OPTIONS.items():
        value = getattr(params, name)
        if value is not None:
            options[key] = value
    body: Body = {"options": options} if options else {}
    if params.effort is not None:
        body["think"] = _think(target, params.effort)
    return body


def _think(target: Target[OllamaQuirks], effort: str) -> JSON:
    efforts = target.quirks.efforts
    if effort not in efforts:
        raise UnsupportedOptionError(
            f"{target.model} at {target.endpoint.key} cannot take effort={effort!r}; "
            f"it takes {', '.join(efforts)}."
        )
    return False if effort == "none" else effort
