"""Parameters of a call on Converse, or why they cannot be taken."""

from __future__ import annotations

from collections.abc import Mapping

from ...content import JSON
from ...errors import UnsupportedOptionError
from ...spec import Body, Call, Params, Target
from .quirks import ConverseQuirks

_INFERENCE = {"max_tokens": "maxTokens", "temperature": "temperature", "top_p": "topP"}


def render_params(target: Target[ConverseQuirks], call: Call) -> Body:
    """`inferenceConfig`, and what the family takes beside it."""
    params = call.params
    _check(target, params)
    config: Body = {
        wire: value
        for name, wire in _INFERENCE.items()
        if (value := getattr(params, name)) is not None
    }
    if params.stop_sequences is not None:
        config["stopSequences"] = list(params.stop_sequences)
    body: Body = {"inferenceConfig": config} if config else {}
    extra = _top_k(target, params.top_k)
    return body | ({"additionalModelRequestFields": extra} if extra else {})


def _check(target: Target[ConverseQuirks], params: Params) -> None:
    name = f"{target.endpoint.key}.{target.model}"
    if params.seed is not None:
        raise UnsupportedOptionError(f"{name} takes no seed; leave it out.")
    if params.parallel_function_calls is False:
        raise UnsupportedOptionError(
            f"{name}: Converse cannot keep a model to one call at a time; leave "
            "parallel_function_calls out, or reach a Claude model through amazon:anthropic."
        )
    given = [key for key in ("temperature", "top_p", "top_k") if getattr(params, key) is not None]
    if given and not target.quirks.sampling:
        raise UnsupportedOptionError(
            f"{name} takes no {', '.join(given)}; leave it out, or steer by effort."
        )


def _top_k(target: Target[ConverseQuirks], top_k: int | None) -> Body:
    if top_k is None:
        return {}
    match target.quirks.top_k:
        case "top_k":
            return {"top_k": top_k}
        case "inferenceConfig":
            return {"inferenceConfig": {"topK": top_k}}
        case _:
            raise UnsupportedOptionError(
                f"{target.endpoint.key}.{target.model} takes no top_k; leave it out."
            )


def render_effort(target: Target[ConverseQuirks], call: Call) -> Body:
    """How hard to think, in the family's own spelling; `none` switches Claude's thinking off."""
    effort, quirks = call.params.effort, target.quirks
    if effort is None:
        return {}
    if effort == "none" and quirks.thinking_off is not None:
        return {"additionalModelRequestFields": {"thinking": {"type": quirks.thinking_off}}}
    if effort not in quirks.efforts:
        levels = ", ".join(quirks.efforts)
        way = f"use one of {levels}." if levels else "leave it out."
        raise UnsupportedOptionError(
            f"{target.endpoint.key}.{target.model} has no effort {effort!r}; {way}"
        )
    if quirks.effort == "outputConfig":
        return {"outputConfig": {"effort": effort}}
    fields: JSON = {quirks.effort: effort}
    if quirks.effort == "nova":
        fields = {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}
    return {"additionalModelRequestFields": fields}


def additional(call: Call, key: str) -> JSON:
    """What the caller put under `additionalModelRequestFields` in `extra_body`."""
    fields = (call.extra_body or {}).get("additionalModelRequestFields")
    return fields.get(key) if isinstance(fields, Mapping) else None


def thinking_type(call: Call) -> str | None:
    """The `thinking.type` the caller asked for in `extra_body`, if any."""
    thinking = additional(call, "thinking")
    found = thinking.get("type") if isinstance(thinking, Mapping) else None
    return found if isinstance(found, str) else None
