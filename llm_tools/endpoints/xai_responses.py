"""xAI, Responses API: takes `strict` without effect, and knows no subset of functions."""

from __future__ import annotations

from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="xai",
        protocol="responses",
        dialect="openai_responses",
        base_url="https://api.x.ai/v1",
        base_url_env=("XAI_BASE_URL",),
        api_key_env=("XAI_API_KEY",),
        quirks={"strict": False, "allowed_tools": False, "min_output_tokens": 1},
        # https://docs.x.ai/docs/guides/reasoning
        per_model=(
            (r"grok-4(?![.\d]).*|grok-code.*|grok-[23](?!-mini).*", {"effort": False}),
            (r".*non-reasoning.*", {"effort": False}),
        ),
        tier="verified",
        docs_url="https://docs.x.ai/docs/guides/chat",
    ),
)
