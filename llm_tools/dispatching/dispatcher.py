"""Takes calls one at a time and runs them side by side."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import cancel_shielded_checkpoint
from msgspec import Struct
from msgspec.structs import replace

from ..callables import CallableExecutor
from ..content import FunctionResult, OutputResultFunctionUse
from . import outcomes
from .approval import DEFER, Approve, Decision, Edited, ask_approval
from .gate import Gate
from .invoking import Memo, Runner

_groups: dict[str, Gate] = {}
_limits: WeakKeyDictionary[CallableExecutor, Gate] = WeakKeyDictionary()
_held: ContextVar[frozenset[str]] = ContextVar("llm_tools_held_groups", default=frozenset())


class DispatchOptions(Struct, frozen=True, kw_only=True):
    """How calls are run; see `dispatch`.

    `forbidden`: no call may run. `may_defer`: a call whose approval is put off has no result yet.
    `memo`: results of idempotent functions so far. `all_visible`: hidden functions were already
    left out, by an input that is not known here.
    """

    max_concurrency: int = 32
    timeout: float | None = None
    approve: Approve | None = None
    forbidden: bool = False
    may_defer: bool = False
    memo: Memo | None = None
    all_visible: bool = False


class Dispatcher:
    """Runs calls as they are submitted; made by `open_dispatcher`.

    `results` are in the order of submission; a call whose approval was put off is in `deferred`
    and has no result.
    """

    def __init__(
        self,
        offered: Mapping[str, CallableExecutor | None],
        tasks: TaskGroup,
        options: DispatchOptions,
    ) -> None:
        self._offered = offered
        self._tasks = tasks
        self._options = options
        self._slots = anyio.Semaphore(max(1, options.max_concurrency))
        self._runner = Runner(options.max_concurrency, options.timeout, options.memo)
        self._running = 0
        self._idle = anyio.Event()
        self._outcomes: list[FunctionResult | None] = []
        self._fatal: dict[int, BaseException] = {}
        self.calls: list[OutputResultFunctionUse] = []
        self.deferred: list[OutputResultFunctionUse] = []

    @property
    def results(self) -> list[FunctionResult]:
        """What has come so far, in call order."""
        return [result for result in self._outcomes if result is not None]

    async def submit(self, call: OutputResultFunctionUse) -> None:
        """Start a call once it is valid, approved, and there is room; earlier calls start first."""
        index = len(self._outcomes)
        self.calls.append(call)
        self._outcomes.append(None)
        admitted = await self._admit(call)
        if isinstance(admitted, FunctionResult):
            self._outcomes[index] = admitted
        elif admitted is not None:
            await self._start(index, *admitted)

    async def _admit(
        self, call: OutputResultFunctionUse
    ) -> FunctionResult | tuple[OutputResultFunctionUse, CallableExecutor] | None:
        """The call and its function, ready to run; or why not (None: put off)."""
        found = self._find(call)
        if isinstance(found, FunctionResult):
            return found
        problem = call.input_error or await self._runner.check_input(found, call)
        if problem is not None:
            return outcomes.bad_input(call, problem)
        return await self._ask(call, found)

    def _find(self, call: OutputResultFunctionUse) -> CallableExecutor | FunctionResult:
        """The function, if it is on offer here and shown for this input."""
        if self._options.forbidden:
            return outcomes.forbidden(call)
        function = self._offered.get(call.name)
        if function is None and call.name in self._offered:
            return outcomes.without_handler(call)
        if function is None or not (self._options.all_visible or function.visible(call.input)):
            others = sorted(set(self._offered) - {call.name})
            return outcomes.unknown_function(call, others)
        return function

    async def _ask(
        self, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> FunctionResult | tuple[OutputResultFunctionUse, CallableExecutor] | None:
        if self._options.approve is None and not function.settings.requires_approval:
            return call, function
        decision: Decision = DEFER
        if self._options.approve is not None:
            decision = await ask_approval(self._options.approve, call)
        if decision is True:
            return call, function
        if isinstance(decision, Edited):
            changed = replace(call, input=decision.input)
            problem = await self._runner.check_input(function, changed)
            return outcomes.bad_input(call, problem) if problem else (changed, function)
        if decision is not DEFER:
            return outcomes.not_approved(call, getattr(decision, "reason", ""))
        if not self._options.may_defer:
            return outcomes.deferred(call)
        self.deferred.append(call)
        return None

    async def _start(
        self, index: int, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> None:
        await self._slots.acquire()
        if function.settings.sequential:
            await self._quiet()
        self._running += 1
        self._tasks.start_soon(self._run, index, call, function)
        # A loop may run tasks of one step in any order (trio does): let this one start first.
        await cancel_shielded_checkpoint()
        if function.settings.sequential:
            await self._quiet()

    async def _quiet(self) -> None:
        """Wait until nothing runs."""
        while self._running:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def _run(
        self, index: int, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> None:
        try:
            if function.settings.group is None and function.settings.max_concurrency is None:
                self._outcomes[index] = await self._runner.run(call, function)
            else:
                async with AsyncExitStack() as held:
                    await _enter_gates(held, function)
                    self._outcomes[index] = await self._runner.run(call, function)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as fatal:  # noqa: BLE001 - raised again, unwrapped, by raise_fatal
            self._fatal[index] = fatal
            self._tasks.cancel_scope.cancel()
        finally:
            self._running -= 1
            self._slots.release()
            if not self._running:
                self._idle.set()

    def raise_fatal(self) -> None:
        """Raise what a function raised to end the program: the first, the others as its notes."""
        if self._fatal:
            first, *others = [self._fatal[index] for index in sorted(self._fatal)]
            for other in others:
                first.add_note(f"also raised in the same batch: {outcomes.error_text(other)}")
            raise first


async def _enter_gates(held: AsyncExitStack, function: CallableExecutor) -> None:
    """Wait for the function's group and its own limit; a group this task already holds is open."""
    group, limit = function.settings.group, function.settings.max_concurrency
    if group is not None and group not in _held.get():
        await held.enter_async_context(_groups.setdefault(group, Gate(1)))
        _held.set(_held.get() | {group})
    if limit is not None:
        gate = _limits.get(function)
        if gate is None:
            gate = _limits.setdefault(function, Gate(limit))
        await held.enter_async_context(gate)


@asynccontextmanager
async def open_dispatcher(
    offered: Mapping[str, CallableExecutor | None], options: DispatchOptions
) -> AsyncIterator[Dispatcher]:
    """A dispatcher whose calls have all ended when the block does.

    Leaving the block by an exception, or being cancelled, cancels what runs and waits for it.
    """
    dispatcher: Dispatcher | None = None
    failed: BaseException | None = None
    try:
        async with anyio.create_task_group() as tasks:
            dispatcher = Dispatcher(offered, tasks, options)
            try:
                yield dispatcher
            except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
                # Raised again below, so that it leaves as itself and not in a group.
                failed = error
                tasks.cancel_scope.cancel()
    finally:
        if dispatcher is not None:
            dispatcher.raise_fatal()
    if failed is not None:
        raise failed
