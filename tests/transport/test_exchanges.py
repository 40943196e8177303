"""Whole answers over real connections, on both transports."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

import anyio
import pytest
from transport.scripted import KEY, OK, Server, chunk, error, http, make_request

from llm_tools.errors import (
    AuthenticationError,
    ProviderError,
    RequestTimeoutError,
    ResponseDecodeError,
    ServerError,
    TransportError,
)
from llm_tools.transport import Transport, TransportSettings
from llm_tools.transport.inflating import Inflater

pytestmark = pytest.mark.anyio


def send(text: str) -> list[Any]:
    return ["send", text]


async def test_an_answer_and_what_was_sent(server: Server, transport: Transport) -> None:
    """The request arrives as it was meant, and the answer comes back whole."""
    script = server.script(http('{"a":"é"}', headers={"X-Request-Id": "r1"}))
    body = json.dumps({"model": "m", "long": "x" * 300_000}).encode()
    answer = await transport.send(script.request(body=body, headers={"X-Extra": "1"}))
    assert (answer.status, answer.body) == (200, '{"a":"é"}'.encode())
    assert answer.headers["x-request-id"] == "r1"
    (entry,) = script.log
    assert (entry["method"], entry["path"]) == ("POST", f"/{script.name}/v1/chat/completions")
    assert entry["body"].encode() == body
    assert entry["headers"] == {
        "host": f"127.0.0.1:{server.port}",
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "user-agent": "llm-tools",
        "x-extra": "1",
        "authorization": f"Bearer {KEY}",
        "content-length": str(len(body)),
    }


async def test_a_connection_is_used_again(server: Server, transport: Transport) -> None:
    """Calls one after another share a connection; calls side by side have one each."""
    script = server.script(OK)
    for _ in range(3):
        await transport.send(script.request())
    assert len({entry["connection"] for entry in script.log}) == 1
    slow = server.script([["sleep", 0.2], *OK])
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(transport.send, slow.request())
    assert len({entry["connection"] for entry in slow.log}) == 5


BODY = b'{"text":"' + b"abc" * 1000 + b'"}'


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


COMPRESSED = [
    ("gzip", gzip.compress(BODY, mtime=0)),
    ("X-GZIP", gzip.compress(BODY, mtime=0)),
    ("deflate", zlib.compress(BODY)),
    ("deflate", raw_deflate(BODY)),
    ("identity", BODY),
    ("", BODY),
]


@pytest.mark.parametrize(("encoding", "data"), COMPRESSED)
async def test_compressed_answers(
    server: Server, transport: Transport, encoding: str, data: bytes
) -> None:
    """Every compression that is offered is undone."""
    script = server.script(http(data, headers={"content-encoding": encoding}))
    assert (await transport.send(script.request())).body == BODY


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(("encoding", "data"), COMPRESSED)
def test_compressed_answers_in_pieces(encoding: str, data: bytes, size: int) -> None:
    """However few bytes come first; what ends before it can be told is cut off."""
    inflater = Inflater({"content-encoding": encoding}, 1_000_000)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join([*map(inflater.feed, pieces), inflater.close()]) == BODY
    if not inflater.is_plain:
        cut = Inflater({"content-encoding": encoding}, 1_000_000)
        assert cut.feed(data[:1]) == b""
        with pytest.raises(ResponseDecodeError, match="cut off"):
            cut.close()


async def test_bodies_of_every_length_marking(server: Server, transport: Transport) -> None:
    """Chunks with extensions and trailers, a body until the end of the connection, an early 1xx."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    chunked = f'{head}transfer-encoding: chunked\r\n\r\n5;x="y"\r\n{{"a":\r\n2\r\n1}}\r\n0\r\nx-t: 1\r\n\r\n'
    early = f"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n{head}content-length: 7\r\n\r\n"
    for step in (
        [send(chunked)],
        [send(f'{head}\r\n{{"a":'), ["sleep", 0.02], send("1}"), ["close"]],
        [send(early + '{"a":1}')],
        [send(f'{head}connection: close\r\ncontent-length: 7\r\n\r\n{{"a":1}}'), ["close"]],
        [send('HTTP/1.0 200 OK\r\n\r\n{"a":1}'), ["close"]],
    ):
        script = server.script(step)
        for _ in range(2):
            assert (await transport.send(script.request())).body == b'{"a":1}'


