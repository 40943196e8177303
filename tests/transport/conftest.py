"""Servers that misbehave, and both transports of ours."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from transport.scripted import HERE, Server

from llm_tools.transport import Transport, TransportSettings


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Plain HTTP."""
    running = Server()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def tls_server() -> Iterator[Server]:
    """HTTPS, with a certificate of the authority in `certificates/ca.pem`."""
    folder = HERE / "certificates"
    running = Server(str(folder / "server.pem"), str(folder / "server.key"))
    yield running
    running.stop()


@pytest.fixture(params=["httpx", "fast"])
def kind(request: pytest.FixtureRequest) -> str:
    """Both transports of ours."""
    return str(request.param)


@pytest.fixture
def transport(kind: str) -> Transport:
    """A transport with settings that suit most tests."""
    return Transport(TransportSettings(transport=kind, max_attempts=1, timeout=20.0))


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port that is taken, and where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port whose listener takes no connection: its queue is full."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        yield port
