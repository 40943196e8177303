"""Streams over real connections, on both transports: frames as they come, every way to end."""

from __future__ import annotations

import gc
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from transport.scripted import OK, Server, chunk, error, http, make_request, sse_head

from llm_tools.errors import (
    ProviderError,
    RequestTimeoutError,
    ResponseDecodeError,
    StreamError,
)
from llm_tools.spec import Frame
from llm_tools.transport import OpenStream, OutgoingRequest, Transport, TransportSettings

pytestmark = pytest.mark.anyio
LAST = "0\r\n\r\n"


def events(*texts: str) -> str:
    return "".join(f"data: {text}\n\n" for text in texts)


def stream_of(*pieces: str, last: str = LAST) -> list[Any]:
    """A step: an event stream, each piece a chunk."""
    return [["send", sse_head()], *[["send", chunk(piece)] for piece in pieces], ["send", last]]


async def read_all(stream: OpenStream) -> list[bytes]:
    found: list[bytes] = []
    while (frames := await stream.read_frames()) is not None:
        found += [frame.data for frame in frames]
    return found


async def until(condition: Any) -> None:
    with anyio.fail_after(10):
        while not condition():
            await anyio.sleep(0.01)


async def test_a_stream_to_its_end(server: Server, transport: Transport) -> None:
    """Frames, then None, over and over; the connection is used again."""
    script = server.script(stream_of(events("a", "b"), ": ping\n\n", events("[DONE]")))
    for _ in range(2):
        stream = await transport.open(script.request(framing="sse"))
        assert stream.headers["content-type"] == "text/event-stream"
        assert await read_all(stream) == [b"a", b"b", b"[DONE]"]
        assert await stream.read_frames() is None
        await stream.aclose()
    assert len({entry["connection"] for entry in script.log}) == 1
    assert script.log[0]["headers"]["accept"] == "text/event-stream"


async def test_frames_come_as_they_are_sent(server: Server, transport: Transport) -> None:
    """An event is there before the next one is sent."""
    script = server.script(
        [["send", sse_head()], ["send", chunk(events("a"))], ["sleep", 0.3],
         ["send", chunk(events("b"))], ["send", LAST]]
    )  # fmt: skip
    stream = await transport.open(script.request(framing="sse"))
    with anyio.fail_after(0.25):
        assert await stream.read_frames() == [Frame(None, b"a")]
    assert await read_all(stream) == [b"b"]


async def test_other_framings(server: Server, transport: Transport) -> None:
    """Lines of JSON, and a JSON array, each with the header that asks for it."""
    lines = server.script(
        http('{"a":1}\n{"b":2}\n', headers={"content-type": "application/x-ndjson"})
    )
    stream = await transport.open(lines.request(framing="ndjson"))
    assert await read_all(stream) == [b'{"a":1}', b'{"b":2}']
    assert lines.log[0]["headers"]["accept"] == "application/x-ndjson"
    array = server.script(http('[{"a":1}\n,\n{"b":2}]'))
    assert await read_all(await transport.open(array.request(framing="sse"))) == [
        b'{"a":1}',
        b'{"b":2}',
    ]
    aws = server.script(http('{"message":"no stream"}'))
    stream = await transport.open(aws.request(framing="aws_events"))
    assert await read_all(stream) == [b'{"message":"no stream"}']
    assert aws.log[0]["headers"]["accept"] == "application/vnd.amazon.eventstream"


async def test_a_compressed_stream(server: Server, transport: Transport) -> None:
    """Compression is undone piece by piece."""
    data = gzip.compress(events(*map(str, range(1000))).encode())
    script = server.script(
        http(data, headers={"content-type": "text/event-stream", "content-encoding": "gzip"})
    )
    stream = await transport.open(script.request(framing="sse"))
    assert await read_all(stream) == [str(number).encode() for number in range(1000)]
    short = http(data[:-20], headers={"content-encoding": "gzip"})
    stream = await transport.open(server.script(short).request(framing="sse"))
    with pytest.raises(ResponseDecodeError, match="cut off"):
        await read_all(stream)


async def test_one_json_body_in_place_of_a_stream(server: Server, transport: Transport) -> None:
    """An error, or a whole answer, under a 200 reaches the decoder in one frame."""
    script = server.script(http('{\n "error": {\n  "code": 502}\n}'))
    for framing in ("sse", "ndjson"):
        stream = await transport.open(script.request(framing=framing))
        assert await read_all(stream) == [b'{\n "error": {\n  "code": 502}\n}']


async def test_an_error_status_raises_on_opening(server: Server, transport: Transport) -> None:
    """There is no stream of an error."""
    script = server.script(error(500, "broken"))
    with pytest.raises(ProviderError, match="broken"):
        await transport.open(script.request(framing="sse"))


