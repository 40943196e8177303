"""What a carrier brings back, and how it says that it could not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from .head import Head

Phase: TypeAlias = Literal["connect", "stale", "lost", "protocol", "body"]
"""How far a request got that broke: not connected; on a reused connection that was dead; lost
before the response head; answered with what is no HTTP; broken off in the body."""


class Broken(Exception):  # noqa: N818 - never leaves the room
    """A request that broke, without anything of the request in it.

    `cause` is a detached copy of what was raised below: its type and message alone.
    """

    def __init__(
        self, phase: Phase, cause: Exception | None = None, *, final: bool = False
    ) -> None:
        super().__init__(phase)
        self.phase: Phase = phase
        self.cause = cause
        self.final = final


class Progress:
    """How far one attempt got, for whoever has to judge a timeout."""

    __slots__ = ("sent",)

    def __init__(self) -> None:
        self.sent = True


class Arrival(Protocol):
    """A response whose head is there; header names are in lower case.

    Either `read` it to the end, or `aclose` it: then its connection is dropped.
    """

    status: int
    headers: Mapping[str, str]

    async def read(self) -> bytes:
        """The next bytes of the body, as they are on the wire; empty at the end."""

    async def aclose(self) -> None:
        """Let go of the connection, at any time."""


class Carrier(Protocol):
    """One way of getting a request to its host and the answer back, in one event loop."""

    async def start(self, head: Head, body: bytes, progress: Progress) -> Arrival:
        """Send, and wait for the response head.

        Raises:
            Broken: it did not come.
        """
