"""Azure OpenAI, Chat Completions; the model is the name of a deployment.

Without `api_version` (or with `v1`, `latest`, `preview`) it is Azure's v1 API; with a dated one
the address names the deployment. https://learn.microsoft.com/azure/ai-foundry/openai/reference
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ..errors import ConfigurationError
from ..functions.subsets import OPENAI_STRICT
from ..spec import Endpoint, KeyAuth, Place, Setting
from .openai_chat_models import CHAT_MODELS

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
    segments = base_url.split("/")[3:]
    if "openai" not in segments:
        base_url += "/openai"
    dated = version and version not in _UNDATED
    if segments[-1:] != ["v1"] and "deployments" not in segments:
        base_url += f"/deployments/{quote(model, safe='')}" if dated else "/v1"
    return Place(base_url, f"api-version={quote(version)}" if version else "")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="azure",
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
        docs_url="https://learn.microsoft.com/azure/ai-foundry/openai/reference",
    ),
)
