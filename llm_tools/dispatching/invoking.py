"""One call of one function: where it runs, how long it may, and what its end means."""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import isawaitable
from time import perf_counter
from typing import Any

import anyio
from anyio import CancelScope, CapacityLimiter, to_thread
from msgspec import Struct
from msgspec.structs import replace

from ..callables import CallableExecutor
from ..content import FunctionResult, OutputResultFunctionUse
from ..rendering import canonical_json
from . import outcomes


class _Memory(Struct):
    """The first call of its kind: others wait for its result."""

    done: anyio.Event
    result: FunctionResult | None = None


class Memo:
    """Results of `idempotent` functions within one run."""

    __slots__ = ("_memories",)

    def __init__(self) -> None:
        self._memories: dict[tuple[str, bytes], _Memory] = {}

    async def recall(self, call: OutputResultFunctionUse, run: Callable[[], Any]) -> FunctionResult:
        """The result of an equal call made before, or of `run` now; failures are not kept."""
        key = (call.name, canonical_json(call.input))
        memory = self._memories.get(key)
        if memory is not None:
            await memory.done.wait()
            if memory.result is not None:
                return replace(memory.result, function_id=call.function_id, duration=0.0)
        memory = self._memories[key] = _Memory(anyio.Event())
        try:
            result: FunctionResult = await run()
            if result.is_error:
                self._memories.pop(key, None)
            else:
                memory.result = result
        finally:
            memory.done.set()
        return result


class Runner:
    """Runs functions for one dispatcher."""

    __slots__ = ("_max_threads", "_memo", "_threads", "_timeout")

    def __init__(self, max_threads: int, timeout: float | None, memo: Memo | None) -> None:
        self._max_threads = max(1, max_threads)
        self._threads: CapacityLimiter | None = None
        self._timeout = timeout
        self._memo = memo

    async def check_input(
        self, function: CallableExecutor, call: OutputResultFunctionUse
    ) -> str | None:
        """What is wrong with the input, by its schema and by the function's own check."""
        try:
            problem = function.validate(call.input)
            return await problem if isawaitable(problem) else problem
        except Exception as error:  # noqa: BLE001 - a caller's handler may raise anything
            return outcomes.error_text(error)

    async def run(
        self, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> FunctionResult:
        """The call's one result; only cancellation and the program's end leave it."""
        if self._memo is not None and function.settings.idempotent:
            return await self._memo.recall(call, lambda: self._attempt(call, function))
        return await self._attempt(call, function)

    async def _attempt(
        self, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> FunctionResult:
        result = await self._once(call, function)
        for _ in range(function.settings.retries):
            if not result.is_error:
                break
            result = await self._once(call, function)
        return result

    async def _once(
        self, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> FunctionResult:
        settings = function.settings
        seconds = settings.timeout if settings.timeout is not None else self._timeout
        began = perf_counter()
        scope: CancelScope | None = None
        try:
            if seconds is None:
                value = await self._invoke(call, function)
            else:
                with anyio.move_on_after(seconds) as scope:
                    value = await self._invoke(call, function)
                if scope.cancelled_caught:
                    in_thread = not function.is_async and settings.isolation == "thread"
                    spent = perf_counter() - began
                    return outcomes.timed_out(call, seconds, spent, in_thread=in_thread)
            return outcomes.success(call, value, perf_counter() - began, settings.max_result_bytes)
        except Exception as error:  # noqa: BLE001 - whatever a function raises is its result
            return outcomes.failure(call, error, perf_counter() - began)
        except anyio.get_cancelled_exc_class() as cancelled:
            if anyio.current_effective_deadline() == -math.inf:
                raise
            # Nobody cancelled us: the function raised it by itself.
            own = RuntimeError(f"{call.name} raised {type(cancelled).__name__} by itself")
            return outcomes.failure(call, own, perf_counter() - began)

    async def _invoke(self, call: OutputResultFunctionUse, function: CallableExecutor) -> Any:
        if function.is_async:
            return await function.invoke(call.input)
        if function.settings.isolation == "process":
            return await _in_process(function, call.input)
        if self._threads is None:
            self._threads = CapacityLimiter(self._max_threads)
        value = await to_thread.run_sync(
            function.invoke_sync, call.input, abandon_on_cancel=True, limiter=self._threads
        )
        return await value if isawaitable(value) else value


async def _in_process(function: CallableExecutor, value: dict[str, Any]) -> Any:
    """In a worker process, which is killed on timeout or cancellation; no context variables."""
    from anyio import to_process

    module, name = function.qualified_name
    return await to_process.run_sync(_call_by_name, module, name, value, cancellable=True)


def _call_by_name(module: str, name: str, value: dict[str, Any]) -> Any:
    """In the worker: find the function by its name, through the decorator that took it."""
    from importlib import import_module
    from operator import attrgetter

    from ..callables import as_callable

    function = as_callable(attrgetter(name)(import_module(module)))
    if function is None:
        raise LookupError(f"{module}.{name} is no function")
    return function.invoke_sync(value)
