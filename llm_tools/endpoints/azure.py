"""Azure OpenAI, Chat Completions; the model is the name of a deployment.

Without `api_version` (or with `v1`, `latest`, `preview`) it is Azure's v1 API; with a dated one
the address names the deployment. https://learn.microsoft.com/azure/ai-foundry/openai/reference
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ..spec import Endpoint, Place
from .azure_resources import AUTH, SETTINGS, is_dated, openai_url
from .openai_chat_models import CHAT_MODELS, CHAT_QUIRKS


def _place(values: Mapping[str, str], model: str) -> Place:
    """The address of a resource, of its deployment where the version is dated."""
    version, base_url = values.get("api_version", ""), openai_url(values)
    segments = base_url.split("/")[3:]
    if segments[-1:] != ["v1"] and "deployments" not in segments:
        deployment = f"/deployments/{quote(model, safe='')}"
        base_url += deployment if is_dated(version) else "/v1"
    return Place(base_url, f"api-version={quote(version)}" if version else "")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="azure",
        base_url_env=("AZURE_OPENAI_ENDPOINT",),
        api_key_env=("AZURE_OPENAI_API_KEY",),
        auth=AUTH,
        place=_place,
        settings=SETTINGS,
        quirks=CHAT_QUIRKS,
        per_model=CHAT_MODELS,
        tier="verified",
        docs_url="https://learn.microsoft.com/azure/ai-foundry/openai/reference",
    ),
)
