"""Claude on Microsoft Foundry."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ConfigurationError
from ..spec import Endpoint, KeyAuth, Place, Setting
from .claude_models import CLAUDE


def _place(values: Mapping[str, str], _: str) -> Place:
    if "base_url" in values:
        return Place(values["base_url"])
    if "resource" not in values:
        raise ConfigurationError(
            "azure:anthropic needs to know where it is: give resource=… or base_url=…, or set "
            "ANTHROPIC_FOUNDRY_RESOURCE."
        )
    return Place(f"https://{values['resource']}.services.ai.azure.com/anthropic")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="azure:anthropic",
        dialect="anthropic_messages",
        base_url_env=("ANTHROPIC_FOUNDRY_BASE_URL",),
        api_key_env=("ANTHROPIC_FOUNDRY_API_KEY",),
        # Both headers are looked at, by different parts of the service.
        auth=KeyAuth(
            header="x-api-key",
            prefix="",
            also=("api-key",),
            token_header="authorization",  # noqa: S106 - a header's name
        ),
        settings=(
            Setting("resource", env=("ANTHROPIC_FOUNDRY_RESOURCE",)),
            Setting("api_version", default="2026-10-21"),
        ),
        place=_place,
        per_model=CLAUDE,
        tier="verified",
        docs_url="https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry",
    ),
)
