"""OpenAI, Chat Completions."""

from __future__ import annotations

from ..functions.subsets import OPENAI_STRICT
from ..spec import Endpoint
from .openai_chat_models import CHAT_MODELS

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="openai",
        base_url="https://api.openai.com/v1",
        base_url_env=("OPENAI_BASE_URL",),
        api_key_env=("OPENAI_API_KEY",),
        quirks={
            "allowed_tools": True,
            "strict": OPENAI_STRICT,
            "max_tokens": "max_completion_tokens",
            "refusals": True,
            "replays": (),
            "ids": r"[a-zA-Z0-9_-]{1,40}",
        },
        per_model=CHAT_MODELS,
        tier="verified",
        docs_url="https://developers.openai.com/api/reference/chat-completions/overview",
    ),
)
