"""HTTP/2 connections and streams that the server ends."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator

import h2.config
import h2.connection
import h2.events
import pytest
from transport.scripted import HERE, make_request

from llm_tools.errors import TransportError
from llm_tools.transport import AttemptFailed, Transport, TransportSettings, add_observer

pytestmark = pytest.mark.anyio

CERTIFICATES = HERE / "certificates"


def terminate(connection: h2.connection.H2Connection, stream: int) -> None:
    """GOAWAY: this stream was not looked at."""
    connection.close_connection(0, last_stream_id=0)


def refuse(connection: h2.connection.H2Connection, stream: int) -> None:
    """RST_STREAM: this stream was refused."""
    connection.reset_stream(stream, 7)


def break_off(connection: h2.connection.H2Connection, stream: int) -> None:
    """RST_STREAM in the middle of an answer."""
    connection.send_headers(stream, [(":status", "200")])
    connection.send_data(stream, b"{")
    connection.reset_stream(stream, 2)


Act = Callable[[h2.connection.H2Connection, int], None]


class Peer:
    """A server that does something else with its first request than with the others."""

    def __init__(self, act: Act) -> None:
        self.act = act
        self.requests = 0
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            with plain:
                try:
                    self.talk(self.context.wrap_socket(plain, server_side=True))
                except OSError:
                    continue

    def talk(self, peer: ssl.SSLSocket) -> None:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        with peer:
            over = False
            while not over:
                peer.sendall(connection.data_to_send())
                data = peer.recv(65536)
                over = not data
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.StreamEnded):
                        self.answer(connection, event.stream_id)
                        over = self.requests == 1 and self.act is terminate
            peer.sendall(connection.data_to_send())

    def answer(self, connection: h2.connection.H2Connection, stream: int) -> None:
        self.requests += 1
        if self.requests == 1:
            self.act(connection, stream)
            return
        connection.send_headers(stream, [(":status", "200")])
        connection.send_data(stream, b"{}", end_stream=True)

    def stop(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)


@pytest.fixture
def listen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Act], Peer]]:
    """Start such a server."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "ca.pem"))
    peers: list[Peer] = []

    def start(act: Act) -> Peer:
        peers.append(Peer(act))
        return peers[-1]

    yield start
    for peer in peers:
        peer.stop()


@pytest.mark.parametrize(
    ("act", "reason"),
    [(terminate, "ended the HTTP/2 connection"), (refuse, "reset the HTTP/2 stream")],
)
async def test_ended_before_the_head(listen: Callable[[Act], Peer], act: Act, reason: str) -> None:
    """It is tried again, as any connection that ends before an answer began."""
    peer = listen(act)
    failures: list[str] = []

    def observe(event: object) -> None:
        if isinstance(event, AttemptFailed):
            failures.append(str(event.error))

    remove = add_observer(observe)
    async with Transport(TransportSettings(http2=True, max_attempts=2)) as transport:
        assert (await transport.send(make_request(peer.url))).body == b"{}"
    remove()
    assert peer.requests == 2
    assert failures == [
        f"The connection to acme (127.0.0.1) broke: the server {reason}. Try again."
    ]


async def test_reset_in_the_body(listen: Callable[[Act], Peer]) -> None:
    """The answer had begun: it is an error at once."""
    peer = listen(break_off)
    async with Transport(TransportSettings(http2=True, max_attempts=2)) as transport:
        with pytest.raises(TransportError, match="StreamReset"):
            await transport.send(make_request(peer.url))
    assert peer.requests == 1