@pytest.mark.parametrize(
    "end",
    [
        [["close"]],
        [["sleep", 0.02], ["reset"]],
        [["send", "zz\r\n"], ["close"]],
    ],
)
async def test_a_stream_that_breaks(server: Server, transport: Transport, end: list[Any]) -> None:
    """What had come is handed out; then a typed, retryable error."""
    script = server.script([["send", sse_head() + chunk(events("a"))], ["sleep", 0.05], *end])
    stream = await transport.open(script.request(framing="sse"))
    assert await stream.read_frames() == [Frame(None, b"a")]
    with pytest.raises(StreamError, match="broke off") as caught:
        await stream.read_frames()
    assert caught.value.retryable
    assert caught.value.__cause__ is not None
    assert caught.value.__cause__.__traceback__ is None
    assert await stream.read_frames() is None


async def test_a_body_without_length_ends_with_its_connection(
    server: Server, transport: Transport
) -> None:
    """Where nothing marks the end, the end of the connection does; the decoder wants its own mark."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    script = server.script([["send", head + events("a")], ["close"]])
    stream = await transport.open(script.request(framing="sse"))
    assert await read_all(stream) == [b"a"]


async def test_a_stall(server: Server, kind: str) -> None:
    """Too long without a byte ends the stream and cuts its connection."""
    transport = Transport(TransportSettings(transport=kind, timeout=0.2))
    script = server.script([["send", sse_head() + chunk(events("a"))], ["stall"]])
    stream = await transport.open(script.request(framing="sse"))
    assert await stream.read_frames() == [Frame(None, b"a")]
    with pytest.raises(RequestTimeoutError, match=r"nothing for 0\.2 s"):
        await stream.read_frames()
    await until(lambda: script.log[0]["gone"] is not None)


async def test_keep_alives_count_as_life(server: Server, kind: str) -> None:
    """Comments keep a stream alive longer than its timeout."""
    transport = Transport(TransportSettings(transport=kind, timeout=0.3))
    pings = [action for _ in range(5) for action in (["send", chunk(": ping\n\n")], ["sleep", 0.1])]
    script = server.script([["send", sse_head()], *pings, ["send", chunk(events("a")) + LAST]])
    stream = await transport.open(script.request(framing="sse"))
    assert await read_all(stream) == [b"a"]


async def test_the_deadline_of_a_stream(server: Server, kind: str) -> None:
    """The deadline counts from the call on, and a lively stream does not outlast it."""
    transport = Transport(TransportSettings(transport=kind, deadline=0.4))
    script = server.script([["send", sse_head()], *[
        action for _ in range(100) for action in (["send", chunk(events("a"))], ["sleep", 0.02])]])  # fmt: skip
    stream = await transport.open(script.request(framing="sse"))
    with pytest.raises(RequestTimeoutError, match="deadline"):
        await read_all(stream)


@pytest.mark.parametrize("read", [0, 1, 2])
async def test_leaving_early(server: Server, transport: Transport, read: int) -> None:
    """Left at any event, the connection is cut and no generator is left to the collector."""
    script = server.script(
        [
            ["send", sse_head() + chunk(events("a"))],
            ["sleep", 0.02],
            ["send", chunk(events("b"))],
            ["stall"],
        ]
    )
    stream = await transport.open(script.request(framing="sse"))
    for _ in range(read):
        assert await stream.read_frames()
    await stream.aclose()
    await stream.aclose()
    assert await stream.read_frames() is None
    del stream
    gc.collect()
    await until(lambda: script.log[0]["gone"] is not None)


async def test_cancelled_while_reading(server: Server, transport: Transport) -> None:
    """Cancellation while waiting for a frame cuts the connection."""
    script = server.script([["send", sse_head() + chunk(events("a"))], ["stall"]])
    stream = await transport.open(script.request(framing="sse"))
    await stream.read_frames()
    with anyio.move_on_after(0.1) as scope:
        await stream.read_frames()
    assert scope.cancelled_caught
    await until(lambda: script.log[0]["gone"] is not None)
    gc.collect()


@asynccontextmanager
async def reading_beside(stream: OpenStream) -> AsyncIterator[list[StreamError]]:
    """Another task waits on the stream; what it was told in the end."""
    errors: list[StreamError] = []

    async def read() -> None:
        try:
            await stream.read_frames()
        except StreamError as error:
            errors.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.sleep(0.1)
        yield errors


async def test_closed_by_another_task(server: Server, transport: Transport) -> None:
    """Closing a stream another task waits on ends that wait with an error of ours."""
    script = server.script([["send", sse_head() + chunk(events("a"))], ["stall"]])
    stream = await transport.open(script.request(framing="sse"))
    await stream.read_frames()
    async with reading_beside(stream) as errors:
        await stream.aclose()
    assert len(errors) == 1
    assert "broke off: ." not in str(errors[0])
    await until(lambda: script.log[0]["gone"] is not None)
    gc.collect()


async def test_read_by_two_tasks(server: Server, transport: Transport) -> None:
    """The second is told so by an error of ours, whatever the transport; the stream is over."""
    script = server.script([["send", sse_head() + chunk(events("a"))], ["stall"]])
    stream = await transport.open(script.request(framing="sse"))
    await stream.read_frames()
    async with reading_beside(stream) as errors:
        with pytest.raises(StreamError, match="Another task is reading") as caught:
            await stream.read_frames()
    assert not caught.value.retryable
    assert ["broke off" in str(error) for error in errors] == [True]
    await until(lambda: script.log[0]["gone"] is not None)
    gc.collect()


async def test_a_slow_reader_slows_the_sender(server: Server, transport: Transport) -> None:
    """Nothing reads ahead of the consumer: a flood waits in the sockets' buffers."""
    script = server.script(
        [["send", sse_head()], ["repeat", chunk(events("x" * 100_000)), 300], ["send", LAST]], OK
    )
    stream = await transport.open(script.request(framing="sse"))
    first = await stream.read_frames()
    assert first is not None
    await anyio.sleep(0.3)
    second = await stream.read_frames()
    assert second is not None
    assert sum(len(frame.data) for frame in second) <= 300_000
    assert (
        sum(map(len, await read_all(stream))) + 100_000 * (len(first) + len(second)) == 30_000_000
    )