async def test_an_answer_in_many_small_pieces(server: Server, transport: Transport) -> None:
    """Head and body may come byte by byte."""
    whole = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}'
    script = server.script([send(byte) for byte in whole])
    assert (await transport.send(script.request())).body == b'{"a":1}'


async def test_errors_of_the_provider(server: Server, transport: Transport) -> None:
    """An error status is the class of its body, and the connection stays usable."""
    script = server.script(error(401, "bad key", "invalid_api_key", x_request_id="r1"), OK)
    with pytest.raises(AuthenticationError, match="bad key") as caught:
        await transport.send(script.request())
    assert (caught.value.request_id, caught.value.endpoint) == ("r1", "acme")
    await transport.send(script.request())
    assert len({entry["connection"] for entry in script.log}) == 1


async def test_redirects_are_not_followed(server: Server, transport: Transport) -> None:
    """A 3xx names the host it points to, and nothing is sent there."""
    other = server.script(OK)
    location = f"{other.base_url}/x?key=abc"
    script = server.script(http("", status=307, headers={"location": location}))
    with pytest.raises(ProviderError, match=r"redirects to 127\.0\.0\.1") as caught:
        await transport.send(script.request())
    assert caught.value.status == 307
    assert "abc" not in str(caught.value)
    assert other.log == []


