"""TLS that breaks after the handshake."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator

import pytest
from transport.scripted import HERE, make_request

from llm_tools.errors import LlmToolsError, StreamError, TransportError
from llm_tools.transport import Transport, TransportSettings

pytestmark = pytest.mark.anyio

CERTIFICATES = HERE / "certificates"
GARBAGE = b"\x17\x03\x03\x00\x20" + b"z" * 32
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello"


@pytest.fixture
def listen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Start a server that answers and then sends a record nobody can decrypt."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "ca.pem"))
    listeners: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve(listener: socket.socket, context: ssl.SSLContext, answer: bytes) -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            with plain:
                try:
                    with context.wrap_socket(plain, server_side=True) as peer:
                        peer.recv(65536)
                        peer.sendall(answer)
                        os.write(peer.fileno(), GARBAGE)
                        peer.unwrap()
                except OSError:
                    continue

    def start(answer: bytes = b"", *, client_certificate: bool = False) -> str:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
        if client_certificate:
            context.verify_mode = ssl.CERT_REQUIRED
        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=serve, args=(listener, context, answer))
        thread.start()
        listeners.append(listener)
        threads.append(thread)
        return f"https://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    for thread in threads:
        thread.join(10)


async def test_a_record_that_cannot_be_decrypted(kind: str, listen: Callable[..., str]) -> None:
    """Before the head, in a body, and in a stream: an error of ours, which says what was wrong."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1, timeout=5.0))
    for answer in (b"", HEAD):
        with pytest.raises(TransportError, match=r"broke: [\[\w].*Try again") as caught:
            await transport.send(make_request(listen(answer)))
        assert caught.value.retryable
    with pytest.raises(StreamError, match=r"broke off: [\[\w]"):
        stream = await transport.open(make_request(listen(HEAD), framing="sse"))
        while await stream.read_frames() is not None:
            pass


@pytest.mark.parametrize("size", [10, 3_000_000])
async def test_a_client_certificate_that_is_asked_for(
    kind: str, listen: Callable[..., str], size: int
) -> None:
    """TLS 1.3 asks for it after the handshake, while the request is on its way."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=2, timeout=5.0))
    with pytest.raises(LlmToolsError) as caught:
        await transport.send(make_request(listen(client_certificate=True), body=b"x" * size))
    assert type(caught.value) is TransportError
