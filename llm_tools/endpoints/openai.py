"""OpenAI, Chat Completions."""

from __future__ import annotations

from ..spec import Endpoint
from .openai_chat_models import CHAT_MODELS, CHAT_QUIRKS

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="openai",
        base_url="https://api.openai.com/v1",
        base_url_env=("OPENAI_BASE_URL",),
        api_key_env=("OPENAI_API_KEY",),
        quirks=CHAT_QUIRKS,
        per_model=CHAT_MODELS,
        tier="verified",
        docs_url="https://developers.openai.com/api/reference/chat-completions/overview",
    ),
)
