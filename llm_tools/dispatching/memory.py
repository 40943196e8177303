"""Results of `idempotent` functions within one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from msgspec import Struct
from msgspec.structs import replace

from ..content import FunctionResult, OutputResultFunctionUse
from ..history import json_safe
from ..rendering import canonical_json


class _Memory(Struct):
    """The first call of its kind: equal ones wait for its result."""

    done: anyio.Event
    result: FunctionResult | None = None


class Memo:
    """Remembers results by function and input; failures are not remembered."""

    __slots__ = ("_memories",)

    def __init__(self) -> None:
        self._memories: dict[tuple[str, bytes], _Memory] = {}

    async def recall(
        self, call: OutputResultFunctionUse, run: Callable[[], Awaitable[FunctionResult]]
    ) -> FunctionResult:
        """The result of an equal call, made before or in progress, else that of `run`."""
        key = (call.name, canonical_json(json_safe(call.input)))
        while (memory := self._memories.get(key)) is not None:
            await memory.done.wait()
            if memory.result is not None:
                return replace(memory.result, function_id=call.function_id, duration=0.0)
        memory = self._memories[key] = _Memory(anyio.Event())
        try:
            result = await run()
            if not result.is_error:
                memory.result = result
        finally:
            if memory.result is None:
                del self._memories[key]
            memory.done.set()
        return result
