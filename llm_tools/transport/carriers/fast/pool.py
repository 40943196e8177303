"""Requests over our own sockets."""

from __future__ import annotations

from collections.abc import Mapping
from ssl import SSLContext
from typing import Any

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from ...arrival import Arrival, Attempt, Broken, Reader, is_crowded, read_by_two
from ...head import Head
from ...secret import KeyBytes
from ...slots import Slots
from ...tls import shared_context
from ..connections import Connections
from .parsing import ResponseParser, create_parser
from .sockets import SocketStream, connect

_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
"""OSError is for TLS: a record that cannot be decrypted, an alert such as a missing certificate."""


class Connection:
    """A socket, and the stream on it: itself, or TLS."""

    __slots__ = ("socket", "stream")

    def __init__(self, socket: SocketStream, stream: ByteStream) -> None:
        self.socket: SocketStream = socket
        self.stream: ByteStream = stream

    async def aclose(self) -> None:
        """Close it without a word to the other side."""
        await self.socket.aclose()

    def is_alive(self) -> bool:
        """Whether it may carry another request."""
        return self.socket.is_quiet()


class FastPool:
    """The connections to one origin in one loop."""

    __slots__ = ("_connections", "_context")

    def __init__(self, slots: Slots, scheme: str) -> None:
        self._context = shared_context(scheme) if scheme == "https" else None
        self._connections: Connections[Connection] = Connections(
            slots, Connection.aclose, Connection.is_alive
        )

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send on a free connection, or a new one, and wait for the response head."""
        if head.prepared is None:
            head.prepared = _prefix(head)
        lines = KeyBytes(b"%b%d\r\n\r\n" % (head.prepared, len(body)))
        return await self.exchange(head, lines, body, attempt)

    async def exchange(
        self, head: Head, lines: KeyBytes, body: bytes, attempt: Attempt
    ) -> FastArrival:
        """Send a request, its header lines and its body, and wait for the response head."""
        connections = self._connections
        connection = None if attempt.fresh else connections.take()
        reused = connection is not None
        if connection is None:
            connection, reused = await self._acquire(head, attempt)
        try:
            # Joined here, the copy of the body waits neither for a connection nor for the answer.
            await _send(connection.stream, lines + body)
            parser, broken = await _receive_head(connection.stream, reused=reused)
        except BaseException as interruption:  # noqa: BLE001 - it is raised again
            await connections.drop(connection)
            raise interruption.with_traceback(None)  # noqa: B904 - the frames below hold the key
        arrival = FastArrival(connection, parser, connections, broken)
        if parser.complete and not arrival.give_back():
            await arrival.aclose()
        return arrival

    async def aclose(self, *, at_once: bool = False) -> None:
        """Close what is free now, and what is in use as it comes back."""
        await self._connections.aclose()

    async def _acquire(self, head: Head, attempt: Attempt) -> tuple[Connection, bool]:
        """A connection, once there is one, and whether it was used before."""
        while True:
            connection = await self._connections.acquire(attempt)
            if connection is not None:
                return connection, True
            try:
                return await self._connect(head, attempt), False
            except Broken as broken:
                if not (broken.crowded and await self._connections.make_room(attempt)):
                    raise

    async def _connect(self, head: Head, attempt: Attempt) -> Connection:
        attempt.sent = False
        connection = None
        error: Exception = TimeoutError(f"no connection within {attempt.connect} s")
        final = crowded = False
        try:
            with anyio.move_on_after(attempt.connect):
                connection = await open_connection(head, self._context)
        except (anyio.EndOfStream, *_BROKEN) as refused:
            final = type(refused).__name__ == "SSLCertVerificationError"
            crowded = is_crowded(refused)
            error = OSError(str(refused) or "the connection was closed while it was being opened")
        finally:
            if connection is None:
                self._connections.give_up()
        if connection is None:
            raise Broken("connect", error, final=final, crowded=crowded)
        attempt.sent = True
        return connection


async def open_connection(head: Head, context: SSLContext | None) -> Connection:
    """A connection to the head's origin, encrypted where there is a context."""
    socket = await connect(head.host, head.port)
    if context is None:
        return Connection(socket, socket)
    try:
        stream = await TLSStream.wrap(
            socket,
            hostname=head.host,
            ssl_context=context,
            standard_compatible=False,
        )
    except BaseException:
        socket.close()
        raise
    return Connection(socket, stream)


