"""Streams cut into frames: any chunking gives the same frames, in one pass."""

from __future__ import annotations

import base64
import json
import os
import struct
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings, strategies as st

from llm_tools.errors import StreamError
from llm_tools.spec import Frame, Framing
from llm_tools.transport.framing import create_framing


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    """The bytes in pieces of these sizes, over and over."""
    pieces, position, turn = [], 0, 0
    while position < len(data):
        size = max(sizes[turn % len(sizes)], 1)
        pieces.append(data[position : position + size])
        position += size
        turn += 1
    return pieces


def frames_of(kind: Framing, *pieces: bytes) -> list[Frame]:
    """All frames of these pieces."""
    framer = create_framing(kind)
    found = [frame for piece in pieces for frame in framer.feed(piece)]
    return found + framer.close()


def datas(kind: Framing, *pieces: bytes) -> list[bytes]:
    """The data of all frames of these pieces."""
    return [frame.data for frame in frames_of(kind, *pieces)]


SSE: list[tuple[str, bytes, list[tuple[str | None, bytes]]]] = [
    ("plain", b"data: a\n\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    ("no space", b"data:a\n\ndata:  b\n\n", [(None, b"a"), (None, b" b")]),
    ("crlf", b"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [("x", b"a"), (None, b"b")]),
    ("cr", b"data: a\r\rdata: b\r\r", [(None, b"a"), (None, b"b")]),
    ("mixed line ends", b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", [(None, b"a"), (None, b"b"), (None, b"c")]),
    ("several lines", b"data: a\ndata:\ndata: b\n\n", [(None, b"a\n\nb")]),
    ("bare data line", b"data\ndata: b\n\n", [(None, b"\nb")]),
    ("comments", b": hi\n\n:\n\ndata: a\n: between\n\n: bye\n\n", [(None, b"a")]),
    ("kept alive by name", b"event: ping\ndata: null\n\nevent: keep-alive\ndata: x y\n\ndata: a\n\n", [(None, b"a")]),
    ("other fields", b"id: 7\nretry: 10\nfoo: bar\nid\ndata: a\n\n", [(None, b"a")]),
    ("name without data", b"event: x\n\ndata: a\n\n", [(None, b"a")]),
    ("name reset", b"event: x\nevent:\ndata: a\n\n", [(None, b"a")]),
    ("empty data", b"data:\n\ndata: \n\ndata: a\n\n", [(None, b"a")]),
    ("no last blank line", b"data: a\n\ndata: b\n", [(None, b"a"), (None, b"b")]),
    ("no last newline", b"data: a\n\ndata: b", [(None, b"a"), (None, b"b")]),
    ("byte order mark", b"\xef\xbb\xbfdata: a\n\n", [(None, b"a")]),
    ("blank lines first", b"\n\r\n\ndata: a\n\n", [(None, b"a")]),
    ("done", b"data: [DONE]\n\n", [(None, b"[DONE]")]),
    ("done without space", b"data:[DONE]\n\n", [(None, b"[DONE]")]),
    ("done with blanks and a name", b"event: end\ndata:  [DONE] \n\n", [(None, b"[DONE]")]),
    ("done glued to comments", b": cost=0\n: m\ndata: [DONE]", [(None, b"[DONE]")]),
    ("separators of other standards", "data: a\u2028b\u0085c\x0bd\x0ce\n\n".encode(), [(None, "a\u2028b\u0085c\x0bd\x0ce".encode())]),
    ("not utf-8", b"event: \xff\ndata: \xff\xfe\n\n", [("\ufffd", b"\xff\xfe")]),
    ("one json body", b' \n{"error":\n {"message": "no"}}\n', [(None, b'{"error":\n {"message": "no"}}')]),
    ("nothing", b"", []),
    ("only a mark", b"\xef\xbb\xbf", []),
    ("only blanks", b" \n\n", []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in SSE], ids=[c[0] for c in SSE])
def test_sse_in_any_pieces(body: bytes, expected: list[tuple[str | None, bytes]]) -> None:
    """Every spelling of an event stream is read alike, whole and cut at any byte."""
    wanted = [Frame(event, data) for event, data in expected]
    assert frames_of("sse", body) == wanted
    for size in (1, 2, 3, 7):
        assert frames_of("sse", *cut(body, [size])) == wanted
    for position in range(len(body)):
        assert frames_of("sse", body[:position], body[position:]) == wanted


def test_event_is_given_out_with_its_last_byte() -> None:
    """An event does not wait for the next one, whatever its line ends."""
    for body in (b"data: a\n\n", b"data: a\r\r", b"data: a\r\n\r"):
        assert create_framing("sse").feed(body) == [Frame(None, b"a")]


ARRAYS: list[tuple[bytes, list[bytes]]] = [
    (b"[]", []),
    (b" [ ] ", []),
    (b'[{"a":1}]', [b'{"a":1}']),
    (
        b'[{"a":[1,{"b":"]}"}]}\n,\r\n{"c":"\\"],{"}]\n',
        [b'{"a":[1,{"b":"]}"}]}', b'{"c":"\\"],{"}'],
    ),
    (b'["x,]", 1 ,null,[2]]', [b'"x,]"', b"1", b"null", b"[2]"]),
    (b'[{"a":"\\\\"},{"b":1}] trailing ] {"x"', [b'{"a":"\\\\"}', b'{"b":1}']),
    (b'[{"a":1},{"b":', [b'{"a":1}', b'{"b":']),
    (b'[{"a":"\\', [b'{"a":"\\']),
    (b"[ 1 } 2", [b"1"]),
]


@pytest.mark.parametrize(("body", "expected"), ARRAYS)
def test_json_array_in_any_pieces(body: bytes, expected: list[bytes]) -> None:
    """A JSON array where events were expected is handed out element by element."""
    assert datas("sse", body) == expected
    for size in (1, 2, 5):
        assert datas("sse", *cut(body, [size])) == expected


def test_element_is_given_out_with_its_last_byte() -> None:
    """An element does not wait for the comma after it."""
    framer = create_framing("sse")
    assert framer.feed(b'[{"a":{}}') == [Frame(None, b'{"a":{}}')]
    assert framer.feed(b"\n") == []
    assert framer.feed(b',{"b":2}') == [Frame(None, b'{"b":2}')]


LINES: list[tuple[bytes, list[bytes]]] = [
    (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
    (b'{"a":1}\r\n\r\n  {"b":2}  ', [b'{"a":1}', b'{"b":2}']),
    (b'\n\n{"a":1}\n', [b'{"a":1}']),
    (b'{\n "error": "no"\n}\n', [b'{\n "error": "no"\n}']),
    (b"upstream failed\nbadly", [b"upstream failed\nbadly"]),
    ('{"a":"\u2028"}\n'.encode(), ['{"a":"\u2028"}'.encode()]),
    (b"", []),
    (b"\n \n", []),
]


@pytest.mark.parametrize(("body", "expected"), LINES)
def test_ndjson_in_any_pieces(body: bytes, expected: list[bytes]) -> None:
    """One frame per line; what is no line of JSON stays whole, so that its error can be read."""
    assert datas("ndjson", body) == expected
    for size in (1, 2, 5):
        assert datas("ndjson", *cut(body, [size])) == expected


def message(payload: bytes, *, kind: str = "event", **headers: str) -> bytes:
    """An AWS message; underscores in header names are hyphens."""
    named = {":message-type": kind, **{f":{k.replace('_', '-')}": v for k, v in headers.items()}}
    head = b"".join(
        bytes([len(name)])
        + name.encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in named.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return body + struct.pack(">I", crc32(body))


def wrapped(inner: Any) -> bytes:
    """A `chunk` message that holds an event of the model's own wire."""
    data = inner if isinstance(inner, bytes) else json.dumps(inner).encode()
    payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abc"}).encode()
    return message(payload, event_type="chunk")


def test_aws_messages_in_any_pieces() -> None:
    """Events, exceptions and errors of an AWS stream, at any chunking."""
    body = (
        message(b'{"role":"assistant"}', event_type="messageStart")
        + message(
            b'{"message":"slow down"}', kind="exception", exception_type="throttlingException"
        )
        + message(b"", kind="error", error_code="Internal", error_message="it broke")
        + message(b"", event_type="messageStop")
    )
    expected = [
        Frame("messageStart", b'{"role":"assistant"}'),
        Frame("exception:throttlingException", b'{"message":"slow down"}'),
        Frame("exception:Internal", b'{"message":"it broke"}'),
        Frame("messageStop", b""),
    ]
    assert frames_of("aws_events", body) == expected
    for size in (1, 3, 16):
        assert frames_of("aws_events", *cut(body, [size])) == expected


def test_aws_headers_of_other_types_are_stepped_over() -> None:
    """Booleans, numbers, bytes, timestamps and ids may stand among the headers."""
    others = [b"\x00", b"\x01", b"\x02\x01", b"\x03\x00\x01", b"\x04" + bytes(4), b"\x05" + bytes(8),
              b"\x06\x00\x03abc", b"\x08" + bytes(8), b"\x09" + bytes(16)]  # fmt: skip
    head = b"".join(bytes([1]) + bytes([97 + i]) + other for i, other in enumerate(others))
    head += b"\x0b:event-type\x07\x00\x01x"
    prelude = struct.pack(">II", 16 + len(head), len(head))
    body = prelude + struct.pack(">I", crc32(prelude)) + head
    assert frames_of("aws_events", body + struct.pack(">I", crc32(body))) == [Frame("x", b"")]


def test_aws_chunks_are_unwrapped() -> None:
    """Frames of InvokeModel give the inner event, named by its type if it has one."""
    body = wrapped({"type": "ping"}) + wrapped({"choices": []}) + wrapped(b"no json")
    body += message(b'{"a":1}', event_type="initial-response")
    assert frames_of("aws_chunks", body) == [
        Frame("ping", b'{"type": "ping"}'),
        Frame(None, b'{"choices": []}'),
        Frame(None, b"no json"),
        Frame("initial-response", b'{"a":1}'),
    ]


def test_plain_json_in_place_of_an_aws_stream_is_one_frame() -> None:
    """An error body under a stream's status reaches the decoder."""
    for kind in ("aws_events", "aws_chunks"):
        assert datas(kind, b'{"mess', b'age":"no"}') == [b'{"message":"no"}']  # type: ignore[arg-type]


def damaged(body: bytes, position: int) -> bytes:
    return body[:position] + bytes([body[position] ^ 1]) + body[position + 1 :]


@pytest.mark.parametrize(
    "body",
    [
        damaged(message(b"{}", event_type="x"), 2),
        damaged(message(b"{}", event_type="x"), 9),
        damaged(message(b"{}", event_type="x"), 20),
        damaged(message(b"{}", event_type="x"), -1 + len(message(b"{}", event_type="x"))),
        message(b"{}", event_type="x")[:-3],
        struct.pack(">III", 1 << 30, 0, crc32(struct.pack(">II", 1 << 30, 0))),
        struct.pack(">III", 12, 0, crc32(struct.pack(">II", 12, 0))),
        message(b'{"bytes":"%%%"}', event_type="chunk"),
        message(b'{"no":"bytes"}', event_type="chunk"),
    ],
)
def test_damaged_aws_streams_are_typed_errors(body: bytes) -> None:
    """A wrong checksum or length, a cut message, and no base64: `StreamError`."""
    with pytest.raises(StreamError):
        frames_of("aws_chunks", body)


def framed(head: bytes, claimed: int | None = None) -> bytes:
    """A message with these raw headers and a right checksum."""
    prelude = struct.pack(">II", 16 + len(head), len(head) if claimed is None else claimed)
    body = prelude + struct.pack(">I", crc32(prelude)) + head
    return body + struct.pack(">I", crc32(body))


@pytest.mark.parametrize(
    "body",
    [
        framed(b"\x01a\x63"),
        framed(b"\xffa\x07"),
        framed(b"\x01a\x07\x00\xffabc"),
        framed(b"\x01"),
        framed(b"", claimed=9),
    ],
)
def test_impossible_aws_headers_are_typed_errors(body: bytes) -> None:
    """Headers that lie about their length or type: `StreamError`, not an `IndexError`."""
    with pytest.raises(StreamError, match="damaged"):
        frames_of("aws_events", body)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=12), st.sampled_from(
        [b"data: ", b"\n\n", b"\r\n", b"\r", b"event: x", b"{", b"[", b'"', b"}", b"]", b",", b"\\",
         b": c\n", b"[DONE]", "é\u2028".encode()])), max_size=20).map(b"".join),
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.sampled_from(["sse", "ndjson"]),
)  # fmt: skip
def test_any_bytes_in_any_pieces(body: bytes, sizes: list[int], kind: Framing) -> None:
    """Whatever the bytes: no error, and the pieces make no difference."""
    assert frames_of(kind, *cut(body, sizes)) == frames_of(kind, body)


PAYLOAD = b'{"text": "' + b"x" * 40 + b'"}'
EVENTS = [
    b"data: " + PAYLOAD + b"\n\n", b"data: [DONE]\n\n", b"data: [DONE]" + b" " * 30 + b"\n\n",
    b"data:" + PAYLOAD + b"\n\n", b"data: " + PAYLOAD + b"\n", b"data: " + PAYLOAD + b"\r\n\r\n",
    b"data: " + PAYLOAD, b"event: x\n", b"event: x\ndata: " + PAYLOAD + b"\n\n", b"data: a\n\n",
    b"data: \n\n", b": c\n\n", b"\n", b"\n\n", b"\r",
]  # fmt: skip


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=6).map(b"".join), max_size=4)
)
def test_chunks_of_whole_events(chunks: list[bytes]) -> None:
    """Chunks that are read at once, or nearly are, give what their single bytes give."""
    body = b": hi\n\n" + b"".join(chunks)
    assert frames_of("sse", b": hi\n\n", *chunks) == frames_of("sse", *cut(body, [1]))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=30), st.builds(
        lambda payload: message(payload, event_type="x"), st.binary(max_size=20))), max_size=4
    ).map(b"".join),
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
)  # fmt: skip
def test_any_bytes_as_an_aws_stream(body: bytes, sizes: list[int]) -> None:
    """Whatever the bytes: frames or `StreamError`, the same in any pieces."""

    def outcome(*pieces: bytes) -> list[Frame] | str:
        try:
            return frames_of("aws_events", *pieces)
        except StreamError as error:
            return str(error)

    assert outcome(*cut(body, sizes)) == outcome(body)


