"""Sockets of the fast transport: hosts with several addresses, and streams that break."""

from __future__ import annotations

import socket
from typing import Any

import anyio
import pytest
from transport.scripted import OK, Server, make_request

from llm_tools.errors import ConfigurationError
from llm_tools.transport import Transport, TransportSettings
from llm_tools.transport.carriers.fast import sockets
from llm_tools.transport.carriers.fast.sockets import SocketStream, connect

pytestmark = pytest.mark.anyio


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What names resolve to."""
    found: list[tuple[Any, ...]] = []

    async def resolve(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        assert host == "acme.localhost"
        return found

    monkeypatch.setattr(anyio, "getaddrinfo", resolve)
    return found


def address(port: int) -> tuple[Any, ...]:
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))


async def test_an_address_that_refuses_is_passed_over(
    server: Server, unused_port: int, addresses: list[Any]
) -> None:
    """The next address is tried at once."""
    addresses += [address(unused_port), address(unused_port), address(server.port)]
    stream = await connect("acme.localhost", 80)
    assert stream._socket.getpeername()[1] == server.port
    await stream.aclose()


async def test_an_address_that_does_not_answer_is_overtaken(
    server: Server, deaf_port: int, addresses: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next is tried beside it after a moment; the loser's socket is closed."""
    monkeypatch.setattr(sockets, "_HEAD_START", 0.05)
    addresses += [address(deaf_port), address(server.port)]
    with anyio.fail_after(5):
        stream = await connect("acme.localhost", 80)
    assert stream._socket.getpeername()[1] == server.port
    await stream.aclose()


async def test_no_address_takes_a_connection(unused_port: int, addresses: list[Any]) -> None:
    """The last one's error is raised; of a single address likewise."""
    addresses += [address(unused_port), address(unused_port)]
    with pytest.raises(ConnectionRefusedError):
        await connect("acme.localhost", 80)
    del addresses[1:]
    with pytest.raises(ConnectionRefusedError):
        await connect("acme.localhost", 80)


async def test_cancelled_while_connecting(deaf_port: int, addresses: list[Any]) -> None:
    """No socket is left."""
    addresses += [address(deaf_port), address(deaf_port)]
    with anyio.move_on_after(0.1) as scope:
        await connect("acme.localhost", 80)
    assert scope.cancelled_caught


async def test_a_host_by_name(server: Server, addresses: list[Any]) -> None:
    """Names are resolved by the loop."""
    addresses.append(address(server.port))
    script = server.script(OK)
    transport = Transport(TransportSettings(transport="fast"))
    answer = await transport.send(make_request(f"http://acme.localhost/{script.name}/v1"))
    assert answer.status == 200
    assert script.log[0]["headers"]["host"] == "acme.localhost"


@pytest.fixture
def pair() -> Any:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    yield SocketStream(ours), theirs
    ours.close()
    theirs.close()


async def test_sending_more_than_a_socket_takes(pair: Any) -> None:
    """What does not fit waits until there is room."""
    stream, theirs = pair
    data = b"x" * 5_000_000
    got = bytearray()

    def read() -> None:
        while len(got) < len(data):
            got.extend(theirs.recv(1 << 20))

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, read)
        await stream.send(data)
    assert bytes(got) == data


async def test_whether_a_connection_is_quiet(pair: Any) -> None:
    """Open and silent; then with bytes nobody asked for; then closed by either side."""
    stream, theirs = pair
    assert stream.is_quiet()
    theirs.send(b"x")
    assert not stream.is_quiet()
    assert await stream.receive() == b"x"
    theirs.close()
    assert not stream.is_quiet()
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()
    with pytest.raises(anyio.BrokenResourceError):
        await stream.send(b"y")
    await stream.aclose()
    await stream.aclose()
    assert not stream.is_quiet()
    for use in (stream.receive(), stream.send(b"y")):
        with pytest.raises(anyio.BrokenResourceError):
            await use


async def test_what_anyio_wants_of_a_stream(pair: Any) -> None:
    """The socket is there for who asks, and one side can be done before the other."""
    stream, theirs = pair
    assert stream.extra(anyio.abc.SocketAttribute.raw_socket) is stream._socket
    await stream.send_eof()
    assert theirs.recv(1) == b""


@pytest.mark.parametrize("kind", ["httpx", "fast"])
async def test_authorities_that_cannot_be_read(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """A file that is missing or holds none is named; a folder is taken as one."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for path in (tmp_path / "missing.pem", empty):
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        with pytest.raises(ConfigurationError, match=f"SSL_CERT_FILE='{path}'"):
            await transport.send(make_request("https://127.0.0.1:1"))
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with pytest.raises(Exception, match="broke"):
        await transport.send(make_request("https://127.0.0.1:1"))