async def test_a_body_cut_short(server: Server, transport: Transport) -> None:
    """A body that breaks off is an error that is not tried again: the answer had begun."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    for step in (
        [send(f'{head}content-length: 70\r\n\r\n{{"a":'), ["close"]],
        [send(f'{head}content-length: 70\r\n\r\n{{"a":'), ["sleep", 0.02], ["reset"]],
        [send(f'{head}transfer-encoding: chunked\r\n\r\n5\r\n{{"a":\r\n'), ["close"]],
        [send(f"{head}transfer-encoding: chunked\r\n\r\nzz\r\n"), ["close"]],
    ):
        script = server.script(step)
        patient = Transport(TransportSettings(transport=_kind(transport), max_attempts=3))
        with pytest.raises(TransportError, match="broke") as caught:
            await patient.send(script.request())
        assert caught.value.retryable
        assert len(script.log) == 1


async def test_an_error_whose_body_breaks_off_keeps_its_status(
    server: Server, transport: Transport
) -> None:
    """The status says enough when the body does not come whole."""
    script = server.script(
        [send("HTTP/1.1 500 No\r\ncontent-length: 70\r\n\r\n{oops"), ["close"]],
        [send("HTTP/1.1 500 No\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n{oops")],
        [send("HTTP/1.1 500 No\r\ncontent-encoding: br\r\ncontent-length: 5\r\n\r\n{oops")],
    )
    for _ in range(3):
        with pytest.raises(ServerError):
            await transport.send(script.request())


async def test_a_web_page_is_no_answer(server: Server, transport: Transport) -> None:
    """HTML under a 200 is told as what it is, and not tried again."""
    page = http("<html><title>Sign in</title></html>", headers={"content-type": "text/html"})
    script = server.script(page)
    for call in (transport.send, transport.open):
        with pytest.raises(ResponseDecodeError, match="web page: check base_url") as caught:
            await call(script.request())
        assert not caught.value.retryable
        assert "Sign in" in (caught.value.body or "")
    mislabelled = server.script(http("{}", headers={"content-type": "text/html"}))
    assert (await transport.send(mislabelled.request())).body == b"{}"


@pytest.mark.parametrize("kind", ["httpx", "fast"])
async def test_a_timeout_is_not_retried_once_the_request_is_out(server: Server, kind: str) -> None:
    """A provider that does not answer may be working: one request, and its connection is cut."""
    transport = Transport(TransportSettings(transport=kind, timeout=0.2, max_attempts=3))
    script = server.script([["stall"]], OK)
    with pytest.raises(RequestTimeoutError, match=r"timeout=0\.2 s") as caught:
        await transport.send(script.request())
    assert caught.value.retryable
    assert len(script.log) == 1
    await _until(lambda: script.log[0]["gone"] is not None)
    await transport.send(script.request())


@pytest.mark.parametrize("kind", ["httpx", "fast"])
async def test_a_slow_body_is_bounded_by_the_timeout(server: Server, kind: str) -> None:
    """Bytes that trickle in do not stretch the time a call may take."""
    transport = Transport(TransportSettings(transport=kind, timeout=0.3))
    head = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"
    script = server.script(
        [send(head), *[[*a] for _ in range(100) for a in (send("x"), ["sleep", 0.02])]]
    )
    with pytest.raises(RequestTimeoutError):
        await transport.send(script.request())


@pytest.mark.parametrize("kind", ["httpx", "fast"])
async def test_a_cancelled_call_leaves_nothing_behind(server: Server, kind: str) -> None:
    """Cancelling cuts the connection at once; the transport works on."""
    transport = Transport(TransportSettings(transport=kind))
    script = server.script([["stall"]], OK)
    async with anyio.create_task_group() as group:
        group.start_soon(transport.send, script.request())
        await _until(lambda: len(script.log) == 1)
        group.cancel_scope.cancel()
    await _until(lambda: script.log[0]["gone"] is not None)
    assert (await transport.send(script.request())).status == 200


async def test_nobody_listens(transport: Transport, unused_port: int) -> None:
    """A refused connection is a `TransportError` that says what to check."""
    request = make_request(f"http://127.0.0.1:{unused_port}/v1")
    with pytest.raises(TransportError, match="Check base_url") as caught:
        await transport.send(request)
    assert not isinstance(caught.value, RequestTimeoutError)
    assert caught.value.__cause__ is not None
    assert caught.value.__cause__.__traceback__ is None


async def test_something_else_listens(server: Server, transport: Transport) -> None:
    """Bytes that are no HTTP are an error, not tried again."""
    for text in (
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    ):
        script = server.script([send(text), ["close"]])
        patient = Transport(TransportSettings(transport=_kind(transport), max_attempts=3))
        with pytest.raises(TransportError, match="HTTP API"):
            await patient.send(script.request())
        assert len(script.log) == 1


@pytest.mark.parametrize(
    "stray", ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{bad}", "{}", "\r\n\r\n0"]
)
async def test_stray_bytes_after_an_answer(
    server: Server, transport: Transport, stray: str
) -> None:
    """Bytes nobody asked for neither become the next answer nor spoil it."""
    head = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n"
    script = server.script([send(f'{head}{{"a":1}}{stray}')], [send(f'{head}{{"b":2}}')])
    for expected in (b'{"a":1}', b'{"b":2}', b'{"b":2}'):
        assert (await transport.send(script.request())).body == expected
    first, second, third = (entry["connection"] for entry in script.log)
    assert first != second == third


async def test_big_answers(server: Server, transport: Transport) -> None:
    """An answer of several megabytes comes whole."""
    text = json.dumps({"a": "x" * 5_000_000})
    script = server.script(http(text))
    assert (await transport.send(script.request())).body == text.encode()
    chunks = server.script(
        [send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"),
         ["repeat", chunk("y" * 100_000), 30], send("0\r\n\r\n")]
    )  # fmt: skip
    assert len((await transport.send(chunks.request())).body) == 3_000_000


def _kind(transport: Transport) -> str:
    return str(transport.settings.transport)


async def _until(condition: Any) -> None:
    """Wait until another process has noticed."""
    with anyio.fail_after(10):
        while not condition():
            await anyio.sleep(0.01)


def test_base64_step_is_exact() -> None:
    """The scripted server gets the very bytes of a compressed body."""
    (action,) = http(b"\x00\xff")
    assert base64.b64decode(action[1]).endswith(b"\r\n\r\n\x00\xff")


@pytest.mark.parametrize("location", ["/other", "other?key=abc", "", "//127.0.0.1/x"])
async def test_a_redirect_without_a_host(
    server: Server, transport: Transport, location: str
) -> None:
    """It stays at the host that was asked, and the error names that."""
    script = server.script(http("", status=308, headers={"location": location}))
    with pytest.raises(ProviderError, match=r"redirects to 127\.0\.0\.1, which is not followed"):
        await transport.send(script.request())


async def test_an_error_whose_body_stalls_keeps_its_status(
    server: Server, transport: Transport
) -> None:
    """The attempt's time ends the body, not the error; what had come is read."""
    head = "HTTP/1.1 401 no\r\ncontent-length: 99\r\n\r\n"
    script = server.script([send(f"{head}wrong"), ["stall"]])
    impatient = Transport(TransportSettings(transport=_kind(transport), timeout=1.0))
    with pytest.raises(AuthenticationError, match="answered 401: wrong"):
        await impatient.send(script.request())
