"""What is known of Claude models, as patterns over every host's spelling of their names.

`claude-opus-4-5`, `claude-opus-4-5@20251101`, `us.anthropic.claude-opus-4-5-20251101-v1:0` and an
ARN that ends so are one model. A model no pattern knows is taken for a current one.
"""

from __future__ import annotations

from ..spec import QuirkValues

_HOST = r"(?:.*[./])?"
_VERSION = r"(?:[-@:.].*)?"


def claude(names: str, version: str = _VERSION) -> str:
    """A pattern for the models whose name after `claude-` is one of `names`."""
    return rf"{_HOST}claude-(?:{names}){version}"


ANY = claude(".*")
EFFORTS = ("low", "medium", "high", "xhigh", "max")

# https://platform.claude.com/docs/en/about-claude/models/overview
OUTPUT_4096 = claude(r"[12]\..*|[12]|v[12].*|instant.*|3-(?:opus|sonnet|haiku)")
BEFORE_4 = claude(r"[123]\..*|[123]|v[12].*|instant.*|3-.*")
GENERATION_4 = claude(
    r"(?:opus|sonnet)-4(?:-[01])?|4-(?:opus|sonnet)", r"(?:[-@]20\d{6}.*|:.*|-v\d.*)?"
)
OPUS_4_1 = claude("opus-4-1")
SMALL_4_5 = claude("(?:haiku|sonnet)-4-5")
OPUS_4_5 = claude("opus-4-5")
GENERATION_4_6 = claude("(?:opus|sonnet)-4-6")
NO_SAMPLING = claude("opus-4-[78]|(?:fable|mythos|opus|sonnet|haiku)-[5-9]|mythos-preview")

# https://platform.claude.com/docs/en/about-claude/models/whats-new-opus-5-5
NO_FORCED_CHOICE = claude("(?:opus|sonnet)-5-5|(?:fable|mythos)-5-[12]")
BINDS_THINKING = claude("(?:opus|sonnet|haiku)-5-5|fable-5-[12]|mythos-5-2")
ALWAYS_THINKS = claude("(?:fable|mythos)-[5-9]|opus-5-5")
SONNET_5_5 = claude("sonnet-5-5")
SONNET_5 = claude("sonnet-5(?!-5)")

CLAUDE: tuple[tuple[str, QuirkValues], ...] = (
    (BEFORE_4, {"structured": False, "efforts": (), "prefill": True}),
    (OUTPUT_4096, {"max_tokens": 4096}),
    (GENERATION_4, {"structured": False, "efforts": (), "prefill": True}),
    (OPUS_4_1, {"structured": True}),
    (SMALL_4_5, {"efforts": (), "prefill": True}),
    (OPUS_4_5, {"efforts": ("low", "medium", "high"), "prefill": True}),
    (GENERATION_4_6, {"efforts": ("low", "medium", "high", "max")}),
    (NO_SAMPLING, {"sampling": False}),
    (NO_FORCED_CHOICE, {"forced_choice": False}),
    (BINDS_THINKING, {"binds_thinking": True}),
    (ALWAYS_THINKS, {"thinking_off": None}),
    (SONNET_5_5, {"thinking_off": "between_tools"}),
)
