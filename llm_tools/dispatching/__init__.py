"""Running the calls of an answer: concurrent, validated, isolated, in call order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ..callables import by_name
from ..content import FunctionResult, OutputResult, OutputResultFunctionUse
from ..history.parts import ALL_PARTS, read_parts
from .approval import DEFER, Approve, Decision, Edited, Refused
from .dispatcher import Dispatcher, DispatchOptions, open_dispatcher

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

    Returns:
        One result a call. An exception, an unknown name, bad input, a timeout or a refusal to
        approve is that call's result (`is_error`, `error`) and leaves its siblings alone.

    Raises:
        KeyboardInterrupt, SystemExit: a function raised it; the first in call order, the others
            are its notes.
    """
    calls, forbidden = calls_of(calls_or_result)
    offered = by_name(functions)
    options = DispatchOptions(
        max_concurrency=max_concurrency, timeout=timeout, approve=approve, forbidden=forbidden
    )
    async with open_dispatcher(offered, options) as dispatcher:
        for call in calls:
            await dispatcher.submit(call)
    return dispatcher.results


def calls_of(source: Calls) -> tuple[list[OutputResultFunctionUse], bool]:
    """The calls, and whether the answer they came in was told to make none."""
    if isinstance(source, OutputResult):
        forbidden = any(warning.code == "forbidden_call" for warning in source.warnings)
        return source.function_calls, forbidden
    if isinstance(source, OutputResultFunctionUse):
        return [source], False
    items = [source] if isinstance(source, Mapping) else list(source)
    parts = read_parts(items, ALL_PARTS, "calls")
    return [part for part in parts if isinstance(part, OutputResultFunctionUse)], False