async def test_many_streams_at_once(server: Server, transport: Transport) -> None:
    """Streams side by side do not mix."""
    scripts = [server.script(stream_of(events(f"{n}a"), events(f"{n}b"))) for n in range(30)]
    found: dict[int, list[bytes]] = {}

    async def read(number: int) -> None:
        stream = await transport.open(scripts[number].request(framing="sse"))
        found[number] = await read_all(stream)

    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(read, number)
    assert found == {n: [f"{n}a".encode(), f"{n}b".encode()] for n in range(30)}


class Body(httpx.AsyncByteStream):
    """Pieces, and what was asked of them."""

    def __init__(self, *pieces: bytes | float | Exception) -> None:
        self.pieces = pieces
        self.asked = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.asked += 1
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, float):
                await anyio.sleep(piece)
            else:
                yield piece

    async def aclose(self) -> None:
        self.closed = True


def over(body: Body, **options: Any) -> tuple[Transport, OutgoingRequest]:
    """A transport whose answer has this body, and a request for it."""
    headers = options.pop("headers", {})
    wire = httpx.MockTransport(lambda request: httpx.Response(200, headers=headers, stream=body))
    settings = TransportSettings(transport=wire, max_attempts=1, **options)
    return Transport(settings), make_request("https://api.example", framing="sse")


async def test_chunks_without_a_byte_are_no_sign_of_life() -> None:
    empties = [piece for _ in range(20) for piece in (0.05, b"")]
    transport, request = over(Body(b"data: a\n\n", b"", *empties), timeout=0.3)
    stream = await transport.open(request)
    assert await stream.read_frames() == [Frame(None, b"a")]
    with pytest.raises(RequestTimeoutError, match=r"nothing for 0\.3 s"):
        await stream.read_frames()


async def test_a_body_that_nobody_reads_is_not_begun() -> None:
    """Neither by leaving its stream, nor where its headers already say that it is of no use."""
    body = Body(b"data: a\n\n")
    transport, request = over(body)
    await (await transport.open(request)).aclose()
    assert (body.asked, body.closed) == (0, True)
    for headers in ({"content-encoding": "br"}, {"content-length": "99999999999"}):
        body = Body(b"{}")
        transport, request = over(body, headers=headers)
        with pytest.raises(ResponseDecodeError):
            await transport.send(request)
        assert (body.asked, body.closed) == (0, True)


@pytest.mark.parametrize("wrong", [b"", "text", ValueError("its own")])
async def test_a_mock_with_a_fault_of_its_own(wrong: Any) -> None:
    """What it raises comes out as it is, and no generator is left to the collector."""
    body = Body(b"data: a\n\n", wrong, b"data: b\n\n")
    transport, request = over(body)
    stream = await transport.open(request)
    assert await stream.read_frames() == [Frame(None, b"a")]
    if wrong == b"":
        assert await stream.read_frames() == [Frame(None, b"b")]
        await stream.aclose()
    else:
        with pytest.raises((ValueError, TypeError)):
            await stream.read_frames()
        assert await stream.read_frames() is None
    assert body.closed
    del stream
    gc.collect()
