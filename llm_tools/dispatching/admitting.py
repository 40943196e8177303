"""Which calls may run: offered, visible, valid, approved."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..callables import CallableExecutor
from ..content import FunctionResult, OutputResultFunctionUse
from ..errors import ConfigurationError
from . import outcomes
from .approval import DEFER, Approve, Decision, Edited, ask_approval, check_approve
from .cancelling import own_fault
from .memory import Memo

_LOG = logging.getLogger("llm_tools.dispatching")


class DispatchOptions(Struct, frozen=True, kw_only=True):
    """How calls are run; see `dispatch`.

    `forbidden`: no call may run. `may_defer`: a call whose approval is put off has no result yet.
    `memo`: results of idempotent functions so far. `all_visible`: hidden functions were already
    left out. `input`: what visibility handlers are asked about instead of each call's own.
    `on_result`: told each result as it comes; several may be told at the same time.
    """

    max_concurrency: int = 32
    timeout: float | None = None
    approve: Approve | None = None
    forbidden: bool = False
    may_defer: bool = False
    memo: Memo | None = None
    all_visible: bool = False
    input: Any = None
    on_result: Callable[[FunctionResult], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        room = self.max_concurrency
        if not isinstance(room, int) or isinstance(room, bool) or room < 1:
            raise ConfigurationError(
                f"max_concurrency must be a whole number above zero, got {room!r}."
            )
        check_approve(self.approve)
        timeout = self.timeout
        counts = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        if timeout is not None and not (counts and timeout > 0):
            raise ConfigurationError(f"timeout must be seconds above zero, got {timeout!r}.")


class Admitted(Struct, frozen=True):
    """A call that may run; its input, where it is not `checked` yet, if it is valid."""

    call: OutputResultFunctionUse
    function: CallableExecutor
    checked: bool


class Admission:
    """Decides, call by call, which may run."""

    __slots__ = ("_offered", "_options")

    def __init__(
        self, offered: Mapping[str, CallableExecutor | None], options: DispatchOptions
    ) -> None:
        self._offered = offered
        self._options = options

    async def admit(self, call: OutputResultFunctionUse) -> Admitted | FunctionResult | None:
        """The call, ready to run; or its result, where it may not; None if it is put off."""
        function = self._find(call)
        if isinstance(function, FunctionResult):
            return function
        if call.input_error is not None:
            return outcomes.bad_input(call, call.input_error)
        if self._options.approve is None and not function.settings.requires_approval:
            return Admitted(call, function, checked=False)
        problem = await check_input(function, call)
        if problem is not None:
            return outcomes.bad_input(call, problem)
        return await self._ask(call, function)

    def _find(self, call: OutputResultFunctionUse) -> CallableExecutor | FunctionResult:
        """The function, if it is on offer here and shown for this input."""
        options = self._options
        if options.forbidden:
            return outcomes.no_calls_allowed(call)
        function = self._offered.get(call.name)
        if function is None and call.name in self._offered:
            return outcomes.without_handler(call)
        asked = call.input if options.input is None else options.input
        if function is None or not (options.all_visible or function.visible(asked)):
            others = sorted(self._offered.keys() - {call.name})
            return outcomes.unknown_function(call, others)
        return outcomes.forbidden(call) if call.forbidden else function

    async def _ask(
        self, call: OutputResultFunctionUse, function: CallableExecutor
    ) -> Admitted | FunctionResult | None:
        decision: Decision = DEFER
        if self._options.approve is not None:
            try:
                decision = await ask_approval(self._options.approve, call)
            except ConfigurationError:
                raise
            except BaseException as error:  # noqa: BLE001 - a caller's function may raise anything
                # A decision that failed is none: the call does not run, its siblings go on.
                fault = await own_fault(error, "approve()")
                _LOG.exception("approve() failed for a call of %s", call.name)
                return outcomes.not_approved(call, "the approval failed", fault)
        if decision is True:
            return Admitted(call, function, checked=True)
        if isinstance(decision, Edited):
            return Admitted(replace(call, input=decision.input), function, checked=False)
        if decision is not DEFER:
            return outcomes.not_approved(call, getattr(decision, "reason", ""))
        return None if self._options.may_defer else outcomes.deferred(call)


async def check_input(function: CallableExecutor, call: OutputResultFunctionUse) -> str | None:
    """What is wrong with the input, by its schema and by the function's own check."""
    try:
        problem = function.validate(call.input)
        return await problem if isawaitable(problem) else problem
    except BaseException as error:  # noqa: BLE001 - a caller's handler may raise anything
        return outcomes.error_text(await own_fault(error, "validate_input"))
