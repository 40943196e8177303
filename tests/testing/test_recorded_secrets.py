"""No key reaches a recording, by whatever way it goes out or comes back."""

from __future__ import annotations

import base64
import json
from binascii import crc32
from pathlib import Path
from typing import Any

import httpx
import pytest
from testing.answers import KEY, completion, events, lines

from llm_tools import (
    BadRequestError,
    Endpoint,
    LlmToolsError,
    ProviderError,
    StreamError,
    list_endpoints,
    register_endpoint,
    registry,
    use_llm,
)
from llm_tools.spec import KeyAuth
from llm_tools.testing import (
    RecordingTransport,
    ReplayTransport,
    ScriptedResponse,
    ScriptedTransport,
)

pytestmark = pytest.mark.anyio

OTHER = "Kx9/Qm2+secret_access_key0123456789"
TOKEN = "FwoGZXIvYXdzE/session+token==0123456789"
AWS = {
    "region": "eu-west-1",
    "access_key_id": "AKIDEXAMPLE012345678",
    "secret_access_key": OTHER,
    "session_token": TOKEN,
}
CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "authorization": ("openai.gpt-4o-mini", {"api_key": KEY}),
    "x-api-key": ("anthropic.claude-sonnet-4-5", {"api_key": KEY}),
    "api-key": ("azure.our-deployment", {"api_key": KEY, "resource": "ours"}),
    "x-goog-api-key": ("google.gemini-3-pro", {"api_key": KEY}),
    "google's token": ("google.gemini-3-pro", {"access_token": KEY}),
    "vertex's token": ("vertex.gemini-3-pro", {"access_token": KEY, "project": "ours"}),
    "aws bearer": (f"amazon.{CLAUDE}", {"api_key": KEY, "region": "eu-west-1"}),
    "aws signature": (f"amazon.{CLAUDE}", AWS),
    "aws signature, invoke": (f"amazon:anthropic.{CLAUDE}", AWS),
    "a header of its own": ("gateway.x", {"api_key": KEY}),
    "a key in the URL": (
        "vllm.x",
        {"base_url": f"https://api.example/v1?key={KEY}"},
    ),
}


@pytest.fixture(autouse=True)
def gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with a header nobody knows, and a constant header of the caller's."""
    list_endpoints()  # loads them all: what is registered here must not stay
    known = {key: dict(records) for key, records in registry._endpoints.items()}
    monkeypatch.setattr(registry, "_endpoints", known)
    register_endpoint(
        Endpoint(
            key="gateway",
            base_url="https://gateway.example/v1",
            auth=KeyAuth(header="x-gateway", prefix=""),
            headers={"cookie": f"session={TOKEN}; mode=1"},
        )
    )


def secrets_of(request: httpx.Request) -> list[str]:
    """All that may not be written down of a request."""
    authorization = request.headers.get("authorization", "")
    parts = [authorization.rpartition("Signature=")[2], authorization.rpartition(" ")[2]]
    return [secret for secret in (KEY, OTHER, TOKEN, AWS["access_key_id"], *parts) if secret]


