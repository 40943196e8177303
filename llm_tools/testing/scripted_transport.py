"""A wire that answers from a script."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from inspect import isawaitable
from typing import Any, TypeAlias

import httpx
import msgspec
from msgspec import Struct

from ..errors import ConfigurationError


class RecordedRequest(Struct, frozen=True, kw_only=True):
    """One request as it went out: `headers` in lower case, `body` decoded from JSON."""

    method: str
    url: str
    headers: dict[str, str]
    body: Any


class ScriptedResponse(Struct, frozen=True, kw_only=True):
    """One answer: `body` as JSON value, text or bytes; `chunks` instead of it for a stream.

    Chunks from an asynchronous generator may wait for something in between. An exception among
    them is raised: the connection breaks there.
    """

    status: int = 200
    headers: Mapping[str, str] = {}
    body: Any = b""
    chunks: Iterable[bytes | Exception] | AsyncIterable[bytes | Exception] | None = None


Reply: TypeAlias = (
    ScriptedResponse
    | Mapping[str, Any]
    | str
    | bytes
    | Exception
    | Callable[[RecordedRequest], Any]
)


class ScriptedTransport(httpx.AsyncBaseTransport):
    """Give it to `use_llm(…, transport=ScriptedTransport([…]))`.

    Each request takes the next reply: a `ScriptedResponse`, a JSON value (status 200), text or
    bytes, an exception to raise, or a function of the `RecordedRequest` that returns one of these
    (sync or async). A single function instead of a list answers every request. `requests` holds
    what was sent.
    """

    def __init__(self, replies: Iterable[Reply] | Callable[[RecordedRequest], Any]) -> None:
        self._answer_all = replies if callable(replies) else None
        self._replies = iter(()) if callable(replies) else iter(list(replies))
        self.requests: list[RecordedRequest] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The next reply.

        Raises:
            ConfigurationError: the script has ended.
        """
        recorded = RecordedRequest(
            method=request.method,
            url=str(request.url),
            headers=dict(request.headers),
            body=_body(await request.aread()),
        )
        self.requests.append(recorded)
        reply = self._answer_all or next(self._replies, None)
        while callable(reply):
            reply = reply(recorded)
            if isawaitable(reply):
                reply = await reply
        if reply is None:
            raise ConfigurationError("The script of this ScriptedTransport has ended.")
        if isinstance(reply, Exception):
            raise reply
        return make_response(reply)


class _Chunks(httpx.AsyncByteStream):
    """A class and no generator, which would have to be closed when it is left early."""

    def __init__(self, chunks: Iterable[Any] | AsyncIterable[Any]) -> None:
        self._later = aiter(chunks) if isinstance(chunks, AsyncIterable) else None
        self._ready = iter(()) if isinstance(chunks, AsyncIterable) else iter(chunks)

    def __aiter__(self) -> _Chunks:
        return self

    async def __anext__(self) -> bytes:
        chunk = next(self._ready, None) if self._later is None else await anext(self._later)
        if chunk is None:
            raise StopAsyncIteration
        if isinstance(chunk, Exception):
            raise chunk
        return bytes(chunk)

    async def aclose(self) -> None:
        """Close the caller's generator, if it is one."""
        close = getattr(self._later, "aclose", None)
        if close is not None:
            await close()


def _body(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return raw


def make_response(reply: Any) -> httpx.Response:
    """What a reply looks like to httpx."""
    if not isinstance(reply, ScriptedResponse):
        reply = ScriptedResponse(body=reply)
    if reply.chunks is not None:
        return httpx.Response(reply.status, headers=reply.headers, stream=_Chunks(reply.chunks))
    if isinstance(reply.body, bytes):
        return httpx.Response(reply.status, headers=reply.headers, content=reply.body)
    if isinstance(reply.body, str):
        return httpx.Response(reply.status, headers=reply.headers, text=reply.body)
    headers = {"content-type": "application/json", **reply.headers}
    return httpx.Response(reply.status, headers=headers, content=msgspec.json.encode(reply.body))
