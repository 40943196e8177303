"""Takes calls one at a time and runs them side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import TracebackType

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from ..callables import CallableExecutor
from ..content import FunctionResult, OutputResultFunctionUse
from . import outcomes
from .admitting import Admission, Admitted, DispatchOptions, check_input
from .cancelling import is_cancellation
from .executing import Runner

_BREATH = 32  # calls admitted before the loop gets its turn


class Dispatcher:
    """Runs calls as they are submitted; made by `open_dispatcher`.

    Attributes:
        calls: what was submitted, in order.
        outcomes: their results in the same order, None where there is none (yet).
        deferred: calls whose approval was put off; they get no result.
    """

    def __init__(
        self,
        offered: Mapping[str, CallableExecutor | None],
        tasks: TaskGroup,
        options: DispatchOptions,
    ) -> None:
        self._admission = Admission(offered, options)
        self._runner = Runner(options.timeout, options.memo)
        self._room = options.max_concurrency
        self._on_result = options.on_result
        self._tasks = tasks
        self._admitting = False
        self._next = 0
        self._given: deque[FunctionResult | None] = deque()
        self._ready: deque[tuple[int, Admitted]] = deque()
        self._running = 0
        self._one_ended = anyio.Event()
        self._fatal: dict[int, BaseException] = {}
        self.calls: list[OutputResultFunctionUse] = []
        self.outcomes: list[FunctionResult | None] = []
        self.deferred: list[OutputResultFunctionUse] = []

    @property
    def results(self) -> list[FunctionResult]:
        """What has come so far, in call order."""
        return [result for result in self.outcomes if result is not None]

    def submit(self, call: OutputResultFunctionUse, result: FunctionResult | None = None) -> None:
        """Take a call: it starts once it is valid, approved, and there is room, in this order.

        Args:
            result: the call's result, where it is not to run.
        """
        self._given.append(result)
        self.settle(call, None)
        if not self._admitting:
            self._admitting = True
            self._tasks.start_soon(self._admit_all)

    def settle(self, call: OutputResultFunctionUse, result: FunctionResult | None) -> None:
        """Take a call whose result is known already, and was told."""
        self.calls.append(call)
        self.outcomes.append(result)

    async def _admit_all(self) -> None:
        """Admit what was submitted, one call after the other, until there is no more."""
        while self._next < len(self.calls):
            index = self._next
            self._next += 1
            if self.outcomes[index] is None:
                try:
                    await self._admit(index, self.calls[index], self._given.popleft())
                except BaseException as error:  # noqa: BLE001 - raised again by raise_fatal
                    self._end(index, error)
                    return
            if self._next % _BREATH == 0:
                await checkpoint()
        self._admitting = False

    async def _admit(
        self, index: int, call: OutputResultFunctionUse, result: FunctionResult | None
    ) -> None:
        admitted = result or await self._admission.admit(call)
        if isinstance(admitted, FunctionResult):
            await self._finish(index, admitted)
        elif admitted is None:
            self.deferred.append(call)
        else:
            await self._start(index, admitted)

    async def _finish(self, index: int, result: FunctionResult) -> None:
        self.outcomes[index] = result
        if self._on_result is not None:
            await self._on_result(result)

    async def _start(self, index: int, admitted: Admitted) -> None:
        alone = admitted.function.settings.sequential
        await self._fewer_than(1 if alone else self._room)
        self._running += 1
        self._ready.append((index, admitted))
        self._tasks.start_soon(self._run_next)
        if alone:
            await self._fewer_than(1)

    async def _fewer_than(self, count: int) -> None:
        """Wait until fewer calls than this run."""
        while self._running >= count:
            self._one_ended = anyio.Event()
            await self._one_ended.wait()

    async def _run_next(self) -> None:
        """Run the call that waits longest: a loop may begin the tasks of one step in any order."""
        index, admitted = self._ready.popleft()
        try:
            await self._finish(index, await self._run(admitted))
        except BaseException as error:  # noqa: BLE001 - raised again by raise_fatal
            self._end(index, error)
        finally:
            self._running -= 1
            self._one_ended.set()

    async def _run(self, admitted: Admitted) -> FunctionResult:
        call, function = admitted.call, admitted.function
        problem = None if admitted.checked else await check_input(function, call)
        if problem is not None:
            return outcomes.bad_input(call, problem)
        return await self._runner.run(call, function)

    def _end(self, index: int, error: BaseException) -> None:
        """End the dispatch by what left a call; a cancellation simply leaves."""
        if is_cancellation(error):
            raise error
        self._fatal[index] = _unwrapped(error)
        self._tasks.cancel_scope.cancel()

    def raise_fatal(self) -> None:
        """Raise what ended the dispatch: the first in call order, the others as its notes."""
        if self._fatal:
            first, *others = [self._fatal[index] for index in sorted(self._fatal)]
            for other in others:
                first.add_note(f"also raised in the same batch: {outcomes.error_text(other)}")
            raise first


def _unwrapped(error: BaseException) -> BaseException:
    """The exception that ends the program, out of the groups a function's own tasks put it in."""
    while isinstance(error, BaseExceptionGroup):
        ending = [one for one in error.exceptions if not isinstance(one, Exception)]
        error = ending[0] if ending else error.exceptions[0]
    return error


class open_dispatcher:  # noqa: N801 - used like the function it replaces
    """A dispatcher whose calls have all ended when the block does: `async with`.

    Leaving the block by an exception, or being cancelled, cancels what runs and waits for it.
    """

    __slots__ = ("_dispatcher", "_offered", "_options", "_tasks")

    def __init__(
        self, offered: Mapping[str, CallableExecutor | None], options: DispatchOptions
    ) -> None:
        self._offered = offered
        self._options = options

    async def __aenter__(self) -> Dispatcher:
        self._tasks = anyio.create_task_group()
        self._dispatcher = Dispatcher(self._offered, self._tasks, self._options)
        await self._tasks.__aenter__()
        return self._dispatcher

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        # What was raised in the block leaves as itself and not in a group.
        failed = isinstance(error, Exception | KeyboardInterrupt | SystemExit)
        if failed:
            self._tasks.cancel_scope.cancel()
        given = (None, None, None) if failed else (kind, error, traceback)
        try:
            caught = await self._tasks.__aexit__(*given)
        finally:
            self._dispatcher.raise_fatal()
        return None if failed else caught
