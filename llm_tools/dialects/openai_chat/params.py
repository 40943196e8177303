"""The parameters of a call, in the host's words, and whether the model reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...content import ResultWarning
from ...errors import ConfigurationError, UnsupportedOptionError
from ...spec import Body, Call, Target
from .quirks import ChatQuirks

SAMPLING = ("temperature", "top_p")


class Reasoning(NamedTuple):
    """Whether the model reasons, whether the caller asked for it, and how the body says so."""

    on: bool
    asked: bool
    body: Body
    warnings: tuple[ResultWarning, ...] = ()


def render_params(
    target: Target[ChatQuirks], call: Call, reasoning: Reasoning
) -> tuple[Body, tuple[ResultWarning, ...]]:
    """The parameters but the effort and the parallel switch.

    Raises:
        ConfigurationError: one the host or model does not take.
    """
    quirks, params = target.quirks, call.params
    for name in params.given():
        if name in quirks.refused:
            raise ConfigurationError(_refusal(target, name))
    body: Body = {
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        quirks.max_tokens: params.max_tokens,
        "stop": list(params.stop_sequences) if params.stop_sequences else None,
        quirks.seed: params.seed,
    }
    sampling = [name for name in SAMPLING if body[name] is not None]
    warnings = _check_sampling(target, sampling) if reasoning.on and sampling else ()
    return {name: value for name, value in body.items() if value is not None}, warnings


def decide_reasoning(
    target: Target[ChatQuirks], call: Call, *, forced: bool, history_lacks_reasoning: bool
) -> Reasoning:
    """Whether the model is to reason in this call.

    Args:
        target: where the call goes.
        call: what the caller asked.
        forced: the host is told to make a call.
        history_lacks_reasoning: a turn with calls comes without the host's own reasoning.

    Raises:
        UnsupportedOptionError: reasoning was asked for, and the host refuses a forced call then.
    """
    quirks = target.quirks
    asked = _asked(call)
    on = quirks.reasons if asked is None else asked
    impossible = forced and quirks.forced == "without_thinking"
    if on and impossible and asked:
        raise UnsupportedOptionError(
            f"{target.endpoint.key} takes no forced call while {target.model} thinks: leave "
            "effort out (then thinking is switched off for this call) or use "
            "function_call='auto'."
        )
    if not asked and quirks.thinking and (impossible or history_lacks_reasoning):
        return _switched_off(on=on, impossible=impossible)
    body, warnings = _render_effort(quirks, call.params.effort)
    return Reasoning(on, bool(asked), body, warnings)


def _switched_off(*, on: bool, impossible: bool) -> Reasoning:
    """No reasoning, said aloud: a model that does not reason by itself takes this as well."""
    reason = (
        "a forced call is refused while the model thinks"
        if impossible
        else "the history holds calls without the thoughts the provider wants back"
    )
    detail = f"Thinking was switched off: {reason}."
    warnings = (ResultWarning(code="thinking_switched_off", detail=detail),) if on else ()
    return Reasoning(False, False, {"thinking": {"type": "disabled"}}, warnings)


def _asked(call: Call) -> bool | None:
    """Whether the caller wants reasoning; None where nothing was said."""
    switch = (call.extra_body or {}).get("thinking")
    if isinstance(switch, Mapping) and "type" in switch:
        return bool(switch["type"] != "disabled")
    return None if call.params.effort is None else call.params.effort != "none"


def _render_effort(
    quirks: ChatQuirks, effort: str | None
) -> tuple[Body, tuple[ResultWarning, ...]]:
    if effort is None:
        return {}, ()
    if quirks.thinking and effort == "none":
        return {"thinking": {"type": "disabled"}}, ()
    word = quirks.efforts.get(effort, effort)
    body: Body = {"thinking": {"type": "enabled"}} if quirks.thinking else {}
    match quirks.effort:
        case "reasoning_effort":
            body["reasoning_effort"] = word
        case "reasoning":
            body["reasoning"] = {"effort": word}
        case _:
            body["chat_template_kwargs"] = {"reasoning_effort": word}
    if word == effort:
        return body, ()
    detail = f"The effort {effort!r} went out as {word!r}, the nearest the provider has."
    return body, (ResultWarning(code="effort_mapped", detail=detail),)


def _check_sampling(target: Target[ChatQuirks], names: list[str]) -> tuple[ResultWarning, ...]:
    listed = " and ".join(names)
    match target.quirks.sampling:
        case "refused":
            raise ConfigurationError(
                f"{target.model} takes no {listed} while it reasons: leave {listed} out, or set "
                "effort='none' if the model has it."
            )
        case "ignored":
            detail = f"{target.model} ignores {listed} while it thinks."
            return (ResultWarning(code="parameter_ignored", detail=detail),)
        case _:
            return ()


def _refusal(target: Target[ChatQuirks], name: str) -> str:
    return (
        f"{target.endpoint.key} takes no {name} for {target.model}: leave it out, or pass what the "
        "provider calls it in extra_body."
    )