async def _send(stream: ByteStream, data: bytes) -> None:
    try:
        await stream.send(data)
    except (anyio.EndOfStream, *_BROKEN):
        return  # it may have answered before it closed: a body too large


async def _receive_head(
    stream: ByteStream, *, reused: bool
) -> tuple[ResponseParser, Broken | None]:
    """Receive until the response head is there; with it, what is wrong with the body behind it."""
    parser = create_parser()
    received = False
    try:
        while not parser.head_done:
            answer = await stream.receive()
            received = True
            parser.feed(answer)
    except Broken as broken:
        if not parser.head_done:
            raise
        return parser, broken
    except (anyio.EndOfStream, *_BROKEN) as error:
        reason = str(error) or "the server closed it before it answered"
    else:
        return parser, None
    raise Broken("stale" if reused and not received else "lost", ConnectionError(reason))


class FastArrival:
    """A response of ours."""

    __slots__ = (
        "_broken", "_connection", "_connections", "_parser", "ended", "headers",
        "status",
    )  # fmt: skip
    keeps_time = False

    def __init__(
        self,
        connection: Connection,
        parser: ResponseParser,
        connections: Connections[Any],
        broken: Broken | None,
    ) -> None:
        self._connection: Connection | None = connection
        self._connections = connections
        self._parser = parser
        self._broken = broken  # raised once what came before it was read
        self.ended: bool = False
        self.status: int = parser.status
        self.headers: Mapping[str, str] = parser.headers

    def open_reader(self) -> Reader:
        """What gives the next bytes; see `Arrival`."""
        return self.read

    def explain(self, error: Exception) -> Exception | None:
        """What the reader's error means; see `Arrival`."""
        return None if isinstance(error, StopAsyncIteration) else error

    async def read(self) -> bytes:
        """The next bytes of the body.

        Raises:
            StopAsyncIteration: there are no more.
            Broken: the connection broke.
        """
        parser = self._parser
        while True:
            body = parser.take()
            self.ended = parser.complete
            if body:
                return body
            if parser.complete:
                raise StopAsyncIteration
            if self._broken is not None:
                raise self._broken
            await self._receive()

    def give_back(self) -> bool:
        """Give the connection back, if it may carry another request; whether none is left here."""
        connection, parser = self._connection, self._parser
        if connection is None:
            return True
        if not (parser.complete and parser.reusable):
            return False
        if not self._connections.put_back(connection):
            return False
        self._connection = None
        return True

    async def aclose(self) -> None:
        """Let go of the connection, at any time."""
        if not self.give_back():
            connection, self._connection = self._connection, None
            if connection is not None:
                await self._connections.drop(connection)

    async def _receive(self) -> None:
        if self._connection is None:
            raise Broken("body", ConnectionError("the stream was closed"))
        try:
            self._parser.feed(await self._connection.stream.receive())
        except Broken as broken:
            self._broken = broken
        except anyio.EndOfStream:
            if not self._parser.feed_eof():
                raise Broken("body", ConnectionError("the server closed it too early")) from None
        except anyio.BusyResourceError:
            raise read_by_two() from None
        except _BROKEN as error:
            reason = str(error) or "it was closed while it was read"
            raise Broken("body", ConnectionError(reason)) from None
        if self._parser.complete:
            await self.aclose()


def _prefix(head: Head) -> bytes:
    lines = [f"POST {head.target} HTTP/1.1", f"host: {head.netloc}"]
    lines += [f"{name}: {value}" for name, value in head.fields]
    return "\r\n".join([*lines, "content-length: "]).encode("latin-1")
