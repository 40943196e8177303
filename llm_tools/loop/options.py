"""What a run needs beside its conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from ..callables import CallableExecutor
from ..content import FunctionResult, Message, OutputResult, StreamEvent
from ..dispatching import Approve, check_approve
from ..errors import ConfigurationError
from ..functions.choice import FunctionCall
from ..model import Events
from .limits import RunLimits

Offered: TypeAlias = Mapping[str, CallableExecutor | None]

OnEvent: TypeAlias = Callable[[StreamEvent | FunctionResult], Awaitable[None] | None]
"""Told every stream event and every function's result, as they come and one at a time."""

OnTurn: TypeAlias = Callable[[int, OutputResult], Awaitable[None]]
OnFunction: TypeAlias = Callable[[FunctionResult], Awaitable[None]]

ChooseByTurn: TypeAlias = Callable[[int], FunctionCall]
"""Takes the number of the turn, from 0."""


class Ask(Protocol):
    """One request of a run, whole or streamed."""

    async def call(self, messages: Sequence[Message], function_call: FunctionCall) -> OutputResult:
        """The whole answer."""

    def stream(self, messages: Sequence[Message], function_call: FunctionCall) -> Events:
        """The answer as events."""


class KeptOptions(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What another process must know of a run to go on with it; as for `run`.

    A `function_call` that is a function of the turn cannot be kept; a `json_schema` is kept as
    the schema itself.
    """

    function_call: Any = None
    function_call_strict_input: bool = False
    json_schema: Any = None
    function_timeout: float | None = None
    max_concurrency: int = 32
    start_early: bool = False
    share_limits: bool = False


class RunOptions(Struct, frozen=True, kw_only=True):
    """Everything about a run but its conversation; see `LlmExecutorWithFunctions.run`.

    `finish` makes the output of the final answer. A run that is put off keeps `kept` for whoever
    resumes it, and `local` for whoever does so in this process.
    """

    ask: Ask
    finish: Callable[[OutputResult], Any]
    offered: Offered
    function_call: FunctionCall | ChooseByTurn = None
    limits: RunLimits = RunLimits()
    function_timeout: float | None = None
    approve: Approve | None = None
    max_concurrency: int = 32
    start_early: bool = False
    share_limits: bool = False
    on_event: OnEvent | None = None
    on_turn: OnTurn | None = None
    on_function: OnFunction | None = None
    kept: KeptOptions = KeptOptions()
    local: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        check_approve(self.approve)
        if self.on_event is not None and not callable(self.on_event):
            raise ConfigurationError(
                f"on_event must be a function of the event, got {self.on_event!r}."
            )
