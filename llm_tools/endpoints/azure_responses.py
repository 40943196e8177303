"""Azure OpenAI, Responses API; the model is the name of a deployment.

Without `api_version` (or with `v1`, `latest`, `preview`) it is Azure's v1 API, with a dated one the
older API, whose Responses address names no deployment. https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ..spec import Endpoint, Place
from .azure_resources import AUTH, SETTINGS, is_dated, openai_url
from .openai_models import REASONING


def _place(values: Mapping[str, str], _: str) -> Place:
    """The address of a resource, whatever the deployment."""
    version, base_url = values.get("api_version", ""), openai_url(values)
    if not is_dated(version) and not base_url.endswith("/v1"):
        base_url += "/v1"
    return Place(base_url, f"api-version={quote(version)}" if version else "")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="azure",
        protocol="responses",
        dialect="openai_responses",
        base_url_env=("AZURE_OPENAI_ENDPOINT",),
        api_key_env=("AZURE_OPENAI_API_KEY",),
        auth=AUTH,
        place=_place,
        settings=SETTINGS,
        quirks={"custom_outputs": True},
        per_model=REASONING,
        tier="verified",
        docs_url="https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses",
    ),
)
