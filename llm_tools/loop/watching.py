"""A model that goes round in circles, or calls one function without end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ..callables import CallableExecutor
from ..content import FunctionResult, OutputResultFunctionUse
from ..history import json_safe
from ..rendering import canonical_json

REPEATS = 3


class Watched(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a watch has seen: calls per function, and the last turn's calls with their results.

    `alike` turns in a row, the last included, had the same; `last` is their fingerprint.
    """

    counts: dict[str, int] = {}
    last: str = ""
    alike: int = 0


class CallWatch:
    """Counts calls, and notices a model that repeats itself."""

    __slots__ = ("_alike", "_counts", "_last", "_offered")

    def __init__(
        self, offered: Mapping[str, CallableExecutor | None], seen: Watched | None = None
    ) -> None:
        seen = seen or Watched()
        self._offered = offered
        self._counts = Counter(seen.counts)
        self._last = seen.last
        self._alike = seen.alike

    @property
    def seen(self) -> Watched:
        """What another watch needs to go on from here."""
        return Watched(counts=dict(self._counts), last=self._last, alike=self._alike)

    def over_limit(self, name: str, limit: int | None) -> bool:
        """Count one call; whether it is one too many."""
        self._counts[name] += 1
        return limit is not None and self._counts[name] > limit

    def passed(self, limit: int | None) -> str | None:
        """The function that was called too often, if there is one."""
        if limit is None:
            return None
        return next((name for name, count in self._counts.items() if count > limit), None)

    def repeated(
        self, calls: Sequence[OutputResultFunctionUse], results: Sequence[FunctionResult]
    ) -> str | None:
        """The function that was called alike, with the same result, three turns in a row.

        Equal calls side by side in one turn count once: they cannot know of each other.

        Args:
            calls: one turn's.
            results: theirs, in the same order.
        """
        pairs = [pair for pair in zip(calls, results, strict=True) if self._counts_as(pair[0])]
        last = _fingerprint(pairs)
        self._alike = self._alike + 1 if last and last == self._last else 1
        self._last = last
        return pairs[0][0].name if pairs and self._alike >= REPEATS else None

    def _counts_as(self, call: OutputResultFunctionUse) -> bool:
        """Whether calling it again and again is a sign of trouble."""
        function = self._offered.get(call.name)
        return function is None or not function.settings.repeatable


def _fingerprint(pairs: Sequence[tuple[OutputResultFunctionUse, FunctionResult]]) -> str:
    """The same text for the same calls with the same results, in any order; empty for none."""
    if not pairs:
        return ""
    from hashlib import sha256

    told = [[call.name, call.input, json_safe(result.content)] for call, result in pairs]
    return sha256(b"\n".join(sorted({canonical_json(json_safe(one)) for one in told}))).hexdigest()
