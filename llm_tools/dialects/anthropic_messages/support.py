"""How each option is served."""

from __future__ import annotations

from ...spec import Support, Target
from .quirks import AnthropicQuirks


def support(target: Target[AnthropicQuirks]) -> dict[str, Support]:
    """Per option of `spec.SUPPORT_OPTIONS`: native, emulated or refused."""
    quirks = target.quirks
    structured: Support = "native" if quirks.structured else "emulated"
    return {
        "auto": "native",
        "none": "native",
        "any": "native" if quirks.forced_choice else "refused",
        "named": "native" if quirks.forced_choice else "refused",
        "subset": "emulated" if quirks.forced_choice else "refused",
        "strict": structured,
        "json_schema": structured,
        "parallel_off": "native",
        "image": "native",
        "effort": "native" if quirks.efforts else "refused",
        "seed": "refused",
    }