@pytest.mark.parametrize("kind", ["sse", "ndjson", "array"])
def test_a_huge_event_in_small_pieces_is_linear(kind: str) -> None:
    """An event of 8 MB in pieces of 1 kB is joined once: no piece is copied again and again."""
    text = json.dumps({"a": "x" * 8_000_000}).encode()
    body = {"sse": b"data: " + text + b"\n\n", "ndjson": text + b"\n", "array": b"[" + text + b"]"}
    framing: Framing = "ndjson" if kind == "ndjson" else "sse"
    assert datas(framing, *cut(body[kind], [1024])) == [text]


def test_a_hundred_thousand_tiny_events() -> None:
    """Many events in large pieces come out one by one."""
    body = b'data: {"n":1}\n\n' * 100_000
    found = datas("sse", *cut(body, [65536]))
    assert len(found) == 100_000
    assert set(found) == {b'{"n":1}'}


CASES = os.environ.get("LLM_TOOLS_BUG_CASES")


@pytest.mark.skipif(CASES is None, reason="LLM_TOOLS_BUG_CASES is not set")
def test_reported_spellings_give_the_same_events() -> None:
    """Reported event streams in eight spellings hold the same three JSON events."""
    bodies = {}
    for path in sorted((Path(CASES or "") / "B13").glob("*.txt")):
        body = path.read_bytes()
        found = [json.loads(data) for data in datas("sse", body) if data != b"[DONE]"]
        for size in (1, 7, 64):
            pieces = cut(body, [size])
            assert [json.loads(d) for d in datas("sse", *pieces) if d != b"[DONE]"] == found
        bodies[path.name] = found
    assert len(bodies) == 8
    assert all(found == bodies["crlf.txt"] and len(found) == 3 for found in bodies.values())


@pytest.mark.skipif(CASES is None, reason="LLM_TOOLS_BUG_CASES is not set")
def test_reported_cut_characters_stay_whole() -> None:
    """A character cut by a chunk is neither lost nor replaced."""
    body = (Path(CASES or "") / "B14/stream.sse.txt").read_bytes()
    whole = datas("sse", body)
    assert b"".join(whole).decode("utf-8")
    for size in range(1, 12):
        assert datas("sse", *cut(body, [size])) == whole
