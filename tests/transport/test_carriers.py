"""The caller's own clients and transports, proxies, TLS, HTTP/2, and the fast client within httpx."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import httpx
import httpx2
import pytest
import respx
from transport.scripted import HERE, KEY, OK, Server, chunk, error, http, make_request, sse_head

from llm_tools.errors import (
    BadRequestError,
    ConfigurationError,
    RequestTimeoutError,
    ServerError,
    StreamError,
    TransportError,
)
from llm_tools.transport import FastTransport, Transport, TransportSettings

pytestmark = pytest.mark.anyio
CA = str(HERE / "certificates/ca.pem")


@pytest.fixture(params=[httpx, httpx2], ids=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest) -> Any:
    """httpx, and a library with its interface."""
    return request.param


# ---------------------------------------------------------------- the caller's client


async def test_a_client_of_the_callers(server: Server, library: Any) -> None:
    """Calls and streams go through it, with its own headers too; it is not closed."""
    script = server.script(OK, [["send", sse_head() + chunk("data: a\n\n") + "0\r\n\r\n"]])
    async with library.AsyncClient(headers={"x-mine": "1"}) as client:
        transport = Transport(TransportSettings(client=client))
        async with transport:
            assert (await transport.send(script.request())).body == b'{"ok":true}'
            stream = await transport.open(script.request(framing="sse"))
            frames = await stream.read_frames()
            assert frames is not None
            assert frames[0].data == b"a"
            assert await stream.read_frames() is None
        await transport.aclose()
        assert not client.is_closed
        assert script.log[0]["headers"]["x-mine"] == "1"
        assert script.log[0]["headers"]["authorization"] == f"Bearer {KEY}"
        assert len({entry["connection"] for entry in script.log}) == 1
    with pytest.raises(ConfigurationError, match="has been closed"):
        await transport.send(script.request())


async def test_failures_through_a_client(server: Server, library: Any) -> None:
    """Its exceptions become ours, whichever library they are of; redirects stay unfollowed."""
    async with library.AsyncClient(follow_redirects=True) as client:
        transport = Transport(TransportSettings(client=client, max_attempts=2, timeout=0.5))
        reset = server.script([["reset"]])
        with pytest.raises(TransportError, match="broke"):
            await transport.send(reset.request())
        assert len(reset.log) == 2
        stalled = server.script([["stall"]])
        with pytest.raises(RequestTimeoutError, match="may still be working"):
            await transport.send(stalled.request())
        assert len(stalled.log) == 1
        moved = server.script(http("", status=307, headers={"location": "/elsewhere"}))
        with pytest.raises(Exception, match="redirects"):
            await transport.send(moved.request())
        cut = server.script([["send", sse_head() + chunk("data: a\n\n")], ["close"]])
        stream = await transport.open(cut.request(framing="sse"))
        await stream.read_frames()
        with pytest.raises(StreamError):
            await stream.read_frames()


async def test_a_stream_left_early_through_a_client(server: Server, library: Any) -> None:
    """Leaving frees the client's connection."""
    script = server.script([["send", sse_head() + chunk("data: a\n\n")], ["stall"]])
    async with library.AsyncClient() as client:
        stream = await Transport(TransportSettings(client=client)).open(
            script.request(framing="sse")
        )
        await stream.read_frames()
        await stream.aclose()
        with anyio.fail_after(10):
            while script.log[0]["gone"] is None:
                await anyio.sleep(0.01)
    assert len(script.log) == 1


# ---------------------------------------------------------------- the caller's transport


async def test_a_mock_transport() -> None:
    """A handler sees the whole request; what it returns is the answer, its errors are its own."""
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if len(seen) == 1:
            return httpx.Response(
                500, json={"error": {"message": "first"}}, headers={"retry-after": "0"}
            )
        return httpx.Response(200, json={"n": len(seen)})

    transport = Transport(TransportSettings(transport=httpx.MockTransport(handler)))
    request = make_request("https://api.example/v1", body=b'{"a":1}', headers={"X-A": "b"})
    assert (await transport.send(request)).body == b'{"n":2}'
    assert str(seen[0].url) == "https://api.example/v1/chat/completions"
    assert seen[0].content == b'{"a":1}'
    assert seen[0].headers["host"] == "api.example"
    assert seen[0].headers["x-a"] == "b"
    stream = await transport.open(make_request("https://api.example/v1", framing="sse"))
    frames = await stream.read_frames()
    assert frames is not None
    assert frames[0].data == b'{"n":3}'


