"""How each option is served."""

from __future__ import annotations

from ...spec import Support, Target
from .quirks import ConverseQuirks


def support(target: Target[ConverseQuirks]) -> dict[str, Support]:
    """Per option of `spec.SUPPORT_OPTIONS`: native, emulated or refused.

    `none` counts as native: without functions there is no call; with calls in the history, other
    models than Claude get a warning.
    """
    quirks = target.quirks
    structured: Support = "native" if quirks.structured else "emulated"
    return {
        "auto": "native",
        "none": "native",
        "any": _forced(quirks, "any"),
        "named": _forced(quirks, "tool"),
        "subset": _forced(quirks, None),
        "strict": structured,
        "json_schema": structured,
        "parallel_off": "refused",
        "image": "native",
        "effort": "native" if quirks.effort is not None else "refused",
        "seed": "refused",
    }


def _forced(quirks: ConverseQuirks, choice: str | None) -> Support:
    if not quirks.forced_choice:
        return "refused"
    return "native" if choice in quirks.choices else "emulated"
