"""A transport that answers from a recording."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

import httpx
from anyio import CapacityLimiter, to_thread

from ...errors import ConfigurationError, ResponseDecodeError
from ...transport.headers import decode_headers
from ..scripted_transport import ScriptedResponse, make_response
from .exchange import Ending, Exchange
from .file import read_exchanges
from .matching import Recordings, Request, make_request
from .taping import asked

OnUnknown: TypeAlias = Literal["error"] | httpx.AsyncBaseTransport


class ReplayTransport(httpx.AsyncBaseTransport):
    """Answers from what `RecordingTransport` wrote, without network and without a real key.

    A request is found by its method, its URL and its JSON body, whatever the order of keys in it;
    headers do not count. What was recorded several times is given in turn, each recording once.
    A stream comes in the pieces in which it came.
    """

    def __init__(self, path: str | PathLike[str], *, on_unknown: OnUnknown = "error") -> None:
        """Say where from.

        Args:
            path: the file; it is read with the first request.
            on_unknown: what becomes of a request that was not recorded: an `error`, or the
                transport that answers it.

        Raises:
            ConfigurationError: `on_unknown` is neither.
        """
        if on_unknown != "error" and not hasattr(on_unknown, "handle_async_request"):
            raise ConfigurationError(
                f"on_unknown={on_unknown!r} must be 'error' or an httpx.AsyncBaseTransport."
            )
        self._path = Path(path)
        self._on_unknown: OnUnknown = on_unknown
        self._recordings: Recordings | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded answer.

        Raises:
            ConfigurationError: there is no such file, or nothing in it answers this request; the
                message tells what differs from the nearest recording.
        """
        recordings = await self._read()
        wanted = _known_by(request, await request.aread())
        exchange = recordings.take(wanted)
        if exchange is not None:
            return _answer(exchange)
        if isinstance(self._on_unknown, str):
            raise ConfigurationError(
                f"{self._path} answers no {wanted['method']} {wanted['url']} as this one. "
                f"{recordings.explain(wanted)} Delete the file and record again with "
                "RecordingTransport, or ask as it was asked then."
            )
        return await self._on_unknown.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the transport that answers what was not recorded."""
        if not isinstance(self._on_unknown, str):
            await self._on_unknown.aclose()

    async def _read(self) -> Recordings:
        if self._recordings is None:
            exchanges = await to_thread.run_sync(
                read_exchanges, self._path, limiter=CapacityLimiter(1)
            )
            if self._recordings is None:  # another request may have been faster
                self._recordings = Recordings(exchanges)
        return self._recordings


def _known_by(request: httpx.Request, body: bytes) -> Request:
    """What a request is known by. Its headers, with the key, stay in this frame."""
    headers = decode_headers(request.headers.raw)
    fields = asked(request.method, str(request.url), headers, body)
    return make_request(fields["method"], fields["url"], fields["request_body"])


def _answer(exchange: Exchange) -> httpx.Response:
    """The response as it was recorded, with the error that ended it."""
    error = None if exchange.error is None else _error(exchange.error)
    whole = exchange.chunks is None and error is None
    return make_response(
        ScriptedResponse(
            status=exchange.status,
            headers=exchange.headers,
            body=b"".join(exchange.pieces) if whole else b"",
            chunks=None if whole else [*exchange.pieces, *([error] if error else [])],
        )
    )


def _error(ending: Ending) -> Exception:
    """The error that ended an answer; of a class that is not known here, the nearest."""
    if ending.kind == "ResponseDecodeError":
        return ResponseDecodeError(ending.message)
    kind = getattr(httpx, ending.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, httpx.RequestError)):
        kind = httpx.ReadError
    return kind(ending.message)