async def test_what_a_mock_raises() -> None:
    """Network errors of a mock are ours; a failed assertion in it stays one."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route", request=request)

    def fail(request: httpx.Request) -> httpx.Response:
        raise AssertionError("the test's own")

    async def hang(request: httpx.Request) -> httpx.Response:
        hung.append(request)
        await anyio.sleep_forever()
        raise NotImplementedError

    hung: list[httpx.Request] = []

    def transport(handler: Any) -> Transport:
        mock = httpx.MockTransport(handler)
        return Transport(TransportSettings(transport=mock, timeout=0.1, max_attempts=1))

    request = make_request("https://api.example/v1")
    with pytest.raises(TransportError, match="no route") as caught:
        await transport(refuse).send(request)
    assert type(caught.value.__cause__) is httpx.ConnectError
    with pytest.raises(AssertionError, match="the test's own"):
        await transport(fail).send(request)
    with pytest.raises(RequestTimeoutError, match="did not answer"):
        await transport(hang).send(request)
    assert len(hung) == 1


class EndlessBody(httpx.AsyncByteStream):
    """A body of a mock's, which never waits and never ends."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            yield b"data: a\n\n"


async def test_a_mocks_stream_left_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body without end or waiting is left all the same."""
    monkeypatch.setattr("llm_tools.transport.carriers.httpx_request._BUFFERED_AT_MOST", 100)
    mock = httpx.MockTransport(lambda request: httpx.Response(200, stream=EndlessBody()))
    stream = await Transport(TransportSettings(transport=mock)).open(
        make_request("https://api.example/v1", framing="sse")
    )
    assert await stream.read_frames()
    with anyio.fail_after(5):
        await stream.aclose()


async def test_respx_in_its_default_mode() -> None:
    """The default transport is intercepted by respx, below httpx's client."""
    transport = Transport(TransportSettings())
    with respx.mock:
        route = respx.post("https://api.example/v1/chat/completions")
        route.side_effect = [
            httpx.Response(503, headers={"retry-after": "0"}),
            httpx.Response(200, json={"a": 1}),
        ]
        answer = await transport.send(make_request("https://api.example/v1"))
    assert json.loads(answer.body) == {"a": 1}
    assert route.call_count == 2
    assert route.calls[0].request.headers["authorization"] == f"Bearer {KEY}"


# ---------------------------------------------------------------- settings that do not fit


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transport": "slow"}, "'httpx', 'fast' or"),
        ({"transport": object()}, "'httpx', 'fast' or"),
        ({"transport": "fast", "http2": True}, "http2=True needs"),
        ({"client": object()}, r"no httpx\.AsyncClient"),
        ({"client": httpx.Client()}, r"no httpx\.AsyncClient"),
        ({"client": httpx.AsyncClient(), "http2": True}, "its own connections"),
        ({"client": httpx.AsyncClient(), "transport": "fast"}, "its own connections"),
        ({"limiter": 3}, "create_limiter"),
        ({"timeout": 0}, "above 0"),
        ({"deadline": -1.0}, "above 0"),
        ({"timeout": float("nan")}, "above 0"),
        ({"max_attempts": 0}, "at least 1"),
    ],
)
async def test_settings_that_do_not_fit(settings: dict[str, Any], message: str) -> None:
    """They are refused when they are made."""
    with pytest.raises(ConfigurationError, match=message):
        TransportSettings(**settings)


async def test_settings_can_be_compared_and_hashed() -> None:
    """Like settings are equal, and keys of a dict."""
    assert TransportSettings(timeout=3.0) == TransportSettings(timeout=3.0)
    assert len({TransportSettings(), TransportSettings(), TransportSettings(http2=True)}) == 2


# ---------------------------------------------------------------- proxies


