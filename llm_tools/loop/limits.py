"""How far a run may go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from msgspec import Struct

from ..content import FunctionResult, OutputResultFunctionUse, Usage
from ..rendering import canonical_json

REPEATS = 3


class RunLimits(Struct, frozen=True, kw_only=True, rename="camel"):
    """The limits of one run; None is no limit.

    `max_turns` requests, `max_total_tokens` over all of them, `max_seconds` by the clock,
    `max_calls_per_function` per function's name.
    """

    max_turns: int = 10
    max_total_tokens: int | None = None
    max_seconds: float | None = None
    max_calls_per_function: int | None = None


class Budget:
    """What a run has used up; runs inside its functions may draw on it too."""

    __slots__ = ("limits", "parent", "turns", "usage")

    def __init__(self, limits: RunLimits, parent: Budget | None = None) -> None:
        self.limits = limits
        self.parent = parent
        self.turns = 0
        self.usage = Usage()

    def spend(self, usage: Usage | None) -> None:
        """One more request and its tokens, here and in the runs around this one."""
        budget: Budget | None = self
        while budget is not None:
            budget.turns += 1
            if usage is not None:
                budget.usage += usage
            budget = budget.parent

    def out_of_turns(self) -> str | None:
        """Why no further request may be made, if so."""
        limits = self.limits
        if self.turns >= limits.max_turns:
            return f"max_turns={limits.max_turns} requests were made"
        return self.parent.out_of_turns() if self.parent is not None else None

    def out_of_tokens(self) -> str | None:
        """Why the tokens are used up, if so."""
        limit = self.limits.max_total_tokens
        if limit is not None and self.usage.total_tokens > limit:
            return f"max_total_tokens={limit} is passed ({self.usage.total_tokens} used)"
        return self.parent.out_of_tokens() if self.parent is not None else None


current_budget: ContextVar[Budget | None] = ContextVar("llm_tools_run_budget", default=None)


class CallWatch:
    """Counts calls, and notices a model that repeats itself."""

    __slots__ = ("_last", "_repeatable", "_run", "counts")

    def __init__(self, repeatable: Mapping[str, bool], counts: Mapping[str, int] = {}) -> None:
        self._repeatable = repeatable
        self.counts: Counter[str] = Counter(counts)
        self._last: frozenset[Any] = frozenset()
        self._run = 0

    def over_limit(self, name: str, limit: int | None) -> bool:
        """Count one call; whether it is one too many."""
        self.counts[name] += 1
        return limit is not None and self.counts[name] > limit

    def repeated(
        self, calls: Sequence[OutputResultFunctionUse], results: Sequence[FunctionResult]
    ) -> str | None:
        """The function that was called alike, with the same result, three turns in a row.

        Equal calls side by side in one turn count once: they cannot know of each other.
        """
        told = {result.function_id: result for result in results}
        seen = frozenset(
            (call.name, canonical_json(call.input), canonical_json(told[call.function_id].content))
            for call in calls
            if call.function_id in told and not self._repeatable.get(call.name, False)
        )
        self._run = self._run + 1 if seen and seen == self._last else 1
        self._last = seen
        if seen and self._run >= REPEATS:
            return next(iter(sorted(name for name, _, _ in seen)))
        return None
