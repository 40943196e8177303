"""A server of canned answers, in a process of its own.

    python benchmarks/canned_server.py        # prints its port, and ends with its standard input

The first part of a path says what is answered: `one` (a call), `loop` (a call; text once the end
mark is in the request), `stream` (a call in 200 pieces), `slow` (a call after half a second),
`late` (a call after two seconds), `all` (a call, when as many requests wait as the second part of
the path says). Benchmarks start it with `running()`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import agent_work
import msgspec

DELAYS = {"slow": 0.5, "late": 2.0}
_HEADERS = (
    "date: Mon, 02 Mar 2026 08:15:00 GMT",
    "x-request-id: req_0a1b2c3d4e5f",
    "openai-organization: island",
    "openai-processing-ms: 412",
    "openai-version: 2020-10-01",
    "x-ratelimit-limit-requests: 10000",
    "x-ratelimit-limit-tokens: 2000000",
    "x-ratelimit-remaining-requests: 9999",
    "x-ratelimit-remaining-tokens: 1996500",
    "x-ratelimit-reset-requests: 6ms",
    "x-ratelimit-reset-tokens: 105ms",
    "strict-transport-security: max-age=31536000; includeSubDomains",
    "x-content-type-options: nosniff",
    "cf-cache-status: DYNAMIC",
    "set-cookie: session=abcdefghijklmnopqrstuvwxyz; path=/; secure; httponly",
    "server: canned",
    'alt-svc: h3=":443"; ma=86400',
)


@contextmanager
def running() -> Iterator[str]:
    """The server's address, while it runs; on the second core where there is one."""
    command = [sys.executable, str(Path(__file__).resolve())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        pin(server.pid, -1)
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.stdin.close()
            server.wait(10)


def pin(process: int, core: int) -> None:
    """Keep a process (0: this one) on one core, counted among those this process may use."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:
            os.sched_setaffinity(process, {cores[core]})


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Keep this process, and what it starts, on one core meanwhile."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    pin(0, core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-Benchmark0123456789",
        "object": "chat.completion",
        "created": 1772439300,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": 1843,
            "completion_tokens": 31,
            "total_tokens": 1874,
            "prompt_tokens_details": {"cached_tokens": 1664, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }


def _call() -> dict[str, Any]:
    _, name, given, call_id = agent_work.CALL
    function = {"name": name, "arguments": msgspec.json.encode(given).decode()}
    call = {"id": call_id, "type": "function", "function": function}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
        "refusal": None,
        "annotations": [],
    }


def _text() -> dict[str, Any]:
    return {"role": "assistant", "content": agent_work.TEXT, "refusal": None, "annotations": []}


def _answer(body: dict[str, Any]) -> bytes:
    data = msgspec.json.format(msgspec.json.encode(body), indent=2)
    head = [
        "HTTP/1.1 200 OK",
        "content-type: application/json",
        f"content-length: {len(data)}",
        *_HEADERS,
    ]
    return "\r\n".join([*head, "", ""]).encode() + data


def _chunks() -> Iterator[bytes]:
    _, name, given, call_id = agent_work.STREAMED_CALL
    first = {
        "index": 0,
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    yield _event({"role": "assistant", "content": None, "tool_calls": [first]}, None)
    text = msgspec.json.encode(given).decode()
    ends = [len(text) * piece // agent_work.DELTAS for piece in range(agent_work.DELTAS + 1)]
    for start, end in zip(ends, ends[1:], strict=False):
        piece = {"index": 0, "function": {"arguments": text[start:end]}}
        yield _event({"tool_calls": [piece]}, None)
    yield _event({}, "tool_calls")
    yield b"data: [DONE]\n\n"


def _event(delta: dict[str, Any], reason: str | None) -> bytes:
    chunk = {
        "id": "chatcmpl-Benchmark0123456789",
        "object": "chat.completion.chunk",
        "created": 1772439300,
        "model": "gpt-4o-mini-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        "usage": None,
    }
    return b"data: %b\n\n" % msgspec.json.encode(chunk)


def _stream() -> bytes:
    head = [
        "HTTP/1.1 200 OK",
        "content-type: text/event-stream; charset=utf-8",
        "transfer-encoding: chunked",
        *_HEADERS,
    ]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in _chunks())
    return "\r\n".join([*head, "", ""]).encode() + chunks + b"0\r\n\r\n"


class _Connection(asyncio.Protocol):
    """One connection; requests come whole or in pieces, one after the other."""

    answers: dict[bytes, bytes]
    final: bytes
    waiting: ClassVar[set[_Connection]] = set()

    def __init__(self) -> None:
        self._received = bytearray()
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        head_end = received.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head = bytes(received[:head_end]).lower()
        start = head.find(b"\r\ncontent-length:") + 17
        end = head.find(b"\r\n", start)
        length = int(head[start : end if end >= 0 else None])
        if len(received) < head_end + 4 + length:
            return
        kind = head.split(b"/", 2)[1]
        answer = self.answers[kind]
        if kind == b"loop" and received.find(agent_work.END_MARK.encode()) >= 0:
            answer = self.final
        received.clear()
        delay = DELAYS.get(kind.decode())
        if kind == b"all":
            self._wait_for(int(head.split(b"/", 3)[2]), answer)
        elif delay is None:
            self._transport.write(answer)
        else:
            asyncio.get_running_loop().call_later(delay, self._transport.write, answer)

    def connection_lost(self, _: Exception | None) -> None:
        self.waiting.discard(self)

    def _wait_for(self, count: int, answer: bytes) -> None:
        self.waiting.add(self)
        if len(self.waiting) >= count:
            for connection in self.waiting:
                connection._transport.write(answer)  # noqa: SLF001 - one of its own kind
            self.waiting.clear()


async def _serve() -> None:
    one = _answer(_completion(_call(), "tool_calls"))
    _Connection.answers = dict.fromkeys((b"one", b"loop", b"slow", b"late", b"all"), one)
    _Connection.answers[b"stream"] = _stream()
    _Connection.final = _answer(_completion(_text(), "stop"))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve())
