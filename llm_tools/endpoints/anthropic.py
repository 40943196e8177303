"""Anthropic."""

from __future__ import annotations

from ..spec import Endpoint, KeyAuth, Setting
from .claude_models import CLAUDE

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="anthropic",
        dialect="anthropic_messages",
        base_url="https://api.anthropic.com",
        base_url_env=("ANTHROPIC_BASE_URL",),
        api_key_env=("ANTHROPIC_API_KEY",),
        # `x-api-key` is taken under every version, a bearer key since 2026-10-21 only.
        auth=KeyAuth(header="x-api-key", prefix="", token_header="authorization"),  # noqa: S106
        settings=(Setting("api_version", default="2026-10-21"),),
        per_model=CLAUDE,
        tier="verified",
        docs_url="https://platform.claude.com/docs/en/api/messages",
    ),
)
