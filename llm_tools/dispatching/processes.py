"""Calls of sync functions in worker processes, which can be killed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from anyio import CancelScope, to_process

from ..callables import CallableExecutor

_NO_LIMIT: Any = nullcontext()


@asynccontextmanager
async def ready_process() -> AsyncIterator[None]:
    """A worker process that is up, for one call inside the block.

    Neither waiting for one nor starting one counts against a function's time, and no cancellation
    meets a process half started (anyio would lose it).
    """
    async with to_process.current_default_process_limiter():
        with CancelScope(shield=True):
            await to_process.run_sync(os.getpid, limiter=_NO_LIMIT)
        yield


async def call_in_process(function: CallableExecutor, value: dict[str, Any]) -> Any:
    """The function's value; the process is killed if this is cancelled.

    To be called at the start of a `ready_process` block. Context variables stay behind.
    """
    target, arguments = function.remote(value)
    # Nothing awaits between the warm-up's end and this: no other call can take the process.
    return await to_process.run_sync(target, *arguments, cancellable=True, limiter=_NO_LIMIT)
