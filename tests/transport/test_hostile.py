"""Servers that flood, lie and never end: typed errors, within bounds."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import anyio
import httpx
import pytest
from transport.scripted import OK, Server, chunk, http, make_request, sse_head

from llm_tools.errors import (
    BadRequestError,
    RequestTimeoutError,
    ResponseDecodeError,
    ServerError,
    TransportError,
)
from llm_tools.transport import Transport, TransportSettings
from llm_tools.transport.inflating import Inflater

pytestmark = pytest.mark.anyio
HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = f"{HEAD}transfer-encoding: chunked\r\n\r\n"


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds, a thousandth of their size."""
    monkeypatch.setattr("llm_tools.transport.receiving.LARGEST_ANSWER", 64_000)
    monkeypatch.setattr("llm_tools.transport.opening.LARGEST_STREAM", 256_000)


async def test_an_answer_that_says_it_is_too_large(server: Server, transport: Transport) -> None:
    """A length beyond the bound is refused before a byte of it is read."""
    script = server.script([["send", f"{HEAD}content-length: 65000000\r\n\r\n"], ["stall"]])
    with anyio.fail_after(5):
        with pytest.raises(ResponseDecodeError, match="larger than 64 MB") as caught:
            await transport.send(script.request())
    assert not caught.value.retryable


@pytest.mark.usefixtures("small_limits")
async def test_an_answer_without_end(server: Server, transport: Transport) -> None:
    """An endless body is cut at the bound."""
    script = server.script([["send", CHUNKED], ["repeat", chunk("x" * 1000), 100_000]])
    with pytest.raises(ResponseDecodeError, match="larger than"):
        await transport.send(script.request())


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_decompression_bomb(server: Server, transport: Transport, encoding: str) -> None:
    """Ten kilobytes that stand for ten megabytes are not inflated beyond the bound."""
    plain = b"\0" * 10_000_000
    bomb = gzip.compress(plain) if encoding == "gzip" else zlib.compress(plain)
    script = server.script(http(bomb, headers={"content-encoding": encoding}))
    with pytest.raises(ResponseDecodeError, match="larger than"):
        await transport.send(script.request())
    stream = await transport.open(script.request(framing="sse"))
    with pytest.raises(ResponseDecodeError, match="larger than"):
        while await stream.read_frames() is not None:
            pass


def test_a_bomb_is_not_inflated_to_find_out() -> None:
    """No more than the bound is ever held."""
    inflater = Inflater({"content-encoding": "gzip"}, 1000)
    with pytest.raises(ResponseDecodeError):
        inflater.feed(gzip.compress(b"\0" * 100_000_000))


async def test_compression_that_lies(server: Server, transport: Transport) -> None:
    """Bytes that are not what the header says, cut short, or in an encoding nobody asked for."""
    for body, encoding, message in (
        (b"not gzip", "gzip", "decompressed"),
        (b"not deflate", "deflate", "decompressed"),
        (gzip.compress(b"{}")[:-6], "gzip", "cut off"),
        (b"{}", "br", "'br', which was not asked for"),
        (b"{}", "gzip, br", "not asked for"),
    ):
        script = server.script(http(body, headers={"content-encoding": encoding}))
        with pytest.raises(ResponseDecodeError, match=message):
            await transport.send(script.request())
        with pytest.raises(ResponseDecodeError, match=message):
            stream = await transport.open(script.request(framing="sse"))
            while await stream.read_frames() is not None:
                pass
    second_part = server.script(
        [["send", f"{CHUNKED.replace(HEAD, HEAD + 'content-encoding: deflate' + chr(13) + chr(10))}"],
         ["send64", "MgoKeJwyCgo="], ["close"]]
    )  # fmt: skip
    with pytest.raises((ResponseDecodeError, TransportError)):
        await transport.send(second_part.request())


async def test_headers_without_end(server: Server, transport: Transport) -> None:
    """Neither one endless header nor endlessly many are kept."""
    for endless in ("x" * 1000, "x-header: y\r\n" * 80):
        script = server.script([["send", HEAD + "x-a: "], ["repeat", endless, 100_000]])
        patient = Transport(
            TransportSettings(transport=transport.settings.transport, max_attempts=3)
        )
        with pytest.raises(TransportError, match="HTTP API"):
            await patient.send(script.request())
        assert len(script.log) == 1


@pytest.mark.parametrize("kind", ["fast"])
async def test_framing_without_end(server: Server, transport: Transport) -> None:
    """Chunk extensions and trailers without end are not waited for."""
    for step in (
        [["send", CHUNKED + "5;"], ["repeat", "x" * 1000, 100_000]],
        [["send", CHUNKED + "0\r\n"], ["repeat", "x-trailer: y\r\n" * 80, 100_000]],
    ):
        with pytest.raises(TransportError, match="no end"):
            await transport.send(server.script(step).request())


