"""A response that is read as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import anyio

from ..errors import LlmToolsError, RequestTimeoutError, StreamError
from ..spec import Frame
from .arrival import Arrival, Broken
from .framing import Framer
from .inflating import Inflater
from .masking import mask_answer
from .secret import Key

LARGEST_STREAM = 256_000_000
_ENDING_TIME = 0.1


class OpenStream:
    """Frames, as they come. Read it to None, or `aclose` it: then its connection is dropped."""

    __slots__ = (
        "_arrival",
        "_deadline",
        "_ended",
        "_endpoint",
        "_framer",
        "_idle",
        "_inflater",
        "_secrets",
        "headers",
    )  # fmt: skip

    def __init__(
        self,
        arrival: Arrival,
        *,
        framer: Framer,
        endpoint: str,
        secrets: tuple[Key, ...],
        idle: float | None,
        deadline: float | None,
    ) -> None:
        self._arrival = arrival
        self._framer = framer
        self._endpoint = endpoint
        self._secrets = secrets
        self._idle = idle
        self._deadline = deadline
        self._ended = False
        self._inflater = Inflater(arrival.headers, LARGEST_STREAM)
        self.headers: Mapping[str, str] = arrival.headers

    async def read_frames(self) -> list[Frame] | None:
        """The frames that have come since, at least one; None at the end of the bytes.

        Raises:
            RequestTimeoutError: too long without a byte, or the deadline passed.
            StreamError: the connection broke.
            ResponseDecodeError: the bytes cannot be decompressed, or are too many.
        """
        while not self._ended:
            try:
                frames = await self._next_frames()
            except BaseException:
                self._ended = True
                await self._arrival.aclose()
                raise
            if frames:
                return frames
        return None

    async def finish(self) -> None:
        """Nothing more is wanted: keep the connection if the body ends now, else drop it."""
        with anyio.move_on_after(_ENDING_TIME), suppress(LlmToolsError):
            while await self.read_frames() is not None:
                pass
        await self.aclose()

    async def aclose(self) -> None:
        """Let go of the connection; safe at any time, more than once."""
        self._ended = True
        await self._arrival.aclose()

    async def _next_frames(self) -> list[Frame]:
        error: LlmToolsError
        with anyio.CancelScope(deadline=self._until()):
            try:
                chunk = await self._arrival.read()
            except Broken as broken:
                error = StreamError(
                    f"The stream from {self._endpoint} broke off ({broken.cause}); ask again."
                )
                error.__cause__ = broken.cause
            else:
                return await self._frames(chunk)
            raise error from error.__cause__
        raise self._timed_out()

    async def _frames(self, chunk: bytes) -> list[Frame]:
        if chunk:
            plain = self._inflater.feed(chunk)
            return self._framer.feed(mask_answer(plain, self._secrets) if plain else plain)
        self._ended = True
        await self._arrival.aclose()
        rest = self._inflater.close()
        return [*self._framer.feed(rest), *self._framer.close()]

    def _until(self) -> float:
        until = float("inf") if self._idle is None else anyio.current_time() + self._idle
        return until if self._deadline is None else min(until, self._deadline)

    def _timed_out(self) -> RequestTimeoutError:
        if self._deadline is not None and anyio.current_time() >= self._deadline:
            reason = "was not done by the deadline"
        else:
            reason = f"sent nothing for {self._idle:g} s"
        return RequestTimeoutError(
            f"The stream from {self._endpoint} {reason}.", endpoint=self._endpoint
        )
