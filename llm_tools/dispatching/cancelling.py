"""Cancellations: the caller's, and those that a function of theirs raised by itself."""

from __future__ import annotations

import math

import anyio
from anyio.lowlevel import checkpoint


def is_cancellation(error: BaseException) -> bool:
    """Whether this is a cancellation, of either loop, with nothing worse beside it."""
    if isinstance(error, BaseExceptionGroup):
        return all(isinstance(e, Exception) or is_cancellation(e) for e in error.exceptions)
    return isinstance(error, anyio.get_cancelled_exc_class()) or (
        type(error).__name__ in ("CancelledError", "Cancelled")
    )


async def own_fault(error: BaseException, who: str) -> Exception:
    """What the one who raised this has to answer for: as it is, or a cancellation nobody asked for.

    A task group would drop such a cancellation, and what the task still had to do with it.

    Raises:
        BaseException: it is not theirs: the program ends, or a scope around us was cancelled.
    """
    if isinstance(error, Exception):
        return error
    if not is_cancellation(error):
        raise error
    if anyio.current_effective_deadline() == -math.inf:
        await checkpoint()  # leaves by the cancellation alone, whatever came with it
    return RuntimeError(f"{who} raised {type(error).__name__} by itself")
