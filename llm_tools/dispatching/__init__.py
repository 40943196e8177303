"""Running the calls of an answer: concurrent, validated, isolated, in call order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ..callables import by_name
from ..content import FunctionResult, OutputResult, OutputResultFunctionUse
from ..history.calls import list_of
from ..history.parts import ALL_PARTS, read_parts
from .admitting import DispatchOptions
from .approval import DEFER, Approve, Decision, Edited, Refused, check_approve
from .dispatcher import Dispatcher, open_dispatcher

__all__ = [
    "DEFER",
    "Approve",
    "Calls",
    "Decision",
    "DispatchOptions",
    "Dispatcher",
    "Edited",
    "Refused",
    "calls_of",
    "check_approve",
    "dispatch",
    "open_dispatcher",
]

Calls: TypeAlias = OutputResult | OutputResultFunctionUse | Iterable[Any]


async def dispatch(
    calls_or_result: Calls,
    functions: Any,
    *,
    max_concurrency: int = 32,
    timeout: float | None = None,
    approve: Approve | None = None,
    input: Any = None,  # noqa: A002 - the word of executors and visibility handlers
) -> list[FunctionResult]:
    """Run the calls of an answer, all at once under a limit; results in call order.

    Args:
        calls_or_result: an `OutputResult`, what `execute()` returned, or calls (dicts in their
            JSON form are read too); anything in it that is no call is passed over.
        functions: what was offered in this call: callables, or a `UseExecutors`. Nothing else
            can run.
        max_concurrency: how many run at once.
        timeout: seconds for each function that has no limit of its own.
        approve: asked before each call, in call order, once its input is valid.
        input: what the prompt was given, for visibility handlers to be asked about as they were
            when the functions were offered; each call's own input if not given.

    Returns:
        One result a call. An exception, an unknown name, bad input, a timeout or a refusal to
        approve is that call's result (`is_error`, `error`) and leaves its siblings alone.

    Raises:
        ConfigurationError: no calls, no functions, an impossible limit, or an `approve` that
            answered something that is no decision.
        KeyboardInterrupt, SystemExit: a function raised it; the first in call order, the others
            are its notes.
    """
    calls = calls_of(calls_or_result)
    offered = by_name(functions)
    options = DispatchOptions(
        max_concurrency=max_concurrency, timeout=timeout, approve=approve, input=input
    )
    async with open_dispatcher(offered, options) as dispatcher:
        for call in calls:
            dispatcher.submit(call)
    return dispatcher.results


def calls_of(source: Calls) -> list[OutputResultFunctionUse]:
    """The calls in what a model answered.

    Raises:
        ConfigurationError: it is no answer, no list, or holds something that is no part of one.
    """
    if isinstance(source, OutputResult):
        return source.function_calls
    alone = isinstance(source, OutputResultFunctionUse | Mapping)
    items = [source] if alone else list_of(source, "calls")
    if not all(map(_is_sound, items)):
        items = list(read_parts(items, ALL_PARTS, "calls"))
    return [item for item in items if type(item) is OutputResultFunctionUse]


def _is_sound(item: Any) -> bool:
    """Whether this is a call as a decoder makes it, which needs no reading."""
    return type(item) is OutputResultFunctionUse and type(item.input) is dict
