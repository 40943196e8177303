"""What the tests of endpoints share."""

from __future__ import annotations

import pytest

from llm_tools import list_endpoints, registry


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    list_endpoints()
    kept = {key: dict(records) for key, records in registry._endpoints.items()}
    monkeypatch.setattr(registry, "_endpoints", kept)
    monkeypatch.setattr(registry, "_loaded", set(registry._loaded))
