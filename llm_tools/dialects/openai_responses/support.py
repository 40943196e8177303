"""How each option is served, per target."""

from __future__ import annotations

from ...spec import Support, Target
from .quirks import ResponsesQuirks


def support(target: Target[ResponsesQuirks]) -> dict[str, Support]:
    """The row of the support table; true to what `encode` does."""
    quirks = target.quirks
    return {
        "auto": "native",
        "none": "native",
        "any": "native",
        "named": "native",
        "subset": "native" if quirks.allowed_tools else "emulated",
        "strict": "native" if quirks.strict else "emulated",
        "json_schema": "native",
        "parallel_off": "native" if quirks.parallel_off else "refused",
        "image": "native" if quirks.images else "refused",
        "effort": "native" if quirks.takes_effort else "refused",
        "seed": "refused",
    }
