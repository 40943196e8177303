"""How each option is served."""

from __future__ import annotations

from ...spec import SUPPORT_OPTIONS, Support, Target
from .quirks import GeminiQuirks


def support(target: Target[GeminiQuirks]) -> dict[str, Support]:
    """`native`, `emulated` or `refused` per option."""
    served: dict[str, Support] = dict.fromkeys(SUPPORT_OPTIONS, "native")
    served["parallel_off"] = "refused"
    if target.quirks.thinking == "none":
        served["effort"] = "refused"
    return served
