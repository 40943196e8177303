"""The provider that the documentation's snippets talk to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docs import fake_provider


@pytest.fixture(scope="session")
def provider() -> Iterator[fake_provider.FakeProvider]:
    with fake_provider.running() as running:
        yield running
