"""The Gemini API."""

from __future__ import annotations

from ..spec import Endpoint, KeyAuth
from .gemini_models import GEMINI


def _model_id(model: str) -> str:
    """The model as the path wants it; its full name begins with `models/`."""
    return model.removeprefix("models/")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="google",
        dialect="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        base_url_env=("GEMINI_BASE_URL",),
        api_key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        auth=KeyAuth(
            header="x-goog-api-key",
            prefix="",
            token_header="authorization",  # noqa: S106 - a header's name
        ),
        model_id=_model_id,
        per_model=GEMINI,
        tier="verified",
        docs_url="https://ai.google.dev/api/generate-content",
    ),
)
