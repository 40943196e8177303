"""`CoreExecutor`: a function of the input with an executor's face."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from time import perf_counter
from typing import Any, Generic, Self, TypeVar
from uuid import uuid4

from ..errors import ConfigurationError
from .hooks import Event, ExecutionMetadata, GivenHooks, Hook, Hooks

T = TypeVar("T")


class Executor(Generic[T]):
    """What all executors share: a name, hooks, and `execute`.

    One executor is safe under any number of concurrent calls.
    """

    def __init__(self, name: str, hooks: GivenHooks | None = None) -> None:
        self.name = name
        self._hooks = Hooks(hooks)

    def on(self, event: Event, hook: Hook) -> Self:
        """Call `hook`, sync or async, at every `event` of an execution or a run.

        `call` and `stream`, which hand the model's answer on as it is, tell no hooks.

        Args:
            event: `on_success(output, metadata)`, `on_error(error, metadata)`,
                `on_complete(metadata)` after either; in a run also
                `on_turn(turn, result, metadata)` with each answer, and
                `on_function(result, metadata)` with each result as it comes. An execution that
                is cancelled tells nobody.
            hook: what it raises is logged, and breaks nothing.

        Raises:
            ConfigurationError: there is no such event, or `hook` cannot be called.
        """
        self._hooks.add(event, hook)
        return self

    def once(self, event: Event, hook: Hook) -> Self:
        """Call `hook` at the next `event` only."""
        self._hooks.add(event, hook, once=True)
        return self

    def off(self, event: Event, hook: Hook) -> Self:
        """No longer call `hook` at `event`."""
        self._hooks.remove(event, hook)
        return self

    async def _observed(
        self, work: Callable[[ExecutionMetadata], Awaitable[Any]], trace_id: str | None
    ) -> Any:
        """Do the work and tell the hooks how it went."""
        metadata = ExecutionMetadata(executor=self.name, trace_id=trace_id or uuid4().hex)
        began = perf_counter()
        try:
            output = await work(metadata)
        except Exception as error:
            metadata = _timed(metadata, began)
            await self._hooks.tell("on_error", error, metadata)
            await self._hooks.tell("on_complete", metadata)
            raise
        metadata = _timed(metadata, began)
        await self._hooks.tell("on_success", output, metadata)
        await self._hooks.tell("on_complete", metadata)
        return output


def _timed(metadata: ExecutionMetadata, began: float) -> ExecutionMetadata:
    return ExecutionMetadata(
        executor=metadata.executor,
        trace_id=metadata.trace_id,
        duration=perf_counter() - began,
    )


class CoreExecutor(Executor[T]):
    """Runs `handler(input)`, sync or async.

    Raises:
        ConfigurationError: the handler cannot be called.
    """

    def __init__(
        self,
        handler: Callable[[Any], T | Awaitable[T]],
        *,
        name: str | None = None,
        hooks: GivenHooks | None = None,
    ) -> None:
        if not callable(handler):
            raise ConfigurationError(f"A handler is a function of the input, got {handler!r}.")
        super().__init__(name or str(getattr(handler, "__name__", "core_executor")), hooks)
        self._handler = handler

    async def execute(self, input: Any = None, *, trace_id: str | None = None) -> T:  # noqa: A002
        """What the handler returns for `input`; its exceptions pass through."""

        async def work(_: ExecutionMetadata) -> Any:
            output: Any = self._handler(input)
            return await output if isawaitable(output) else output

        result: T = await self._observed(work, trace_id)
        return result
