"""DeepSeek, Chat Completions."""

from __future__ import annotations

from ..functions.subsets import DEEPSEEK_STRICT
from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="deepseek",
        base_url="https://api.deepseek.com",
        base_url_env=("DEEPSEEK_BASE_URL",),
        api_key_env=("DEEPSEEK_API_KEY",),
        # https://api-docs.deepseek.com/guides/thinking_mode and /guides/tool_calls
        quirks={
            "forced": "without_thinking",
            "parallel": False,
            "strict": DEEPSEEK_STRICT,
            "strict_prefix": "/beta",
            "output": "json_object",
            "reasons": True,
            "thinking": True,
            "reasoning_required": True,
            "sampling": "ignored",
            "efforts": {"minimal": "low", "medium": "high", "xhigh": "high"},
            "refused": ("top_k", "seed"),
            "images": "refused",
        },
        # The older name of the model without its thoughts.
        per_model=((r"deepseek-chat", {"reasons": False}),),
        tier="verified",
        docs_url="https://api-docs.deepseek.com",
    ),
)
