"""Parameters of a call on the Responses wire; what it cannot take is refused by name."""

from __future__ import annotations

from ...errors import UnsupportedOptionError
from ...spec import Body, Params, Target
from .quirks import ResponsesQuirks

_ABSENT = ("stop_sequences", "top_k", "seed")
_SAMPLING = ("temperature", "top_p")


def encode_parameters(
    target: Target[ResponsesQuirks], params: Params, *, has_functions: bool
) -> Body:
    """The body's share of the parameters.

    Raises:
        UnsupportedOptionError: naming the parameter and a way out.
    """
    _refuse_absent(target, params)
    _refuse_sampling(target, params)
    body: Body = {name: getattr(params, name) for name in _SAMPLING}
    body["max_output_tokens"] = _max_output_tokens(target, params.max_tokens)
    body["reasoning"] = _reasoning(target, params.effort)
    if has_functions:
        body["parallel_tool_calls"] = params.parallel_function_calls
    return {name: value for name, value in body.items() if value is not None}


def _refuse_absent(target: Target[ResponsesQuirks], params: Params) -> None:
    key = target.endpoint.key
    if params.parallel_function_calls is False and not target.quirks.parallel_off:
        raise UnsupportedOptionError(
            f"{key} cannot be held to one call at a time: leave parallel_function_calls out."
        )
    for name in _ABSENT:
        if getattr(params, name) not in (None, ()):
            raise UnsupportedOptionError(
                f"{key}.{target.endpoint.protocol}.v1 has no {name}: leave it out, or see whether "
                f"{key}.chat.v1 takes it."
            )


def _refuse_sampling(target: Target[ResponsesQuirks], params: Params) -> None:
    quirks = target.quirks
    if not quirks.reasons(params.effort):
        return
    for name in _SAMPLING:
        if getattr(params, name) is not None:
            off = "leave it out" if quirks.reasoning == "always" else "use effort='none'"
            raise UnsupportedOptionError(f"{target.model} takes no {name} while it reasons: {off}.")


def _max_output_tokens(target: Target[ResponsesQuirks], max_tokens: int | None) -> int | None:
    least = target.quirks.min_output_tokens
    if max_tokens is not None and max_tokens < least:
        raise UnsupportedOptionError(
            f"max_tokens={max_tokens} is below what {target.endpoint.key} takes on its Responses "
            f"endpoint: use at least {least}."
        )
    return max_tokens


def _reasoning(target: Target[ResponsesQuirks], effort: str | None) -> Body | None:
    if effort is None:
        return None
    if not target.quirks.takes_effort:
        raise UnsupportedOptionError(f"{target.model} takes no effort: leave it out.")
    if target.quirks.reasoning == "always" and effort == "none":
        raise UnsupportedOptionError(
            f"{target.model} always reasons and takes no effort='none': use 'low' or leave it out."
        )
    return {"effort": effort}
