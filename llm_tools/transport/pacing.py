"""What an adaptive limiter learns from responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from .. import faults

_SLOWEST = 10.0
_FIRST_GAP = 0.1
_NO_GAP = 0.01
_FASTER = 0.9
_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_REFUSALS = frozenset({429, 503, 529})
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LEFT = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)


class Pace:
    """When the next request may begin: not within a pause, nor closer to the last than the gap."""

    __slots__ = ("_gap", "_last", "_paused_until", "_refusals")

    def __init__(self) -> None:
        self._paused_until = float("-inf")
        self._last = float("-inf")
        self._gap = 0.0
        self._refusals = 0

    def wait(self, now: float) -> float:
        """Seconds until the next request may begin."""
        return max(self._paused_until - now, self._last + self._gap - now, 0.0)

    def use(self, now: float) -> None:
        """A request begins."""
        self._last = now

    def observe(self, status: int, headers: Mapping[str, str], now: float) -> None:
        """Learn from a response.

        One that comes during a pause is to a request from before it. So what many requests in
        flight are told at once counts once.
        """
        late = now < self._paused_until
        if status in _REFUSALS:
            asked = faults.retry_after(headers)
            if not late:
                self._refusals += 1
                self._gap = min(max(self._gap * 2, _FIRST_GAP), _SLOWEST)
            pause = _PAUSE * 2.0 ** min(self._refusals - 1, 6) if asked is None else asked
            self._pause(now, pause if asked is not None or not late else 0.0)
            return
        if not late:
            self._refusals = 0
            self._gap = self._gap * _FASTER if self._gap > _NO_GAP else 0.0
        for left, reset in _LEFT:
            if _is_nothing(headers.get(left)):
                self._pause(now, until_reset(headers.get(reset, ""), headers.get("date", "")))

    def _pause(self, now: float, seconds: float) -> None:
        self._paused_until = max(self._paused_until, now + min(seconds, _LONGEST_PAUSE))


def until_reset(reset: str, date: str) -> float:
    """Seconds out of `6m0s`, `17ms`, `1.5`, a moment (RFC 3339), or milliseconds since 1970."""
    parts = _PART.findall(reset)
    if parts and "".join(number + unit for number, unit in parts) == reset:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    moment = _moment(reset)
    if moment is None:
        return _PAUSE
    if isinstance(moment, float):
        return moment
    return max((moment - _answered_at(date)).total_seconds(), 0.0)


def _moment(reset: str) -> datetime | float | None:
    try:
        number = float(reset)
    except ValueError:
        try:
            moment = datetime.fromisoformat(reset)
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if number < 1e6:
        return max(number, 0.0)
    seconds = number / 1000 if number > 1e11 else number
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _answered_at(date: str) -> datetime:
    """The answer's own date where it has one: no two clocks have to agree."""
    from email.utils import parsedate_to_datetime

    try:
        answered = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return datetime.now(UTC)
    return answered if answered.tzinfo else answered.replace(tzinfo=UTC)


def _is_nothing(left: str | None) -> bool:
    try:
        return left is not None and float(left) <= 0
    except ValueError:
        return False
