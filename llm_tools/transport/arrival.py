"""What a carrier brings back, and how it says that it could not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from errno import EMFILE, ENFILE
from math import inf
from typing import Any, Literal, Protocol, TypeAlias

from anyio import CancelScope, current_time

from ..errors import LlmToolsError, StreamError
from .head import Head

CONNECT_TIME = 10.0
"""Seconds a new connection may take, of the time an attempt has."""

Phase: TypeAlias = Literal["connect", "stale", "lost", "protocol", "body", "idle"]
"""How far a request got that broke: not connected; on a reused connection that was dead; lost
before the response head; answered with what is no HTTP; broken off in the body; no byte in time."""


class Broken(Exception):  # noqa: N818 - never leaves the room
    """A request that broke, without anything of the request in it.

    Attributes:
        phase: how far it got.
        cause: a detached copy of what was raised below: its type and message alone.
        final: whether trying again would end the same way.
        crowded: whether the process has no file left for a connection.
    """

    def __init__(
        self,
        phase: Phase,
        cause: Exception | None = None,
        *,
        final: bool = False,
        crowded: bool = False,
    ) -> None:
        super().__init__(phase)
        self.phase: Phase = phase
        self.cause: Exception | None = cause
        self.final: bool = final
        self.crowded: bool = crowded


def is_crowded(error: BaseException | None) -> bool:
    """Whether an error, or one below it, says that no more files may be opened."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (EMFILE, ENFILE):
            return True
        if isinstance(error, BaseExceptionGroup) and any(map(is_crowded, error.exceptions)):
            return True
        error = error.__cause__ or error.__context__
    return False


class Attempt:
    """One attempt, as seen from below and above: what it may use, and how far it got.

    Attributes:
        fresh: take no connection that was used before.
        connect: seconds a new connection may take.
        idle: seconds a stream may pause, for a carrier that keeps to it by itself.
        sent: whether the request is on its way, so that a timeout leaves it in doubt.
        half_open: a connection of httpcore's that is there, but whose TLS is not.
    """

    __slots__ = ("_scope", "_seconds", "connect", "fresh", "half_open", "idle", "sent")

    def __init__(
        self,
        scope: CancelScope,
        seconds: float | None,
        *,
        fresh: bool = False,
        connect: float | None = CONNECT_TIME,
        idle: float | None = None,
    ) -> None:
        self._scope = scope
        self._seconds = seconds
        self.fresh: bool = fresh
        self.connect: float | None = connect
        self.idle: float | None = idle
        self.sent: bool = True
        self.half_open: Any = None

    def pause(self) -> None:
        """Stop the clock: waiting for a free connection does not count."""
        self._scope.deadline = inf

    def last_call(self, seconds: float) -> float:
        """Stop the clock for good, and say when it, or these seconds from now, would be over."""
        until = min(self._scope.deadline, current_time() + seconds)
        self._seconds = None
        self.begin()
        return until

    @property
    def paused(self) -> bool:
        """Whether the clock stands, though the attempt has a limit."""
        return self._seconds is not None and self._scope.deadline == inf

    def begin(self) -> None:
        """Start the clock anew."""
        self._scope.deadline = deadline_of(self._seconds)


def deadline_of(seconds: float | None) -> float:
    """When these seconds from now are over."""
    return inf if seconds is None else current_time() + seconds


Reader: TypeAlias = Callable[[], Awaitable[bytes]]


class Arrival(Protocol):
    """A response whose head is there; header names are in lower case.

    Either read it to the end, or `aclose` it: then its connection is dropped.
    """

    status: int
    headers: Mapping[str, str]
    ended: bool
    """Whether the body was read to its end."""
    keeps_time: bool
    """Whether reading itself ends as `Broken("idle")` after `Attempt.idle` seconds."""

    def open_reader(self) -> Reader:
        """What gives the next bytes of the body, as they are on the wire; asked for once.

        Nothing stands between it and their source: what it raises, StopAsyncIteration behind the
        last of them, goes to `explain`.
        """

    def explain(self, error: Exception) -> Exception | None:
        """What the reader's error means: None for the end of the body, else what to raise.

        Ask `explained` instead, which knows what is not the reader's.
        """

    async def aclose(self) -> None:
        """Let go of the connection, at any time."""


def explained(arrival: Arrival, error: Exception) -> Exception | None:
    """What an error on the way of a body means: None for its end, else what to raise.

    Errors of ours go without their traceback: its frames hold bytes in which a key may be.
    """
    if isinstance(error, Broken | LlmToolsError):
        return error.with_traceback(None)
    return arrival.explain(error)


def read_by_two() -> StreamError:
    """What the second of two tasks is told that read one body at the same time."""
    return StreamError(
        "Another task is reading this stream: read it in one task, and pass the events on.",
        retryable=False,
    )


class Carrier(Protocol):
    """One way of getting a request to its host and the answer back, in one event loop."""

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send, and wait for the response head.

        Raises:
            Broken: it did not come.
        """
