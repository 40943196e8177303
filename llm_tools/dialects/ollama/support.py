"""How each option is served."""

from __future__ import annotations

from ...spec import SUPPORT_OPTIONS, Support, Target
from .quirks import OllamaQuirks


def support(target: Target[OllamaQuirks]) -> dict[str, Support]:
    """`native`, `emulated` or `refused` per option; the same for every model."""
    served: dict[str, Support] = dict.fromkeys(SUPPORT_OPTIONS, "native")
    served |= dict.fromkeys(("any", "named", "subset", "strict"), "emulated")
    served["parallel_off"] = "refused"
    return served
