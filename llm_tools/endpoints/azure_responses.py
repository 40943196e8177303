"""Azure OpenAI, Responses API; the model is the name of a deployment.

Without `api_version` (or with `v1`, `latest`, `preview`) it is Azure's v1 API, with a dated one the
older API, whose Responses address names no deployment. https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ..errors import ConfigurationError
from ..spec import Endpoint, KeyAuth, Place, Setting
from .openai_models import REASONING

_UNDATED = ("v1", "latest", "preview")


def _place(values: Mapping[str, str], model: str) -> Place:
    """The address of a resource, else a base URL; one that names `openai` is taken as it is."""
    version = values.get("api_version", "")
    base_url = values.get("base_url", "").rstrip("/")
    if "resource" in values:
        base_url = f"https://{values['resource']}.openai.azure.com"
    if not base_url:
        raise ConfigurationError(
            "azure needs to know where it is: pass resource= or base_url=, or set "
            "AZURE_OPENAI_ENDPOINT."
        )
    if "openai" not in base_url.split("/")[3:]:
        base_url += "/openai"
    if (not version or version in _UNDATED) and not base_url.endswith("/v1"):
        base_url += "/v1"
    return Place(base_url, f"api-version={quote(version)}" if version else "")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="azure",
        protocol="responses",
        dialect="openai_responses",
        base_url_env=("AZURE_OPENAI_ENDPOINT",),
        api_key_env=("AZURE_OPENAI_API_KEY",),
        auth=KeyAuth(
            header="api-key",
            prefix="",
            token_header="authorization",  # noqa: S106 - a header's name
        ),
        place=_place,
        settings=(
            Setting("resource"),
            Setting("api_version", env=("OPENAI_API_VERSION",)),
        ),
        quirks={"custom_outputs": True},
        per_model=REASONING,
        tier="verified",
        docs_url="https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses",
    ),
)
