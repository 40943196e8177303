"""xAI, Chat Completions."""

from __future__ import annotations

from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="xai",
        base_url="https://api.x.ai/v1",
        base_url_env=("XAI_BASE_URL",),
        api_key_env=("XAI_API_KEY",),
        quirks={"max_tokens": "max_completion_tokens"},
        # https://docs.x.ai/docs/guides/reasoning
        per_model=(
            (r"grok-(?:3-mini|4|[5-9]).*", {"refused": ("top_k", "stop_sequences")}),
            (
                r"grok-4(?![.\d]).*|grok-code.*",
                {"refused": ("top_k", "stop_sequences", "effort")},
            ),
            (r"grok-(?:2|3(?!-mini)).*|.*non-reasoning.*", {"refused": ("top_k", "effort")}),
        ),
        tier="verified",
        docs_url="https://docs.x.ai/docs/api-reference",
    ),
)
