"""How a function is run: its own limits and habits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from msgspec import Struct

from ..errors import ConfigurationError
from ..given import check_name, check_switch, hint

Isolation = Literal["thread", "process"]


class FunctionSettings(Struct, frozen=True, kw_only=True):
    """What `dispatch` and `run` obey for one function.

    Attributes:
        timeout: seconds for each attempt, once it runs; None is the limit of the caller.
        sequential: never beside another call of the same dispatch.
        max_concurrency: how many calls of it at once, in the whole process.
        group: functions of one group never run at the same time, in the whole process. Here and
            for `max_concurrency`, a call that timed out counts until its thread has ended.
        requires_approval: never without an `approve` that says yes.
        retries: how often a failed call is made again; not one with wrong input, nor one whose
            thread is still at it.
        max_result_bytes: a longer result is shortened for the model.
        isolation: where a sync function runs: a worker thread, or a process that can be killed.
        repeatable: equal calls with equal results do not end a run.
        idempotent: equal calls within a run are made once.
    """

    timeout: float | None = None
    sequential: bool = False
    max_concurrency: int | None = None
    group: str | None = None
    requires_approval: bool = False
    retries: int = 0
    max_result_bytes: int | None = None
    isolation: Isolation = "thread"
    repeatable: bool = False
    idempotent: bool = False


class FunctionOptions(TypedDict, total=False):
    """The settings of a function as keywords; see `FunctionSettings`."""

    timeout: float | None
    sequential: bool
    max_concurrency: int | None
    group: str | None
    requires_approval: bool
    retries: int
    max_result_bytes: int | None
    isolation: Isolation
    repeatable: bool
    idempotent: bool


def read_settings(options: Mapping[str, Any], owner: str) -> FunctionSettings:
    """Settings from keywords.

    Raises:
        ConfigurationError: an unknown keyword, or a value out of range.
    """
    known = FunctionSettings.__struct_fields__
    for name in options:
        if name not in known:
            raise ConfigurationError(f"{owner} has no option {name!r}. {hint(name, known)}")
    settings = FunctionSettings(**options)
    _check_numbers(settings, owner)
    for name in _SWITCHES:
        check_switch(f"{owner}: {name}", getattr(settings, name))
    if settings.group is not None:
        check_name(f"{owner}: group", settings.group)
    if settings.isolation not in ("thread", "process"):
        raise ConfigurationError(
            f"{owner}: isolation must be 'thread' or 'process', got {settings.isolation!r}."
        )
    return settings


def _check_numbers(settings: FunctionSettings, owner: str) -> None:
    for name, least in _LEAST.items():
        value = getattr(settings, name)
        if value is None and name != "retries":
            continue
        if not isinstance(value, int) or not _is_number_from(value, least):
            raise ConfigurationError(
                f"{owner}: {name} must be a whole number of at least {least}, got {value!r}."
            )
    if settings.timeout is not None and not _is_number_from(settings.timeout, 1e-9):
        raise ConfigurationError(
            f"{owner}: timeout must be seconds above zero, got {settings.timeout!r}."
        )


_SWITCHES = ("sequential", "requires_approval", "repeatable", "idempotent")
_LEAST = {"max_concurrency": 1, "retries": 0, "max_result_bytes": 1}


def _is_number_from(value: Any, least: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= least
