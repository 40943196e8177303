"""OpenAI, Responses API."""

from __future__ import annotations

from ..spec import Endpoint
from .openai_models import REASONING, needs_responses

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="openai",
        protocol="responses",
        dialect="openai_responses",
        base_url="https://api.openai.com/v1",
        base_url_env=("OPENAI_BASE_URL",),
        api_key_env=("OPENAI_API_KEY",),
        quirks={"custom_outputs": True},
        per_model=REASONING,
        picks=needs_responses,
        tier="verified",
        docs_url="https://developers.openai.com/api/reference/responses/overview",
    ),
)
