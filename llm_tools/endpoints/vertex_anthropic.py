"""Claude on Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping

from ..spec import Endpoint, GoogleAuth, Place, Setting
from .claude_models import CLAUDE
from .vertex_hosts import publisher_url


def _place(values: Mapping[str, str], _: str) -> Place:
    """The publisher's collection of models; the path adds the model and the verb."""
    return Place(f"{publisher_url(values, 'anthropic', 'v1')}/models")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="vertex:anthropic",
        dialect="anthropic_messages",
        base_url_env=("ANTHROPIC_VERTEX_BASE_URL",),
        auth=GoogleAuth(),
        settings=(
            Setting(
                "project",
                env=("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"),
                required=True,
            ),
            Setting("location", env=("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"), default="global"),
        ),
        place=_place,
        path="/{model}:rawPredict",
        stream_path="/{model}:streamRawPredict",
        body={"anthropic_version": "vertex-2023-10-16"},
        quirks={"api_version": None, "model_in_body": False},
        per_model=CLAUDE,
        tier="verified",
        docs_url="https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai",
    ),
)
