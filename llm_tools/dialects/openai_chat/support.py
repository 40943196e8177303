"""How each option is served, as `encode` serves it."""

from __future__ import annotations

from ...spec import Support, Target
from .quirks import ChatQuirks


def support(target: Target[ChatQuirks]) -> dict[str, Support]:
    """`native`, `emulated` or `refused` per option of `SUPPORT_OPTIONS`."""
    quirks = target.quirks
    return {
        **_support_of_functions(quirks),
        "json_schema": "native" if quirks.output == "json_schema" else "emulated",
        "parallel_off": _either(taken=quirks.parallel),
        "image": _either(taken=quirks.images != "refused"),
        "effort": _either(taken="effort" not in quirks.refused),
        "seed": _either(taken="seed" not in quirks.refused),
    }


def _support_of_functions(quirks: ChatQuirks) -> dict[str, Support]:
    if quirks.functions not in ("native", "no_effort"):
        return {
            "auto": "refused",
            "none": "native",
            "any": "refused",
            "named": "refused",
            "subset": "refused",
            "strict": "refused",
        }
    says_any = quirks.choice in ("object", "string")
    says_named = quirks.choice in ("object", "named")
    forced = quirks.forced != "refused"
    return {
        "auto": "native",
        "none": "native",
        "any": _native(says_any) if forced else "refused",
        "named": _native(says_named) if forced else "refused",
        "subset": _native(quirks.allowed_tools) if forced else "refused",
        "strict": _native(quirks.strict is not None),
    }


def _either(*, taken: bool) -> Support:
    return "native" if taken else "refused"


def _native(said: object) -> Support:
    return "native" if said else "emulated"
