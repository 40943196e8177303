"""How model families depart from each other behind Converse."""

from __future__ import annotations

from typing import Literal

from ...claude.choosing import ForcingQuirks


class ConverseQuirks(ForcingQuirks, frozen=True, kw_only=True):
    """Flags of model families, beside those of `ForcingQuirks`.

    Attributes:
        choices: what `toolChoice` may hold beside `auto`; the rest is asked for in the prompt.
        claude_fields: Anthropic's own keys go through `additionalModelRequestFields`.
        structured: strict tools and `outputConfig.textFormat` exist.
        sampling: the model takes temperature and topP.
        top_k: where the family has it.
        effort: where the family has it; `efforts` are its levels.
        thinking_off: what Anthropic's `thinking.type` switches thinking off, where one does.
        binds_thinking: thinking of another model is refused in the history.
        unsigned_reasoning: reasoning goes back even if nothing signs it.
        s3_images: images may be named by their place in S3.
        prefill: the history may end with an assistant turn.
        result_status: a result may say `status`.
        result_images: a result may hold images; else they follow as the user's.
        results_alone: a turn with results may hold nothing else.
    """

    choices: tuple[str, ...] = ("any", "tool")
    claude_fields: bool = False
    structured: bool = False
    sampling: bool = True
    top_k: Literal["top_k", "inferenceConfig"] | None = None
    effort: Literal["outputConfig", "reasoning_effort", "reasoning_config", "nova"] | None = None
    efforts: tuple[str, ...] = ()
    thinking_off: Literal["disabled", "between_tools"] | None = None
    binds_thinking: bool = False
    unsigned_reasoning: bool = False
    s3_images: bool = True
    prefill: bool = True
    result_status: bool = True
    result_images: bool = True
    results_alone: bool = False
