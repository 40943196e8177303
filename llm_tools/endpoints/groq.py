"""Groq, Chat Completions."""

from __future__ import annotations

from ..functions.subsets import GROQ_STRICT
from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="groq",
        base_url="https://api.groq.com/openai/v1",
        base_url_env=("GROQ_BASE_URL",),
        api_key_env=("GROQ_API_KEY",),
        quirks={
            "strict": GROQ_STRICT,
            "output_strict": GROQ_STRICT,
            # https://console.groq.com/docs/structured-outputs
            "output_beside_functions": False,
            "max_tokens": "max_completion_tokens",
            "result_images": True,
            "replays": ("reasoning",),
            "stream_usage": False,
        },
        per_model=(
            # https://console.groq.com/docs/reasoning
            (r".*gpt-oss.*", {"efforts": {"minimal": "low", "xhigh": "high", "max": "high"}}),
        ),
        tier="verified",
        docs_url="https://console.groq.com/docs/api-reference",
    ),
)
