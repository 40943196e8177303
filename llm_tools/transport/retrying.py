"""Whether a failed attempt is made again, and when. Pure but for the jitter."""

from __future__ import annotations

import random
from collections.abc import Mapping

from ..errors import ProviderError, QuotaExceededError

LONGEST_WAIT = 60.0
_FIRST_WAIT = 0.5
_LONGEST_BACKOFF = 8.0
_JITTER = 0.25
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, *range(520, 525), 529})


def is_retried(error: ProviderError, headers: Mapping[str, str]) -> bool:
    """Whether an HTTP error is worth another attempt: the server's word first, then its status."""
    if isinstance(error, QuotaExceededError):
        return False
    word = headers.get("x-should-retry", "").strip().lower()
    wanted = word == "true" if word in ("true", "false") else error.status in _RETRIED
    return wanted and (error.retry_after is None or error.retry_after <= LONGEST_WAIT)


def wait_before(attempt: int, retry_after: float | None) -> float:
    """Seconds to wait after the failed attempt number `attempt` (from 1)."""
    if retry_after is not None:
        return retry_after
    longest = min(_LONGEST_BACKOFF, _FIRST_WAIT * 2.0 ** min(attempt - 1, 8))
    return longest * (1 - _JITTER * random.random())  # noqa: S311 - no secret hangs on it
