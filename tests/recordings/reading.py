"""What a recorded exchange says, read without the library's code: simple, slow, by eye.

A folder of recordings (one JSON object a line; see `Record`) is named by the environment variable
`LLM_TOOLS_RECORDINGS`; without it the tests over it are skipped.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("LLM_TOOLS_RECORDINGS")
UNREADABLE = object()
"""Arguments that are no JSON object, however they are read."""


@dataclass(frozen=True)
class Record:
    """One exchange: what was sent is `request`, what came is `body`, `stream` or `raw` bytes."""

    id: str
    status: int
    model: str
    tags: tuple[str, ...]
    request: Any
    headers: dict[str, str]
    body: Any = None
    stream: bytes | None = None
    url: str = ""
    run: str = ""
    """The conversation it is a step of."""

    @property
    def body_bytes(self) -> bytes:
        """The body as one piece."""
        if self.stream is not None:
            return self.stream
        return b"" if self.body is None else json.dumps(self.body).encode()


@dataclass
class Call:
    """A call as the bytes have it."""

    name: str = ""
    arguments: Any = None
    id: str | None = None


@dataclass
class Usage:
    """Tokens in the library's meaning: input with cache, output with reasoning."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    reasoning: int = 0


@dataclass
class Reading:
    """What an answer says."""

    text: str = ""
    reasoning: bool = False
    refusal: str = ""
    calls: list[Call] = field(default_factory=list)
    usage: Usage | None = None
    finish: str | None = None
    cut: bool = False
    broken: bool = False
    """The answer is, or ends in, an error; or a stream has no end."""


def records(name: str) -> list[Record]:
    """The exchanges of one file of the folder; none where there is no folder."""
    path = Path(FOLDER) / f"{name}.jsonl" if FOLDER else None
    if path is None or not path.exists():
        return []
    return [_record(json.loads(line)) for line in path.read_text().splitlines() if line.strip()]


def params(*names: str, tag: str | None = None, errors: bool = True) -> list[Any]:
    """The exchanges as parameters of a test; one skipped parameter where there are none."""
    found = [
        record
        for name in names
        for record in records(name)
        if (tag is None or tag in record.tags)
        and (errors or record.status < 300)
        and "json_array_stream" not in record.tags
    ]
    if not found:
        reason = "no recordings: LLM_TOOLS_RECORDINGS names no folder with them"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(record, id=record.id) for record in found]


def _record(raw: dict[str, Any]) -> Record:
    response = raw["response"]
    stream: bytes | None = None
    if "stream" in response:
        stream = "".join(response["stream"]).encode()
    elif "base64" in response:
        stream = base64.b64decode(response["base64"])
    return Record(
        id=raw["id"],
        status=raw["status"],
        model=raw["model"] or "",
        tags=tuple(raw["tags"]),
        request=raw["request"].get("body"),
        headers={key.lower(): value for key, value in response["headers"].items()},
        body=response.get("body"),
        stream=stream,
        url=raw["request"]["url"],
        run=raw["source"].rpartition("#")[0],
    )


def sse_payloads(stream: bytes) -> Iterator[Any]:
    """The JSON payloads of a stream of server-sent events; others are left out."""
    text = stream.decode().replace("\r\n", "\n").replace("\r", "\n")
    for event in text.split("\n\n"):
        data = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data")]
        joined = "\n".join(data)
        if joined.startswith("{"):
            yield json.loads(joined)


def aws_payloads(stream: bytes) -> Iterator[tuple[str, Any]]:
    """The (event type, JSON payload) pairs of an AWS event stream, as botocore cuts it."""
    from botocore.eventstream import EventStreamBuffer

    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    for event in buffer:
        headers = event.headers
        kind = headers.get(":event-type") or headers.get(":exception-type") or ""
        yield str(kind), json.loads(event.payload or b"null")


def arguments_value(arguments: Any) -> Any:
    """The object that arguments stand for: of nothing `{}`, of `{}{…}` the last, else themselves."""
    if isinstance(arguments, dict):
        return arguments
    if arguments is None or (isinstance(arguments, str) and arguments.strip() in ("", "null")):
        return {}
    if not isinstance(arguments, str):
        return UNREADABLE
    text = arguments.strip()
    if text.startswith("{}") and text != "{}":
        text = text[2:].strip()
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return UNREADABLE
    return value if isinstance(value, dict) else UNREADABLE
