"""One call of one function: where it runs, how long it may, and what its end means."""

from __future__ import annotations

import math
from inspect import isawaitable
from time import perf_counter
from typing import Any

import anyio
from anyio import CapacityLimiter

from ..callables import CallableExecutor
from ..content import FunctionResult, OutputResultFunctionUse
from ..errors import FunctionInputError
from . import outcomes
from .cancelling import own_fault
from .holding import has_gates, pass_gates
from .memory import Memo
from .starting import Line
from .threads import ThreadCall


class Runner:
    """Runs functions for one dispatcher.

    Args:
        timeout: seconds for each function that has no timeout of its own.
        memo: results of idempotent functions so far.
    """

    __slots__ = ("_memo", "_threads", "_timeout", "line")

    def __init__(self, timeout: float | None, memo: Memo | None) -> None:
        self.line: Line = Line()
        self._threads: CapacityLimiter | None = None
        self._timeout = timeout
        self._memo = memo

    async def run(
        self, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> FunctionResult:
        """The call's one result; only cancellation and the program's end leave it."""
        timeout = function.settings.timeout
        execution = _Execution(call, function, self, self._timeout if timeout is None else timeout)
        if self._memo is not None and function.settings.idempotent:
            return await self._memo.recall(call, execution.result)
        return await execution.result()

    @property
    def threads(self) -> CapacityLimiter:
        """No limit: how many run is the dispatcher's matter.

        A call that had to wait for a thread would hold up those that wait for it to start.
        """
        if self._threads is None:
            self._threads = CapacityLimiter(math.inf)
        return self._threads


class _Execution:
    """One call on its way to its result."""

    __slots__ = ("_began", "_call", "_function", "_runner", "_seconds", "_thread")

    def __init__(
        self,
        call: OutputResultFunctionUse,
        function: CallableExecutor,
        runner: Runner,
        seconds: float | None,
    ) -> None:
        self._call = call
        self._function = function
        self._runner = runner
        self._seconds = seconds
        self._thread: ThreadCall | None = None
        self._began = perf_counter()

    async def result(self) -> FunctionResult:
        """The one result, once the function's group and limit let it run."""
        if not has_gates(self._function):
            return await self._attempts()
        hold = await pass_gates(self._function, self._seconds)
        if hold is None:
            return outcomes.held_up(self._call, self._seconds, self._spent)
        self._began = perf_counter()
        try:
            return await self._attempts()
        finally:
            hold.release_after(self._thread)

    async def _attempts(self) -> FunctionResult:
        result = await self._attempt()
        for _ in range(self._function.settings.retries):
            if not result.is_error or not self._may_repeat(result.error):
                break
            result = await self._attempt()
        return result

    def _may_repeat(self, error: Exception | None) -> bool:
        """Not what fails alike each time, nor beside a thread that is still at it."""
        still_running = self._thread is not None and self._thread.running
        return not still_running and not isinstance(error, FunctionInputError)

    async def _attempt(self) -> FunctionResult:
        try:
            if self._function.settings.isolation == "process":
                from .processes import ready_process

                async with ready_process():
                    return await self._in_time()
            return await self._in_time()
        except BaseException as error:  # noqa: BLE001 - whatever a function raises is its result
            return self._failure(await own_fault(error, self._call.name))

    async def _in_time(self) -> FunctionResult:
        value: Any = None
        if self._seconds is None:
            value = await self._invoke()
        else:
            with anyio.move_on_after(self._seconds) as scope:
                value = await self._invoke()
            if scope.cancelled_caught:
                running = self._thread is not None and self._thread.running
                return outcomes.timed_out(self._call, self._seconds, self._spent, running=running)
        longest = self._function.settings.max_result_bytes
        return outcomes.success(self._call, value, self._spent, longest)

    async def _invoke(self) -> Any:
        function, runner = self._function, self._runner
        if function.is_async:
            return await function.invoke(self._call.input)
        if function.settings.isolation == "process":
            from .processes import call_in_process

            return await call_in_process(function, self._call.input)
        self._thread = ThreadCall(function, self._call.input, runner.line.join())
        value = await self._thread.run(runner.threads)
        return await value if isawaitable(value) else value

    def _failure(self, error: Exception) -> FunctionResult:
        longest = self._function.settings.max_result_bytes
        return outcomes.failure(self._call, error, self._spent, max_bytes=longest)

    @property
    def _spent(self) -> float:
        return perf_counter() - self._began