async def test_a_proxy_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default transport goes through it; the fast one says that it cannot."""
    monkeypatch.setenv("HTTP_PROXY", server.url)
    script = server.script(OK)
    request = make_request(f"http://api.example/{script.name}/v1")
    settings = {"allow_http": True, "max_attempts": 1}
    answer = await Transport(TransportSettings(**settings)).send(request)
    assert answer.body == b'{"ok":true}'
    assert script.log[0]["path"] == f"http://api.example/{script.name}/v1/chat/completions"
    fast = Transport(TransportSettings(transport="fast", **settings))
    with pytest.raises(ConfigurationError, match="NO_PROXY"):
        await fast.send(request)


async def test_hosts_a_proxy_does_not_stand_before(
    server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`NO_PROXY` is kept to."""
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    script = server.script(OK)
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    assert (await transport.send(script.request())).status == 200


# ---------------------------------------------------------------- TLS


async def test_tls_with_an_authority_of_ones_own(
    tls_server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`SSL_CERT_FILE` names the authority; calls and streams work, connections are used again."""
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    script = tls_server.script(OK, [["send", sse_head() + chunk("data: a\n\n") + "0\r\n\r\n"]], OK)
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    body = b'{"a":"' + b"x" * 500_000 + b'"}'
    assert (await transport.send(script.request(body=body))).status == 200
    stream = await transport.open(script.request(framing="sse"))
    frames = await stream.read_frames()
    assert frames is not None
    assert frames[0].data == b"a"
    assert await stream.read_frames() is None
    by_name = make_request(f"https://localhost:{tls_server.port}/{script.name}/v1")
    assert (await transport.send(by_name)).status == 200
    first, second, third = (entry["connection"] for entry in script.log)
    assert first == second != third


async def test_a_certificate_nobody_vouches_for(
    tls_server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error that says what to do, and is not tried again."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    script = tls_server.script(OK)
    with pytest.raises(TransportError, match="SSL_CERT_FILE") as caught:
        await Transport(TransportSettings(transport=kind)).send(script.request())
    assert not caught.value.retryable
    assert script.log == []


async def test_a_certificate_of_another_host(
    tls_server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name in the certificate must be the host's."""
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    request = make_request(f"https://127.0.0.2:{tls_server.port}/v1")
    monkeypatch.setattr("socket.socket.connect", _connect_to_any_loopback)
    with pytest.raises(TransportError, match=r"certificate is not trusted|broke"):
        await Transport(TransportSettings(transport=kind, max_attempts=1)).send(request)


def _connect_to_any_loopback(sock: Any, address: Any) -> None:
    import _socket

    assert address[0].startswith("127.")
    _socket.socket.connect(sock, address)


async def test_plain_http_where_tls_is_spoken_and_the_reverse(
    server: Server, tls_server: Server, kind: str
) -> None:
    """Either mistake is a `TransportError`."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1, timeout=0.5))
    for url in (f"https://127.0.0.1:{server.port}", f"http://127.0.0.1:{tls_server.port}"):
        with pytest.raises(TransportError):
            await transport.send(make_request(url))


@pytest.mark.parametrize("cut", [[["close"]], [["reset"]], [["stall"]]])
async def test_failures_over_tls(
    tls_server: Server, kind: str, monkeypatch: pytest.MonkeyPatch, cut: list[Any]
) -> None:
    """Streams over TLS break and stall like others."""
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    script = tls_server.script([["send", sse_head() + chunk("data: a\n\n")], ["sleep", 0.05], *cut])
    transport = Transport(TransportSettings(transport=kind, timeout=0.5, max_attempts=1))
    stream = await transport.open(script.request(framing="sse"))
    assert await stream.read_frames()
    with pytest.raises((StreamError, RequestTimeoutError)):
        await stream.read_frames()


async def test_cancelled_during_a_handshake(server: Server, kind: str) -> None:
    """A call that is cancelled while TLS is set up leaves no socket behind."""
    request = make_request(f"https://127.0.0.1:{server.port}")
    async with httpx.AsyncClient() as client:
        for settings in (TransportSettings(transport=kind), TransportSettings(client=client)):
            with anyio.move_on_after(0.3) as scope:
                await Transport(settings).send(request)
            assert scope.cancelled_caught
    gc.collect()


# ---------------------------------------------------------------- HTTP/2


H2_APP = """
import sys
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": kind + ".complete"})
            if kind.endswith("shutdown"):
                return
    body = b""
    while True:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body"):
            break
    status = 400 if b"bad" in body else 200
    await send({"type": "http.response.start", "status": status,
                "headers": [(b"content-type", b"text/event-stream"), (b"x-version", scope["http_version"].encode())]})
    await send({"type": "http.response.body", "body": b"data: a\\n\\n", "more_body": True})
    await send({"type": "http.response.body", "body": b"data: b\\n\\n"})

import anyio
from hypercorn.config import Config
from hypercorn.asyncio import serve
import socket
config = Config()
sock = socket.socket()
sock.bind(("127.0.0.1", 0))
config.bind = [f"fd://{sock.fileno()}"]
config.certfile, config.keyfile = sys.argv[1:]
config.loglevel = "CRITICAL"
import asyncio
async def main():
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.run_in_executor(None, lambda: (sys.stdin.read(), loop.call_soon_threadsafe(stop.set)))
    print(sock.getsockname()[1], flush=True)
    await serve(app, config, shutdown_trigger=stop.wait)
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def h2_url() -> Iterator[str]:
    """A server that speaks HTTP/2."""
    folder = HERE / "certificates"
    arguments = [str(folder / "server.pem"), str(folder / "server.key")]
    process = subprocess.Popen(
        [sys.executable, "-c", H2_APP, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    yield f"https://127.0.0.1:{int(process.stdout.readline())}/v1"
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


async def test_http2(h2_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls side by side, streams read whole and left early, and errors, over HTTP/2."""
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    transport = Transport(TransportSettings(http2=True, max_attempts=1))
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(transport.send, make_request(h2_url))
    answer = await transport.send(make_request(h2_url))
    assert answer.headers["x-version"] == "2"
    assert answer.body == b"data: a\n\ndata: b\n\n"
    stream = await transport.open(make_request(h2_url, framing="sse"))
    frames: list[Any] = []
    while (more := await stream.read_frames()) is not None:
        frames += more
    assert [frame.data for frame in frames] == [b"a", b"b"]
    left = await transport.open(make_request(h2_url, framing="sse"))
    await left.read_frames()
    await left.aclose()
    with pytest.raises(BadRequestError):
        await transport.send(make_request(h2_url, body=b"bad"))
    http1 = await Transport(TransportSettings()).send(make_request(h2_url))
    assert http1.headers["x-version"] == "1.1"


async def test_http2_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what to install."""
    monkeypatch.setitem(sys.modules, "h2", None)
    with pytest.raises(ConfigurationError, match=r"llm-tools\[http2\]"):
        await Transport(TransportSettings(http2=True)).send(make_request("https://127.0.0.1:1"))


# ---------------------------------------------------------------- the fast client within httpx


async def test_the_fast_transport_in_a_client(server: Server) -> None:
    """An `httpx.AsyncClient` over it: methods, headers, bodies, reuse, streams."""
    script = server.script(http('{"a":"é"}', headers={"x-b": "c", "content-encoding": "identity"}))
    async with httpx.AsyncClient(transport=FastTransport()) as client:
        for method, content in (("POST", b"hi"), ("GET", b""), ("PUT", b""), ("DELETE", b"")):
            answer = await client.request(method, f"{script.base_url}/x?y=z", content=content)
            assert (answer.status_code, answer.json(), answer.headers["x-b"]) == (
                200,
                {"a": "é"},
                "c",
            )
            entry = script.log[-1]
            assert (entry["method"], entry["body"]) == (method, content.decode())
            assert entry["path"] == f"/{script.name}/v1/x?y=z"
            assert entry["headers"]["host"] == f"127.0.0.1:{server.port}"
        assert len({entry["connection"] for entry in script.log}) == 1
        assert "content-length" not in script.log[1]["headers"]
        streamed = server.script([["send", sse_head() + chunk("data: a\n\n")], ["sleep", 0.05],
                                  ["send", chunk("data: b\n\n") + "0\r\n\r\n"]])  # fmt: skip
        async with client.stream("POST", streamed.base_url, content=_pieces()) as response:
            assert (
                b"".join([piece async for piece in response.aiter_raw()])
                == b"data: a\n\ndata: b\n\n"
            )
        assert streamed.log[0]["body"] == "onetwo"
        assert "transfer-encoding" not in streamed.log[0]["headers"]


async def _pieces() -> AsyncIterator[bytes]:
    yield b"one"
    yield b"two"


async def test_a_head_request_has_no_body(server: Server) -> None:
    """The length a HEAD answer names belongs to a body that never comes."""
    script = server.script([["send", "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n"]])
    async with httpx.AsyncClient(transport=FastTransport()) as client:
        with anyio.fail_after(5):
            answer = await client.head(script.base_url)
    assert (answer.headers["content-length"], answer.content) == ("50", b"")


async def test_failures_of_the_fast_transport_are_httpx_s(
    server: Server, unused_port: int, deaf_port: int
) -> None:
    """Every failure is the class httpx's own transport raises."""
    cut = server.script([["send", sse_head() + chunk("a")], ["close"]])
    async with httpx.AsyncClient(transport=FastTransport(), timeout=0.3) as client:
        for step, kind in (
            ([["reset"]], httpx.RemoteProtocolError),
            ([["send", "no http\r\n\r\n"]], httpx.RemoteProtocolError),
            ([["stall"]], httpx.ReadTimeout),
            (
                [["send", "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n"], ["stall"]],
                httpx.ReadTimeout,
            ),
        ):
            with pytest.raises(kind):
                await client.post(server.script(step).base_url)
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(cut.base_url)
        with pytest.raises(httpx.ConnectError):
            await client.post(f"http://127.0.0.1:{unused_port}")
        with pytest.raises(httpx.ConnectTimeout):
            await client.post(f"http://127.0.0.1:{deaf_port}")
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.post("ftp://127.0.0.1/")
        with pytest.raises(httpx.LocalProtocolError):
            await client.post(cut.base_url, headers={"x": "1\r\ny: 2"})


async def test_a_dead_connection_is_replaced_within_httpx(server: Server) -> None:
    """A reused connection that proves dead costs no error."""
    script = server.script(OK, [["reset"]], OK)
    async with httpx.AsyncClient(transport=FastTransport()) as client:
        for _ in range(2):
            assert (await client.post(script.base_url)).status_code == 200
    assert len(script.log) == 3
    dead = server.script(OK, [["reset"]])
    async with httpx.AsyncClient(transport=FastTransport()) as client:
        await client.post(dead.base_url)
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(dead.base_url)


async def test_a_fast_stream_left_early_within_httpx(server: Server) -> None:
    """Leaving the block drops the connection."""
    script = server.script([["send", sse_head() + chunk("data: a\n\n")], ["stall"]])
    async with httpx.AsyncClient(transport=FastTransport()) as client:
        async with client.stream("POST", script.base_url) as response:
            assert response.status_code == 200
        with anyio.fail_after(10):
            while script.log[0]["gone"] is None:
                await anyio.sleep(0.01)


async def test_the_fast_transport_as_a_transport_of_ours(server: Server) -> None:
    """It is an `AsyncBaseTransport` like any other."""
    fast = FastTransport()
    transport = Transport(TransportSettings(transport=fast, max_attempts=1))
    script = server.script(OK, error(500))
    assert (await transport.send(script.request())).status == 200
    with pytest.raises(ServerError):
        await transport.send(script.request())
    await fast.aclose()


@pytest.mark.parametrize("timeout", [None, 600.0])
async def test_a_timeout_of_the_client_s_own_keeps_its_cause(timeout: float | None) -> None:
    """Whole or streamed, and also where no timeout of ours was set."""

    def late(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("too late")

    class Pausing(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"data: a\n\n"
            raise httpx.ReadTimeout("too long a pause")

    def pausing(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=Pausing())

    def over(handler: Any) -> Transport:
        wire = httpx.MockTransport(handler)
        return Transport(TransportSettings(transport=wire, timeout=timeout))

    with pytest.raises(RequestTimeoutError, match="did not answer within") as caught:
        await over(late).send(make_request("https://api.example"))
    assert repr(caught.value.__cause__) == "ReadTimeout('too late')"
    stream = await over(pausing).open(make_request("https://api.example", framing="sse"))
    assert await stream.read_frames() is not None
    with pytest.raises(RequestTimeoutError, match="sent nothing for") as paused:
        await stream.read_frames()
    assert repr(paused.value.__cause__) == "ReadTimeout('too long a pause')"
