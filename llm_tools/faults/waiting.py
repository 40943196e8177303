"""How long a provider asks to wait, wherever it says so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..content import JSON


def retry_after(headers: Mapping[str, str], details: JSON = None) -> float | None:
    """Seconds: `retry-after-ms`, `Retry-After` (seconds or a date), Google's `RetryInfo`."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds:  # Azure sends 0 here beside a Retry-After that means it
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is None and value:
        seconds = _until(value, headers.get("date", ""))
    return seconds if seconds is not None else _retry_info(details)


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(date: str, now: str) -> float | None:
    """Seconds between the answer's own date and the one it names: no clock has to agree."""
    from email.utils import parsedate_to_datetime  # slow to import, and rarely needed

    try:
        seconds = (parsedate_to_datetime(date) - parsedate_to_datetime(now)).total_seconds()
    except (TypeError, ValueError):
        return None
    return max(seconds, 0.0)


def _retry_info(details: JSON) -> float | None:
    """`{"@type": "…/google.rpc.RetryInfo", "retryDelay": "34.5s"}`."""
    if not isinstance(details, list):
        return None
    for item in details:
        match item:
            case {"retryDelay": str(delay)}:
                return _number(delay.removesuffix("s"))
            case {"retryDelay": {"seconds": seconds}}:
                return _number(seconds)
    return None
