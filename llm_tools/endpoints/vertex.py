"""Gemini on Vertex AI. It does not take back what the Gemini API signed, nor the reverse."""

from __future__ import annotations

from collections.abc import Mapping

from ..spec import Endpoint, GoogleAuth, Place, Setting
from .gemini_models import GEMINI
from .vertex_hosts import publisher_url

_PUBLISHER = "publishers/google/models/"


def _place(values: Mapping[str, str], _: str) -> Place:
    """The publisher's collection of models; the path adds the model and the verb."""
    return Place(publisher_url(values, "google", values["api_version"]))


def _model_id(model: str) -> str:
    """The model as the path wants it, also out of its full name."""
    return model.removeprefix(_PUBLISHER).removeprefix("models/").removeprefix("google/")


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="vertex",
        dialect="gemini",
        base_url_env=("GOOGLE_VERTEX_BASE_URL",),
        auth=GoogleAuth(),
        settings=(
            Setting("project", env=("GOOGLE_CLOUD_PROJECT",), required=True),
            Setting("location", env=("GOOGLE_CLOUD_LOCATION",), default="global"),
            Setting("api_version", default="v1beta1"),
        ),
        place=_place,
        model_id=_model_id,
        quirks={"vertex_numbers": True, "levels": ("minimal", "low", "medium", "high")},
        per_model=GEMINI,
        tier="verified",
        docs_url="https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference",
    ),
)
