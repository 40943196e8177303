"""What Azure's two OpenAI endpoints have in common: where a resource is, and its keys."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ConfigurationError
from ..spec import KeyAuth, Setting

AUTH = KeyAuth(
    header="api-key",
    prefix="",
    token_header="authorization",  # noqa: S106 - a header's name
)
SETTINGS = (Setting("resource"), Setting("api_version", env=("OPENAI_API_VERSION",)))

_UNDATED = ("", "v1", "latest", "preview")


def is_dated(version: str) -> bool:
    """Whether this is a version of the API before v1."""
    return version not in _UNDATED


def openai_url(values: Mapping[str, str]) -> str:
    """The address of a resource's OpenAI, else a base URL; one that names `openai` stays as it is.

    Raises:
        ConfigurationError: neither was given.
    """
    base_url = values.get("base_url", "").rstrip("/")
    if "resource" in values:
        base_url = f"https://{values['resource']}.openai.azure.com"
    if not base_url:
        raise ConfigurationError(
            "azure needs to know where it is: pass resource= or base_url=, or set "
            "AZURE_OPENAI_ENDPOINT."
        )
    return base_url if "openai" in base_url.split("/")[3:] else f"{base_url}/openai"
