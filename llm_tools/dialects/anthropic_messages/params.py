"""Parameters of a call on the Messages API, or why they cannot be taken."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UnsupportedOptionError
from ...spec import Body, Call, Target
from .quirks import AnthropicQuirks

WITHOUT_SAMPLING = "2026-10-21"
"""From this version on no model takes sampling parameters, even at their defaults.

https://platform.claude.com/docs/en/api/migration-2026-10-21
"""


def api_version(target: Target[AnthropicQuirks]) -> str | None:
    """What the `anthropic-version` header says, if there is one."""
    default = target.quirks.api_version
    return None if default is None else target.settings.get("api_version", default)


def render_params(target: Target[AnthropicQuirks], call: Call) -> Body:
    """`max_tokens`, `stop_sequences` and the sampling parameters."""
    params, name = call.params, f"{target.endpoint.key}.{target.model}"
    if params.seed is not None:
        raise UnsupportedOptionError(f"{name} takes no seed; leave it out.")
    body: Body = {"max_tokens": params.max_tokens or target.quirks.max_tokens}
    if params.stop_sequences is not None:
        body["stop_sequences"] = list(params.stop_sequences)
    sampling = {
        key: value
        for key in ("temperature", "top_p", "top_k")
        if (value := getattr(params, key)) is not None
    }
    if sampling:
        _check_sampling(target, ", ".join(sampling), name)
    return body | sampling


def _check_sampling(target: Target[AnthropicQuirks], given: str, name: str) -> None:
    if not target.quirks.sampling:
        raise UnsupportedOptionError(f"{name} takes no {given}; leave it out, or steer by effort.")
    version = api_version(target)
    if version is not None and version >= WITHOUT_SAMPLING:
        raise UnsupportedOptionError(
            f"{name} takes no {given} under api_version {version}; leave it out, or set "
            "api_version='2023-06-01'."
        )


def render_effort(target: Target[AnthropicQuirks], call: Call) -> Body:
    """`output_config.effort`; `none` switches thinking off."""
    effort, quirks = call.params.effort, target.quirks
    if effort is None:
        return {}
    if effort == "none" and quirks.thinking_off is not None:
        return {"thinking": {"type": quirks.thinking_off}}
    if effort in quirks.efforts:
        return {"output_config": {"effort": effort}}
    name = f"{target.endpoint.key}.{target.model}"
    if not quirks.efforts:
        raise UnsupportedOptionError(
            f"{name} has no effort {effort!r}; leave it out, or give a thinking budget: "
            "extra_body={'thinking': {'type': 'enabled', 'budget_tokens': 4096}}."
        )
    raise UnsupportedOptionError(
        f"{name} has no effort {effort!r}; use one of {', '.join(quirks.efforts)}."
    )


def thinking_type(call: Call) -> str | None:
    """The `thinking.type` the caller asked for in `extra_body`, if any."""
    thinking = (call.extra_body or {}).get("thinking")
    found = thinking.get("type") if isinstance(thinking, Mapping) else None
    return found if isinstance(found, str) else None
