"""The two parsers of the fast transport agree on every response, however it is cut."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from llm_tools.transport.arrival import Broken
from llm_tools.transport.carriers.fast import parsing
from llm_tools.transport.carriers.fast.h11_parser import H11Parser
from llm_tools.transport.carriers.fast.httptools_parser import HttptoolsParser

PARSERS = [HttptoolsParser, H11Parser]
Parsed = tuple[int, dict[str, str], bytes, bool, bool]


def parse(kind: Any, data: bytes, size: int, *, eof: bool = False) -> Parsed | str:
    """Status, headers, body, complete, reusable; or that it is broken."""
    parser = kind()
    body = b""
    try:
        for start in range(0, len(data), size):
            parser.feed(data[start : start + size])
            body += parser.take()
    except Broken as broken:
        return broken.phase
    if eof:
        parser.feed_eof()
        body += parser.take()
    return parser.status, parser.headers, body, parser.complete, parser.reusable


OK = b"HTTP/1.1 200 OK\r\n"
# response, whether the connection then ends, what is made of it
RESPONSES: list[tuple[bytes, bool, Parsed | str]] = [
    (OK + b"content-length: 2\r\n\r\nhi", False, (200, {"content-length": "2"}, b"hi", True, True)),
    (OK + b"Content-Length: 0\r\n\r\n", False, (200, {"content-length": "0"}, b"", True, True)),
    (OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", False,
     (200, {"transfer-encoding": "chunked"}, b"hi", True, True)),
    (OK + b"transfer-encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\nx-t: 1\r\n\r\n", False,
     (200, {"transfer-encoding": "chunked"}, b"hi", True, True)),
    (OK + b"connection: close\r\ncontent-length: 2\r\n\r\nhi", False,
     (200, {"connection": "close", "content-length": "2"}, b"hi", True, False)),
    (OK + b"\r\nhi", True, (200, {}, b"hi", True, False)),
    (OK + b"\r\nhi", False, (200, {}, b"hi", False, False)),
    (OK + b"content-length: 5\r\n\r\nhi", True, (200, {"content-length": "5"}, b"hi", False, False)),
    (OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n", True,
     (200, {"transfer-encoding": "chunked"}, b"hi", False, False)),
    (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", False,
     (200, {"content-length": "2"}, b"hi", True, False)),
    (b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nhi", False,
     (200, {"connection": "keep-alive", "content-length": "2"}, b"hi", True, True)),
    (b"HTTP/1.1 204 No Content\r\n\r\n", False, (204, {}, b"", True, True)),
    (b"HTTP/1.1 100 Continue\r\nx-a: 1\r\n\r\n" + OK + b"content-length: 2\r\n\r\nhi", False,
     (200, {"content-length": "2"}, b"hi", True, True)),
    (b"HTTP/1.1 503 \r\nx-empty:\r\ncontent-length: 2\r\n\r\nhi", False,
     (503, {"x-empty": "", "content-length": "2"}, b"hi", True, True)),
    (OK + b"x-a: \xe9\r\ncontent-length: 0\r\n\r\n", False,
     (200, {"x-a": "\xe9", "content-length": "0"}, b"", True, True)),
    (OK + b"no colon\r\n\r\n", False, "protocol"),
    (OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\n", False, "protocol"),
    (OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n", False, "protocol"),
    (b"SSH-2.0-OpenSSH\r\n\r\n", False, "protocol"),
]  # fmt: skip


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize(("data", "eof", "expected"), RESPONSES)
def test_responses_at_any_cut(kind: Any, data: bytes, eof: bool, expected: Parsed | str) -> None:
    """Whole, in pairs and byte by byte, both parsers make the same of a response."""
    for size in (1, 2, 10_000):
        assert _without_openness(parse(kind, data, size, eof=eof), eof) == _without_openness(
            expected, eof
        )


def _without_openness(parsed: Parsed | str, eof: bool) -> Any:
    """An unfinished body's connection is reusable or not: nobody asks before its end."""
    return parsed[:4] if not isinstance(parsed, str) and not parsed[3] and not eof else parsed


@pytest.mark.parametrize("kind", PARSERS)
def test_stray_bytes_end_the_reuse(kind: Any) -> None:
    """What follows a response in the same bytes or later makes its connection unusable."""
    whole = OK + b"content-length: 2\r\n\r\nhi"
    for data, size in (
        (whole + b"x", 10_000),
        (whole + whole, 10_000),
        (whole + b"HTTP/1.1 500 No\r\nx: y\r\n\r\n", 10_000),
        (whole + b"x", len(whole)),
    ):
        assert parse(kind, data, size) == (200, {"content-length": "2"}, b"hi", True, False)


@pytest.mark.parametrize("kind", PARSERS)
def test_an_end_before_the_head(kind: Any) -> None:
    """A connection that ends early is no response."""
    parser = kind()
    assert not parser.feed_eof()
    parser = kind()
    parser.feed(b"HTTP/1.1 200")
    assert not parser.feed_eof()
    parser = kind()
    parser.feed(OK + b"content-length: 0\r\n\r\n")
    assert parser.feed_eof()
    assert not parser.reusable


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize(
    "start", [OK + b"x-a: ", OK, OK + b"transfer-encoding: chunked\r\n\r\n5;"]
)  # fmt: skip
def test_framing_without_end(kind: Any, start: bytes) -> None:
    """Headers and chunk extensions are read up to a bound."""
    parser = kind()
    more = b"x-a: b\r\n" * 100 if start == OK else b"y" * 1000
    with pytest.raises(Broken) as caught:
        for piece in [start, *[more] * 1000]:
            parser.feed(piece)
    assert caught.value.phase == "protocol"


@pytest.mark.parametrize("kind", PARSERS)
def test_a_stream_of_single_bytes_is_no_flood(kind: Any) -> None:
    """Chunks of one byte are mostly framing, and legal."""
    parser = kind()
    parser.feed(OK + b"transfer-encoding: chunked\r\n\r\n")
    taken = 0
    for _ in range(2000):
        parser.feed(b"1\r\nx\r\n" * 50)
        taken += len(parser.take())
    parser.feed(b"0\r\n\r\n")
    assert (taken, parser.complete) == (100_000, True)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(
        [OK, b"HTTP/1.1 101 S\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", b"content-length: 3\r\n", b"\r\n",
         b"transfer-encoding: chunked\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n", b"abc"])), max_size=10
    ).map(b"".join),
    st.integers(1, 30),
    st.sampled_from(PARSERS),
)  # fmt: skip
def test_any_bytes(data: bytes, size: int, kind: Any) -> None:
    """Whatever the bytes: a response, part of one, or `Broken`."""
    result = parse(kind, data, size, eof=True)
    assert isinstance(result, tuple) or result == "protocol"


def test_which_parser_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """httptools where it is installed, else h11."""
    parsing._parser_class.cache_clear()
    assert isinstance(parsing.create_parser(), HttptoolsParser)
    parsing._parser_class.cache_clear()
    monkeypatch.setitem(sys.modules, "httptools", None)
    monkeypatch.delitem(sys.modules, "llm_tools.transport.carriers.fast.httptools_parser")
    assert isinstance(parsing.create_parser(), H11Parser)
    parsing._parser_class.cache_clear()