def echo(request: httpx.Request, status: int) -> httpx.Response:
    """All that came, said back in body and headers."""
    said = {"error": {"message": json.dumps(dict(request.headers)), "url": str(request.url)}}
    headers = {"x-request-id": request.headers.get("authorization", KEY)}
    return httpx.Response(status, json=said, headers=headers)


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("way", WAYS)
async def test_no_way_of_sending_a_key_brings_it_into_the_file(
    file: Path, way: str, status: int
) -> None:
    """Neither the key nor a signature, though the provider says all of it back."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return echo(request, status)

    key, options = WAYS[way]
    wire = RecordingTransport(file, httpx.MockTransport(answer))
    with pytest.raises(ProviderError):
        await use_llm(key, transport=wire, max_attempts=1, **options).call("Hi")
    (request,), (line,) = seen, lines(file)
    text = file.read_text() + json.dumps(line, ensure_ascii=False)
    assert [secret for secret in secrets_of(request) if secret in text] == []
    assert "***" in line["body"]
    assert set(line["requestHeaders"]) <= {"accept", "content-type", "anthropic-version"}


@pytest.mark.parametrize("way", WAYS)
async def test_another_key_finds_the_recording(file: Path, way: str) -> None:
    """What was recorded with a real key is answered to one that is none."""
    key, options = WAYS[way]
    wire = RecordingTransport(file, httpx.MockTransport(lambda request: echo(request, 400)))
    with pytest.raises(BadRequestError) as live:
        await use_llm(key, transport=wire, max_attempts=1, **options).call("Hi")
    names = {"api_key", "access_token", "access_key_id", "secret_access_key", "session_token"}
    others = {
        name: "none" if name in names else str(value).replace(KEY, "none")
        for name, value in options.items()
    }
    replay = ReplayTransport(file)
    with pytest.raises(BadRequestError) as again:
        await use_llm(key, transport=replay, max_attempts=1, **others).call("Hi")
    assert again.value.code == live.value.code


async def test_a_key_in_what_is_said(file: Path) -> None:
    """A key that a conversation tells is masked in the request, and in the answer."""
    wire = ScriptedTransport(lambda request: completion(f"It is {KEY}."))
    llm = use_llm("openai.gpt-4o-mini", api_key=KEY, transport=RecordingTransport(file, wire))
    await llm.call(f"My key is {KEY}")
    (line,) = lines(file)
    assert line["requestBody"]["messages"][0]["content"] == "My key is ***"
    assert json.loads(line["body"]) == completion("It is ***.")
    again = use_llm("openai.gpt-4o-mini", api_key=KEY, transport=ReplayTransport(file))
    assert (await again.call(f"My key is {KEY}")).text == "It is ***."


def stream(*pieces: bytes | Exception) -> ScriptedResponse:
    """A stream of events, in these pieces."""
    return ScriptedResponse(headers={"content-type": "text/event-stream"}, chunks=pieces)


async def record_stream(file: Path, answer: ScriptedResponse, key: str) -> None:
    """Record a stream, however it ends."""
    wire = RecordingTransport(file, ScriptedTransport([answer]))
    options = AWS | {"api_key": None} if key.startswith("amazon") else {"api_key": KEY}
    llm = use_llm(key, transport=wire, max_attempts=1, **options)
    try:
        async with llm.stream("Hi") as told:
            async for _ in told:
                """Read it to its end."""
    except LlmToolsError:
        """Some of these answers are none."""


async def test_a_stream_that_tells_the_key(file: Path) -> None:
    """It is masked, and the pieces stay where they were."""
    first, *others = events(f"It is {KEY}.", " Keep it.")
    await record_stream(file, stream(*[e.encode() for e in (first, *others)]), "openai.gpt-4o-mini")
    (line,) = lines(file)
    assert line["chunks"] == [first.replace(KEY, "***"), *others]


async def test_a_key_across_two_pieces_of_a_stream(file: Path) -> None:
    """It is masked; the pieces become one."""
    text = "".join(events(f"It is {KEY}."))
    cut = text.index(KEY) + 10
    await record_stream(
        file, stream(text[:cut].encode(), text[cut:].encode()), "openai.gpt-4o-mini"
    )
    (line,) = lines(file)
    assert line["chunks"] == [text.replace(KEY, "***")]


@pytest.mark.parametrize("pieces", [(KEY[:9], KEY[9:]), ("It is ", *KEY, ".")])
async def test_a_key_that_events_tell_in_pieces(file: Path, pieces: tuple[str, ...]) -> None:
    """No mask fits it: nothing of the answer is kept, and replaying says why."""
    answer = stream(*[event.encode() for event in events(*pieces)])
    await record_stream(file, answer, "openai.gpt-4o-mini")
    (line,) = lines(file)
    assert line["chunks"] == []
    llm = use_llm("openai.gpt-4o-mini", api_key=KEY, transport=ReplayTransport(file))
    with pytest.raises(StreamError, match="held the key where it cannot be masked"):
        async with llm.stream("Hi") as told:
            await anext(told)


async def test_the_beginning_of_a_key_before_a_stream_broke(file: Path) -> None:
    """The rest was on its way."""
    answer = stream(
        events("It is ", KEY[:12])[0].encode(),
        events("It is ", KEY[:12])[1].encode(),
        httpx.ReadError("reset"),
    )
    await record_stream(file, answer, "openai.gpt-4o-mini")
    assert lines(file)[0]["chunks"] == []


async def test_what_only_looks_like_the_beginning_of_a_key(file: Path) -> None:
    """A stream that ends with it is whole, and kept."""
    told = events("Keys begin with ", KEY[:12])
    await record_stream(file, stream(*[e.encode() for e in told]), "openai.gpt-4o-mini")
    assert lines(file)[0]["chunks"] == told


def message(event: str, payload: bytes) -> bytes:
    """A message of an AWS event stream."""
    headers = b"".join(
        bytes([len(name)])
        + name.encode()
        + b"\x07"
        + len(value).to_bytes(2, "big")
        + value.encode()
        for name, value in ((":message-type", "event"), (":event-type", event))
    )
    prelude = (16 + len(headers) + len(payload)).to_bytes(4, "big") + len(headers).to_bytes(
        4, "big"
    )
    whole = prelude + crc32(prelude).to_bytes(4, "big") + headers + payload
    return whole + crc32(whole).to_bytes(4, "big")


def wrapped(event: dict[str, Any]) -> bytes:
    """An event of Claude's, in base64 as InvokeModel sends it."""
    inner = base64.b64encode(json.dumps(event).encode()).decode()
    return message("chunk", json.dumps({"bytes": inner}).encode())


def delta(text: str) -> dict[str, Any]:
    """A piece of Claude's text."""
    return {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    }


@pytest.mark.parametrize(
    ("key", "pieces"),
    [
        (
            "amazon",
            [
                message(
                    "contentBlockDelta",
                    json.dumps({"contentBlockIndex": 0, "delta": {"text": TOKEN}}).encode(),
                )
            ],
        ),
        ("amazon:anthropic", [wrapped(delta(f"It is {TOKEN}."))]),
        ("amazon:anthropic", [wrapped(delta(TOKEN[:10])), wrapped(delta(TOKEN[10:]))]),
        ("amazon:anthropic", [b"\0\0\0\0 no message at all \0\0"]),
    ],
    ids=["plain", "in base64", "in pieces", "damaged"],
)
async def test_a_key_in_a_stream_of_amazons(file: Path, key: str, pieces: list[bytes]) -> None:
    """Its checksums allow no mask, and base64 hides keys from view: nothing is kept."""
    answer = ScriptedResponse(
        headers={"content-type": "application/vnd.amazon.eventstream"}, chunks=pieces
    )
    await record_stream(file, answer, f"{key}.{CLAUDE}")
    (line,) = lines(file)
    assert line["chunks"] == []
    assert TOKEN not in file.read_text()


async def test_a_stream_of_amazons_is_kept_in_base64(file: Path) -> None:
    """Where no key is in it."""
    pieces = [wrapped(delta("Hello!"))]
    answer = ScriptedResponse(
        headers={"content-type": "application/vnd.amazon.eventstream"}, chunks=pieces
    )
    await record_stream(file, answer, f"amazon:anthropic.{CLAUDE}")
    chunks = lines(file)[0]["chunks"]
    assert [base64.b64decode(chunk["base64"]) for chunk in chunks] == pieces
