"""What every carrier over httpx shares: requests, responses, and its exceptions in our terms."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

import anyio

from ..arrival import Attempt, Broken, Phase, Reader, is_crowded, read_by_two
from ..headers import decode_headers
from ..masking import mask_text
from ..quiet import KeysInHand, QuietChunks
from ..secret import Key

CLOSING_TIME = 1.0
_BUFFERED_AT_MOST = 100_000
"""Pieces that may come without waiting; the scripted streams of a test may have no end."""
_BUSY = "asynchronous generator is already running"
_PHASES: tuple[tuple[str, Phase], ...] = (
    ("ConnectTimeout", "connect"),
    ("PoolTimeout", "connect"),
    ("ConnectError", "connect"),
    ("ProxyError", "connect"),
    ("ReadTimeout", "idle"),
    ("UnsupportedProtocol", "connect"),
    ("RemoteProtocolError", "protocol"),
    ("LocalProtocolError", "protocol"),
    ("DecodingError", "protocol"),
)
_LIBRARIES = frozenset({"anyio", "h11", "h2", "hpack", "httpcore", "httpcore2", "httpx", "httpx2"})
_LOST = {
    "Server disconnected": None,
    "<ConnectionTerminated": "the server ended the HTTP/2 connection",
    "<StreamReset": "the server reset the HTTP/2 stream",
}
"""What h11 and h2 say of a connection that ended, though no rule was broken; and how we say it."""


class HttpxArrival:
    """A response of httpx, or of a library with its interface, read as raw bytes."""

    __slots__ = (
        "_chunks", "_hand", "_response", "_secrets", "ended", "headers", "status",
    )  # fmt: skip
    keeps_time = False

    def __init__(
        self, response: Any, secrets: tuple[Key, ...], hand: KeysInHand | None = None
    ) -> None:
        self._response = response
        self._hand = hand if hand is not None and hand.was_needed else None
        self._secrets = secrets
        self._chunks: AsyncIterator[bytes] | None = None
        self.ended: bool = False
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = decode_headers(response.headers.raw)

    def open_reader(self) -> Reader:
        """What gives the next bytes; see `Arrival`."""
        chunks: AsyncIterator[bytes] = self._response.stream.__aiter__()
        if self._hand is not None:
            chunks = QuietChunks(chunks, self._hand)
        self._chunks = chunks
        return chunks.__anext__

    def explain(self, error: Exception) -> Exception | None:
        """What the reader's error means; see `Arrival`."""
        if isinstance(error, StopAsyncIteration):
            self._chunks = None
            self.ended = True
            return None
        if type(error) is RuntimeError and str(error).endswith(_BUSY):
            return read_by_two()
        return translated(error, "body", self._secrets)

    async def aclose(self) -> None:
        """Close iterator and response, shielded from a cancellation that may be the reason."""
        chunks, self._chunks = self._chunks, None
        if chunks is not None:
            await unwind(chunks)
        with anyio.move_on_after(CLOSING_TIME, shield=True):
            await self._response.aclose()


class BodyAtOnce:
    """A request's body, at once.

    The iterator of httpx's own is an async generator, which an interrupted request leaves open.
    """

    __slots__ = ("_left",)

    def __init__(self, body: bytes) -> None:
        self._left = body

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        body, self._left = self._left, b""
        return body


async def unwind(chunks: AsyncIterator[bytes]) -> None:
    """End a response's iterator that was left early.

    It is a nest of async generators, and closing the outer one leaves the others to the garbage
    collector. So it is resumed where every wait is cancelled: that ends them all, inside out.
    One in which another task waits is left to it: it will see that the response is closed.
    """
    with anyio.CancelScope(shield=True) as scope:
        scope.cancel()
        with suppress(Exception):
            for _ in range(_BUFFERED_AT_MOST):
                await chunks.__anext__()
    close = getattr(chunks, "aclose", None)
    if close is not None:
        with anyio.move_on_after(CLOSING_TIME, shield=True), _unless_busy():
            await close()


@contextmanager
def _unless_busy() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if not str(error).endswith(_BUSY):
            raise


def translated(error: Exception, otherwise: Phase, secrets: tuple[Key, ...]) -> Exception:
    """An exception of httpx's (known by name, so that httpx2's are, too) as `Broken`.

    What is no network error, such as a failed assertion in a mock, is returned as it is, but
    without the frames of libraries: they hold the key.
    """
    names = [kind.__name__ for kind in type(error).__mro__]
    if not ("TransportError" in names or "DecodingError" in names or isinstance(error, OSError)):
        return error.with_traceback(_own_frames(error.__traceback__))
    phase = next((phase for name, phase in _PHASES if name in names), otherwise)
    message = mask_text(_message(error), secrets)
    if otherwise == "body" and phase != "idle":
        phase = "body"
    elif phase == "protocol":
        for sign, meaning in _LOST.items():
            if sign in message:
                phase, message = "lost", meaning or message
    return Broken(
        phase,
        detached(error, message),
        final=_untrusted(error),
        crowded=phase == "connect" and is_crowded(error),
    )


def _own_frames(frames: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of the libraries below us."""
    if frames is None:
        return None
    rest = _own_frames(frames.tb_next)
    if str(frames.tb_frame.f_globals.get("__name__")).partition(".")[0] in _LIBRARIES:
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


def _message(error: BaseException) -> str:
    """What it says; where that is nothing, what the system said below it, or else its name."""
    below: BaseException | None = error
    while below is not None:
        text = str(below)
        if text and (below is error or isinstance(below, OSError)):
            return text
        below = below.__cause__ or below.__context__
    return type(error).__name__


def detached(error: Exception, message: str) -> Exception:
    """A copy without traceback, request or key: type and message."""
    copy: Exception | None = None
    with suppress(Exception):  # some exceptions take other arguments
        copy = type(error)(message)
    if copy is None or str(copy) != message:  # an SSLError shows one argument as a tuple
        return OSError(f"{type(error).__name__}: {message}")
    return copy


def _untrusted(error: BaseException | None) -> bool:
    """Whether the host's certificate was refused, which trying again does not change."""
    while error is not None:
        if type(error).__name__ in ("SSLCertVerificationError", "CertificateError"):
            return True
        error = error.__cause__ or error.__context__
    return False


def tracer(attempt: Attempt) -> Any:
    """A trace hook for httpcore: it follows how far a new connection has got.

    Its first word ends the wait for a connection, so an attempt whose clock stands begins then.
    """

    async def trace(name: str, info: Mapping[str, Any]) -> None:
        if attempt.paused:
            attempt.begin()
        if name == "connection.connect_tcp.started":
            attempt.sent = False
        elif name == "connection.connect_tcp.complete":
            attempt.half_open = info["return_value"]
        elif name == "connection.start_tls.complete":
            attempt.half_open = None
        elif name.endswith(".send_request_headers.started"):
            attempt.half_open = None
            attempt.sent = True

    return trace


async def close_half_open(attempt: Attempt) -> None:
    """Close what httpcore leaves open when it is cancelled during a TLS handshake."""
    stream, attempt.half_open = attempt.half_open, None
    if stream is not None:
        with anyio.move_on_after(CLOSING_TIME, shield=True):
            await stream.aclose()
