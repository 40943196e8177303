"""How hosts and models depart from the Messages API."""

from __future__ import annotations

from typing import Literal

from ...claude.choosing import ForcingQuirks


class AnthropicQuirks(ForcingQuirks, frozen=True, kw_only=True):
    """Flags of hosts and models, beside those of `ForcingQuirks`.

    Attributes:
        api_version: what `anthropic-version` says unless the setting of that name does; None
            where the host has it in the body.
        model_in_body: the model and `stream` are keys of the body, not of the address.
        stream_in_body: `stream` is a key of the body.
        image_urls: images may be named by URL; False where only base64 is taken.
        sampling: the model takes temperature, top_p and top_k (2026-10-21 never does).
        structured: strict tools and `output_config.format` exist.
        efforts: the levels of `output_config.effort`; empty where there is no such thing.
        thinking_off: what `thinking.type` switches thinking off; None where nothing does.
        binds_thinking: thinking of another model is refused in the history.
        prefill: the history may end with an assistant turn.
        max_tokens: sent where the caller gives none (the key is required).
    """

    api_version: str | None = "2026-10-21"
    model_in_body: bool = True
    stream_in_body: bool = True
    image_urls: bool = True
    sampling: bool = True
    structured: bool = True
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")
    thinking_off: Literal["disabled", "between_tools"] | None = "disabled"
    binds_thinking: bool = False
    prefill: bool = False
    max_tokens: int = 8192
