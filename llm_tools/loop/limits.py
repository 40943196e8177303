"""How far a run may go."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import Any

from msgspec import Struct

from ..content import Usage
from ..errors import ConfigurationError


class RunLimits(Struct, frozen=True, kw_only=True, rename="camel"):
    """The limits of one run; None is no limit.

    `max_turns` requests, `max_total_tokens` over all of them, `max_seconds` by the clock,
    `max_calls_per_function` per function's name.
    """

    max_turns: int = 10
    max_total_tokens: int | None = None
    max_seconds: float | None = None
    max_calls_per_function: int | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            kinds = int | float if name == "max_seconds" else int
            optional = name != "max_turns"
            if (value is None and optional) or _is_from_zero(value, kinds):
                continue
            raise ConfigurationError(f"{name} must be a number from zero up, got {value!r}.")


def _is_from_zero(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool) and value >= 0


class Budget:
    """What a run has used up; runs inside its functions may draw on it too, in any thread."""

    __slots__ = ("_limits", "_lock", "_parent", "turns", "usage")

    def __init__(
        self,
        limits: RunLimits,
        parent: Budget | None = None,
        *,
        turns: int = 0,
        usage: Usage | None = None,
    ) -> None:
        self._limits = limits
        self._lock = Lock()
        self._parent = parent
        self.turns: int = turns
        self.usage: Usage = usage or Usage()

    def take_turn(self) -> str | None:
        """Count one more request, here and in the runs around this one.

        Returns:
            Why it may not be made, if so; then nothing is counted.
        """
        refused = self._parent.take_turn() if self._parent is not None else None
        if refused is not None:
            return refused
        limit = self._limits.max_turns
        with self._lock:
            if self.turns < limit:
                self.turns += 1
                return None
        if self._parent is not None:
            self._parent.give_turn_back()
        return f"max_turns={limit} requests were made"

    def give_turn_back(self) -> None:
        """A request that was counted was not made."""
        with self._lock:
            self.turns -= 1
        if self._parent is not None:
            self._parent.give_turn_back()

    def use(self, usage: Usage | None) -> None:
        """Count an answer's tokens, here and in the runs around this one."""
        if usage is None:
            return
        with self._lock:
            self.usage += usage
        if self._parent is not None:
            self._parent.use(usage)

    def out_of_tokens(self) -> str | None:
        """Why the tokens are used up, if so."""
        limit, used = self._limits.max_total_tokens, self.usage.total_tokens
        if limit is not None and used >= limit:
            return f"max_total_tokens={limit} is reached ({used} used)"
        return self._parent.out_of_tokens() if self._parent is not None else None


current_budget: ContextVar[Budget | None] = ContextVar("llm_tools_run_budget", default=None)