@pytest.mark.usefixtures("small_limits")
async def test_a_stream_without_end(server: Server, transport: Transport) -> None:
    """An event that never ends, and events that never end, are cut at the bound."""
    for piece in ("data: " + "x" * 1000, "data: x\n\n" * 100):
        script = server.script([["send", sse_head()], ["repeat", chunk(piece), 100_000]])
        stream = await transport.open(script.request(framing="sse"))
        with pytest.raises(ResponseDecodeError, match="larger than"):
            while await stream.read_frames() is not None:
                pass


async def test_an_error_body_without_end(server: Server, transport: Transport) -> None:
    """Of an endless error as much is read as anyone needs."""
    script = server.script(
        [["send", CHUNKED.replace("200 OK", "400 No")], ["repeat", chunk("y" * 1000), 100_000]]
    )
    with anyio.fail_after(10):
        with pytest.raises(BadRequestError) as caught:
            await transport.send(script.request())
    assert len(caught.value.body or "") == 2000


@pytest.mark.parametrize("kind", ["httpx", "fast"])
async def test_a_server_that_trickles(server: Server, kind: str) -> None:
    """Headers byte by byte, for ever, end with the timeout."""
    transport = Transport(TransportSettings(transport=kind, timeout=0.3))
    step: list[Any] = [["send", "HTTP/1.1 200 OK\r\nx-a: "]]
    step += [action for _ in range(200) for action in (["send", "y"], ["sleep", 0.01])]
    with pytest.raises(RequestTimeoutError):
        await transport.send(server.script(step).request())


async def test_bytes_that_are_no_text(server: Server, transport: Transport) -> None:
    """Bodies are bytes here: what is no UTF-8 is the decoder's to refuse, errors show it mended."""
    script = server.script(http(b"\xff\xfe{"), http(b"\xff\xfe no", status=400))
    assert (await transport.send(script.request())).body == b"\xff\xfe{"
    with pytest.raises(BadRequestError, match="\ufffd\ufffd no"):
        await transport.send(script.request())


async def test_headers_that_are_no_text(server: Server, transport: Transport) -> None:
    """Header values beyond ASCII come as Latin-1."""
    data = "SFRUUC8xLjEgMjAwIE9LDQp4LWE6IOkNCmNvbnRlbnQtbGVuZ3RoOiAyDQoNCnt9"
    script = server.script([["send64", data]])
    assert (await transport.send(script.request())).headers["x-a"] == "é"


async def test_an_upgrade_nobody_asked_for(server: Server, transport: Transport) -> None:
    """A 101 is no answer."""
    step = [
        ["send", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
        ["close"],
    ]
    with pytest.raises(TransportError):
        await transport.send(server.script(step).request())


async def test_a_refusal_before_the_body_is_read(server: Server, transport: Transport) -> None:
    """A body of several megabytes goes out whole; one that is not read does not hang the call."""
    script = server.script(OK)
    body = b'{"a":"' + b"x" * 8_000_000 + b'"}'
    assert (await transport.send(script.request(body=body))).status == 200
    assert len(script.log[0]["body"]) == len(body)


async def test_a_length_of_thousands_of_digits() -> None:
    """It is too large, and no number to read."""
    wire = httpx.MockTransport(
        lambda request: httpx.Response(200, headers={"content-length": "9" * 5000}, content=b"{}")
    )
    with pytest.raises(ResponseDecodeError, match="larger than 64 MB"):
        await Transport(TransportSettings(transport=wire)).send(make_request("https://a.example"))


@pytest.mark.parametrize(
    "body", ["[" * 900 + "]" * 900, '{"detail":' + "[" * 800 + "]" * 800 + "}"]
)
async def test_a_nested_error(server: Server, transport: Transport, body: str) -> None:
    """An error of the tree, however deep its body is nested."""
    with pytest.raises(ServerError):
        await transport.send(server.script(http(body, status=500)).request())


def test_compressed_bytes_that_stand_for_nothing() -> None:
    """They count, and what comes behind the end of the compressed data is not kept."""
    empty = b"\x00\x00\x00\xff\xff"  # a block of no bytes
    packer = zlib.compressobj(wbits=31)
    begun = packer.compress(b"{") + packer.flush(zlib.Z_SYNC_FLUSH)
    for start, rest in ((begun, empty * 2000), (gzip.compress(b"{}"), b"x" * 10_000)):
        inflater = Inflater({"content-encoding": "gzip"}, 1_000_000)
        assert inflater.feed(start)[:1] == b"{"
        fed = 0
        with pytest.raises(ResponseDecodeError, match="larger than 1 MB"):
            while True:
                assert inflater.feed(rest) == b""
                fed += len(rest)
        assert fed + len(start) <= 1_000_000
    inflater = Inflater({"content-encoding": "gzip"}, 1_000_000)
    assert inflater.feed(gzip.compress(b"{}") + b"x") == b"{}"
    inflater.feed(b"y" * 500_000)
    assert inflater.close() == b""
    assert inflater._decompressor is not None
    assert inflater._decompressor.unused_data == b"x"
