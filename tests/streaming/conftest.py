"""A server in another process, and both transports of ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from transport.scripted import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that answers as it is told, however badly."""
    running = Server()
    yield running
    running.stop()


@pytest.fixture(params=["httpx", "fast"])
def kind(request: pytest.FixtureRequest) -> str:
    """Both transports of ours."""
    return str(request.param)
