"""Functions and the choice among them: one fragment, for the two depend on each other."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...content import JSON, OutputResultFunctionUse, ResultWarning
from ...errors import ConfigurationError, UnsupportedOptionError
from ...functions.choice import FunctionChoice
from ...functions.definitions import FunctionDefinition, FunctionSet
from ...functions.preparing import PreparedFunction, PreparedFunctions, prepare_functions
from ...functions.subsets import WireRules
from ...rendering import own, parts_of
from ...spec import Body, Call, Target
from .emulating import NO_PARAMETERS
from .quirks import ChatQuirks

_NO_FUNCTIONS = FunctionSet(())
_FRAGMENT = "openai_chat"


class Offer(Struct, frozen=True, kw_only=True):
    """What goes out of the functions.

    `names` has every function that may be named in the request or the answer; `sent` those on
    the wire; `stands_in` those whose call the answer's text is to be.
    """

    names: PreparedFunctions
    body: Body
    sent: PreparedFunctions | None = None
    stands_in: PreparedFunctions | None = None
    forced: bool = False
    path: str | None = None
    warnings: tuple[ResultWarning, ...] = ()


def offer_functions(target: Target[ChatQuirks], call: Call) -> Offer:
    """The functions, the choice and the parallel switch.

    Raises:
        ConfigurationError: `parallel_function_calls=False` where the wire cannot say it.
        UnsupportedOptionError: the host or model takes no functions, or no forced call.
    """
    if call.params.parallel_function_calls is False and not target.quirks.parallel:
        raise ConfigurationError(
            f"{target.endpoint.key} cannot be held to one call at a time: leave "
            "parallel_function_calls out, or run the calls one after the other with "
            "max_concurrency=1."
        )
    if call.functions is None:
        return _offer_nothing(target, call)
    names, path = _prepare(target, call, call.functions)
    choice = call.choice or FunctionChoice("auto")
    if choice.mode == "none" and not _says_none(target, call):
        return Offer(names=names, body={})
    _check_taken(target, call, choice)
    if choice.forced and _must_stand_in(target.quirks, choice):
        return _offer_stand_in(target, call.functions, names, choice)
    sent, subset_warnings = _narrow(target, call, names, choice)
    body: Body = {"tools": sent.fragment(_FRAGMENT, render_function)}
    if call.choice is not None:
        body["tool_choice"] = _render_choice(target.quirks, names, choice)
    if target.quirks.parallel and call.params.parallel_function_calls is not None:
        body["parallel_tool_calls"] = call.params.parallel_function_calls
    return Offer(
        names=names,
        body=body,
        sent=sent,
        forced=choice.forced,
        path=path,
        warnings=(*names.warnings, *subset_warnings),
    )


def render_function(function: PreparedFunction) -> JSON:
    """A function's definition on the wire."""
    definition: dict[str, JSON] = {"name": function.wire_name}
    if function.definition.description:
        definition["description"] = function.definition.description
    definition["parameters"] = function.schema or NO_PARAMETERS
    if function.strict:
        definition["strict"] = True
    return {"type": "function", "function": definition}


def _offer_nothing(target: Target[ChatQuirks], call: Call) -> Offer:
    """No functions, unless the host wants definitions for the calls in the history."""
    rules = WireRules(plain=target.quirks.plain)
    names = prepare_functions(_NO_FUNCTIONS, rules, strict=False)
    if not target.quirks.functions_with_history:
        return Offer(names=names, body={})
    called = _called_in_history(call)
    if not called:
        return Offer(names=names, body={})
    definitions = [FunctionDefinition(name=name) for name in called]
    names = prepare_functions(FunctionSet(definitions), rules, strict=False)
    detail = f"Definitions were rebuilt from the history: {', '.join(called)}."
    return Offer(
        names=names,
        body={"tools": names.fragment(_FRAGMENT, render_function), "tool_choice": "none"},
        sent=names,
        warnings=(ResultWarning(code="functions_rebuilt", detail=detail),),
    )


def _called_in_history(call: Call) -> list[str]:
    calls = [
        part.name
        for message in call.messages
        if message.role == "assistant"
        for part in parts_of(message)
        if isinstance(part, OutputResultFunctionUse)
    ]
    return list(dict.fromkeys(calls))


def _prepare(
    target: Target[ChatQuirks], call: Call, functions: FunctionSet
) -> tuple[PreparedFunctions, str | None]:
    """The functions made legal, and the path of the request where strict ones have their own."""
    quirks = target.quirks
    rules = WireRules(plain=quirks.plain, strict=quirks.strict)
    prepared = prepare_functions(functions, rules, strict=call.strict)
    if not quirks.strict_prefix or not any(item.strict for item in prepared.items):
        return prepared, None
    usual = target.endpoint.base_url
    base_url = target.settings.get("base_url", usual or "").rstrip("/")
    if base_url.endswith(quirks.strict_prefix):
        return prepared, None
    if base_url == usual:
        return prepared, quirks.strict_prefix + target.dialect.path
    return prepare_functions(functions, WireRules(plain=quirks.plain), strict=True), None


