"""Where Vertex AI is, by location and publisher."""

from __future__ import annotations

from collections.abc import Mapping

_MULTI_REGIONS = ("us", "eu")


def publisher_url(values: Mapping[str, str], publisher: str, version: str) -> str:
    """A publisher's collection of models in a project and location, or behind a base URL."""
    location, project = values["location"], values["project"]
    base = (values.get("base_url") or f"https://{_host(location)}/{version}").rstrip("/")
    return f"{base}/projects/{project}/locations/{location}/publishers/{publisher}"


def _host(location: str) -> str:
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"
