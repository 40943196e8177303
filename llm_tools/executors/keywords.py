"""The options of `run`, `stream_run` and `resume`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from ..dialogue import Dialogue, create_dialogue
from ..dispatching import Approve
from ..errors import ConfigurationError
from ..functions.choice import FunctionCall
from ..given import check_switch, hint
from ..loop import ChooseByTurn, KeptOptions, OnEvent, PendingRun, RunLimits
from ..options import LlmOptions


class _Settings(TypedDict, total=False):
    """What a run is told of how to go about it, but for who is told of its events."""

    function_call: FunctionCall | ChooseByTurn
    function_call_strict_input: bool
    json_schema: Any
    function_timeout: float | None
    approve: Approve | None
    max_concurrency: int
    start_early: bool
    share_limits: bool


class _Limits(TypedDict, total=False):
    """How far a run may go."""

    max_turns: int
    max_total_tokens: int | None
    max_seconds: float | None
    max_calls_per_function: int | None


class StreamedRunKeywords(_Settings, _Limits, total=False):
    """The options of `stream_run`: those of `run`, but it has its own way of telling events."""

    dialogue: Dialogue | None
    llm_options: LlmOptions | None
    trace_id: str | None


class RunSettings(_Settings, total=False):
    """The options of `run` that `resume` may change; see `RunKeywords`."""

    on_event: OnEvent | None


class RunKeywords(RunSettings, _Limits, total=False):
    """The options of `run`.

    Attributes:
        function_call: as for `execute`, a forced one for the first turn only; or a function of
            the turn's number (from 0).
        function_call_strict_input: hold the model to the functions' schemas.
        json_schema: the shape of the final text.
        max_turns: requests at most (10).
        max_total_tokens: checked after each turn that does not end the run.
        max_seconds: after which work in flight is cancelled.
        max_calls_per_function: for each function's name.
        function_timeout: seconds for each function without a timeout of its own.
        approve: asked before each call.
        max_concurrency: how many functions run at once (32).
        start_early: stream, and start each function as soon as its call is complete.
        share_limits: inside a function of another run: draw on that run's limits too. Its `turns`
            and `usage` then hold this run's.
        on_event: told every stream event, and every function's result as it comes; makes the run
            stream.
    """


def read_keywords(options: RunKeywords) -> tuple[RunLimits, RunSettings]:
    """The limits and the other options of a run.

    Raises:
        ConfigurationError: an unknown option, or an impossible limit.
    """
    check_known(options, RunKeywords.__optional_keys__, "run()")
    _check_switches(options)
    names = RunLimits.__struct_fields__
    limits: Any = {name: value for name, value in options.items() if name in names}
    settings: Any = {name: value for name, value in options.items() if name not in names}
    return RunLimits(**limits), settings


def _check_switches(options: Mapping[str, Any]) -> None:
    for name in ("function_call_strict_input", "start_early", "share_limits"):
        check_switch(name, options.get(name, False))


def check_known(options: Mapping[str, Any], known: Collection[str], owner: str) -> None:
    """Refuse an option there is none of, with the nearest name.

    Raises:
        ConfigurationError: there is one.
    """
    for name in options:
        if name not in known:
            raise ConfigurationError(f"{owner} has no option {name!r}. {hint(name, sorted(known))}")


def read_dialogue(dialogue: Any, name: str) -> Dialogue:
    """The dialogue that was given, or a new one of that name.

    Raises:
        ConfigurationError: it is none.
    """
    if dialogue is None:
        return create_dialogue(name)
    if isinstance(dialogue, Dialogue):
        return dialogue
    raise ConfigurationError(
        f"dialogue must be what create_dialogue() makes, got {type(dialogue).__name__}; "
        "create_dialogue(…).add_from_history(messages) makes one of messages."
    )


def kept(settings: RunSettings) -> KeptOptions:
    """The settings that another process may be given."""
    choice, schema = settings.get("function_call"), settings.get("json_schema")
    if schema is not None:
        from ..functions.output import normalize_output

        schema = normalize_output(schema).schema
    return KeptOptions(
        function_call=None if callable(choice) else choice,
        function_call_strict_input=settings.get("function_call_strict_input", False),
        json_schema=schema,
        function_timeout=settings.get("function_timeout"),
        max_concurrency=settings.get("max_concurrency", 32),
        start_early=settings.get("start_early", False),
        share_limits=settings.get("share_limits", False),
    )


def settings_of(pending: PendingRun, changes: RunSettings) -> RunSettings:
    """What a pending run was told, with the changes.

    Raises:
        ConfigurationError: an unknown setting.
    """
    check_known(changes, RunSettings.__optional_keys__, "resume()")
    _check_switches(changes)
    stored = {name: getattr(pending.kept, name) for name in KeptOptions.__struct_fields__}
    told: RunSettings = {**stored, **pending.local.get("settings", {}), **changes}  # type: ignore[typeddict-item] # their names are the same
    return told
