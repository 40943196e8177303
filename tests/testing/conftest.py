"""A server that answers as its script says, in a process of its own."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from transport.scripted import HERE, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Plain HTTP, on this machine."""
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def tls_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """HTTPS, trusted."""
    folder = HERE / "certificates"
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
    running = Server(str(folder / "server.pem"), str(folder / "server.key"))
    yield running
    running.stop()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a recording goes; neither the file nor its folder is there."""
    return tmp_path / "recordings" / "exchanges.jsonl"


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port that is taken, and where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
