"""Answers on the wire of Chat Completions, and what a recording holds."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from transport.scripted import chunk, sse_head

KEY = "sk-test-KEY-0123456789abcdefghij"
CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"n":1}'}}


def completion(text: str | None, **message: Any) -> dict[str, Any]:
    """A whole answer."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": "tool_calls" if message else "stop",
            }
        ],
    }


def events(*texts: str) -> list[str]:
    """A streamed answer, an event for each text and two for its end."""
    deltas: list[tuple[dict[str, Any], str | None]] = [({"content": text}, None) for text in texts]
    return [_event(*delta) for delta in [*deltas, ({}, "stop")]] + ["data: [DONE]\n\n"]


def _event(delta: dict[str, Any], reason: str | None) -> str:
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }
    return f"data: {json.dumps(value)}\n\n"


def stream_step(*pieces: str, end: str = "0\r\n\r\n") -> list[Any]:
    """A step of the server's: a stream, each piece in a chunk of its own."""
    return [["send", sse_head() + "".join(map(chunk, pieces)) + end]]


def packed_step(head: str, body: bytes, encoding: str) -> list[Any]:
    """A step of the server's: a compressed body in two chunks."""
    half = len(body) // 2
    parts = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:half], body[half:]))
    fields = f"{head}content-encoding: {encoding}\r\ntransfer-encoding: chunked\r\n\r\n"
    return [["send64", base64.b64encode(fields.encode() + parts + b"0\r\n\r\n").decode()]]


def lines(file: Path) -> list[dict[str, Any]]:
    """The exchanges of a recording; it ends with a whole line."""
    text = file.read_text("utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]
