"""What `approve` may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum
from inspect import isawaitable
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ..content import OutputResultFunctionUse
from ..errors import ConfigurationError


class Refused(Struct, frozen=True):
    """No, and why; the model is told the reason."""

    reason: str = ""


class Edited(Struct, frozen=True):
    """Yes, with this input instead; it is validated like the model's own."""

    input: dict[str, Any]


class _Later(Enum):
    DEFER = "defer"

    def __repr__(self) -> str:
        return "DEFER"


DEFER: Final = _Later.DEFER
"""Not now: `run` hands back a `PendingRun` that can be resumed with the decision."""

Decision: TypeAlias = bool | Refused | Edited | Literal[_Later.DEFER]
Approve: TypeAlias = Callable[[OutputResultFunctionUse], Decision | Awaitable[Decision]]
"""Sees a call with its name, its valid input and its id. Sync or async; it must not block."""


def check_approve(approve: Any) -> None:
    """Refuse what cannot be asked.

    Raises:
        ConfigurationError: it is no function.
    """
    if approve is not None and not callable(approve):
        raise ConfigurationError(f"approve must be a function of the call, got {approve!r}.")


async def ask_approval(approve: Approve, call: OutputResultFunctionUse) -> Decision:
    """The decision on one call.

    Raises:
        ConfigurationError: `approve` answered something that is no decision.
    """
    answer = approve(call)
    return read_decision(await answer if isawaitable(answer) else answer, "approve() answered")


def read_decision(answer: Any, what: str) -> Decision:
    """The answer, if it is a decision.

    Raises:
        ConfigurationError: it is none.
    """
    if isinstance(answer, bool | Refused | Edited | _Later):
        return answer
    raise ConfigurationError(
        f"{what} {answer!r}: it must be True, False, Refused(reason), Edited(input) or DEFER."
    )