def _says_none(target: Target[ChatQuirks], call: Call) -> bool:
    """Whether `none` goes out as a word; elsewhere the functions are left out, which is as good."""
    quirks = target.quirks
    return quirks.choice != "absent" and _takes_functions(quirks, call)


def _takes_functions(quirks: ChatQuirks, call: Call) -> bool:
    effort = call.params.effort
    match quirks.functions:
        case "native":
            return True
        case "no_effort":
            return effort in (None, "none")
        case "effort_none":
            return effort == "none"
        case _:
            return False


def _check_taken(target: Target[ChatQuirks], call: Call, choice: FunctionChoice) -> None:
    quirks, key, model = target.quirks, target.endpoint.key, target.model
    if not _takes_functions(quirks, call):
        raise UnsupportedOptionError(_no_functions(quirks, key, model))
    if choice.forced and quirks.forced == "refused":
        raise UnsupportedOptionError(
            f"{key} takes no forced call for {model}, which always thinks: use "
            "function_call='auto', or another model."
        )


def _no_functions(quirks: ChatQuirks, key: str, model: str) -> str:
    if quirks.functions == "refused":
        return f"{key} takes no functions: use json_schema, or another endpoint for calls."
    elsewhere = f"use {key}.responses.v1 with model={model!r}"
    if quirks.functions == "responses":
        return f"{model} takes no functions on {key}.chat.v1: {elsewhere}."
    return (
        f"{model} takes no functions on {key}.chat.v1 while it reasons: {elsewhere}, or set "
        "effort='none'."
    )


def _must_stand_in(quirks: ChatQuirks, choice: FunctionChoice) -> bool:
    """Whether the wire has no word for this forced call."""
    if quirks.choice == "named":
        return choice.named is None
    return quirks.choice == "absent"


def _offer_stand_in(
    target: Target[ChatQuirks],
    functions: FunctionSet,
    names: PreparedFunctions,
    choice: FunctionChoice,
) -> Offer:
    chosen = _only(functions, names, choice.names)
    detail = (
        f"{target.endpoint.key} cannot be told to make a call: the answer was asked for as JSON "
        "that stands for it."
    )
    return Offer(
        names=names,
        body={},
        stands_in=chosen,
        warnings=(
            *names.warnings,
            ResultWarning(code="function_call_emulated", detail=detail),
        ),
    )


def _narrow(
    target: Target[ChatQuirks], call: Call, names: PreparedFunctions, choice: FunctionChoice
) -> tuple[PreparedFunctions, tuple[ResultWarning, ...]]:
    """The functions to send: those the choice names, where the wire cannot name them itself."""
    quirks = target.quirks
    named_on_wire = choice.named is not None and quirks.choice != "string"
    if choice.names is None or named_on_wire or (quirks.allowed_tools and choice.named is None):
        return names, ()
    listed = ", ".join(choice.names)
    if _is_signed(call, target.replay_key):
        detail = (
            f"All functions went out, for the history holds reasoning signed over them; the answer "
            f"is checked against {listed}."
        )
        return names, (ResultWarning(code="subset_checked", detail=detail),)
    assert call.functions is not None  # noqa: S101 - there is a choice among them
    detail = f"Only these functions went out: {listed}."
    warning = ResultWarning(code="subset_filtered", detail=detail)
    return _only(call.functions, names, choice.names), (warning,)


def _only(
    functions: FunctionSet, prepared: PreparedFunctions, names: tuple[str, ...] | None
) -> PreparedFunctions:
    """Some of the functions, under the wire names they have among all; made once."""
    if names is None:
        return prepared
    return functions.cached(
        (_FRAGMENT, prepared, names),
        lambda: PreparedFunctions(
            tuple(item for item in prepared.items if item.definition.name in names)
        ),
    )


def _is_signed(call: Call, replay_key: str) -> bool:
    """Whether the history holds reasoning of this host's that may be bound to the functions."""
    return any(
        _has_signature(own(part, replay_key))
        for message in call.messages
        if message.role == "assistant"
        for part in parts_of(message)
        if hasattr(part, "provider_metadata")
    )


def _has_signature(kept: dict[str, Any] | None) -> bool:
    if not kept:
        return False
    blocks = [*(kept.get("details") or ()), kept.get("chunk")]
    return any(
        bool(block.get("signature") or block.get("data"))
        for block in blocks
        if isinstance(block, dict)
    )


def _render_choice(quirks: ChatQuirks, names: PreparedFunctions, choice: FunctionChoice) -> JSON:
    mode = "required" if choice.forced else choice.mode
    if choice.named is not None and quirks.choice != "string":
        return _reference(names, choice.named)
    if choice.subset is not None and quirks.allowed_tools:
        tools = [_reference(names, name) for name in choice.subset]
        return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}
    return mode


def _reference(names: PreparedFunctions, name: str) -> JSON:
    return {"type": "function", "function": {"name": names.wire_name(name)}}
