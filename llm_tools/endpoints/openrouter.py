"""OpenRouter, Chat Completions."""

from __future__ import annotations

from ..functions.subsets import OPENAI_STRICT
from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="openrouter",
        base_url="https://openrouter.ai/api/v1",
        base_url_env=("OPENROUTER_BASE_URL",),
        api_key_env=("OPENROUTER_API_KEY",),
        quirks={
            # https://openrouter.ai/docs/features/tool-calling: tools go with every request
            "functions_with_history": True,
            "strict": OPENAI_STRICT,
            "effort": "reasoning",
            "refused": (),
            "result_images": True,
            "assistant_images": True,
            "replays": ("reasoning", "reasoning_details"),
            "refusals": True,
        },
        tier="verified",
        docs_url="https://openrouter.ai/docs/api-reference/overview",
    ),
)
