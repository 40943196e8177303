"""A response that is read as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import anyio

from ..errors import LlmToolsError, RequestTimeoutError, StreamError
from ..spec import Frame
from .arrival import Arrival, Broken, Reader, explained
from .framing import Framer
from .inflating import Inflater
from .masking import Needles, mask_frames, mask_joined

LARGEST_STREAM = 256_000_000

T = TypeVar("T")


class OpenStream:
    """Frames, as they come. Read it to None, or `aclose` it: then its connection is dropped.

    `read_frames` is all it takes. Where every step between two bytes counts, `read` and `cut` are
    what it consists of, and `explain` and `stop` what ends it.

    Attributes:
        headers: those of the response.
        read: gives the next bytes; what it raises goes to `explain`.
    """

    __slots__ = (
        "_arrival",
        "_deadline",
        "_ended",
        "_endpoint",
        "_feed",
        "_framer",
        "_idle",
        "_inflater",
        "_left",
        "_needles",
        "_read",
        "_timed_here",
        "headers",
        "read",
    )  # fmt: skip

    def __init__(
        self,
        arrival: Arrival,
        *,
        framer: Framer,
        endpoint: str,
        needles: Needles,
        idle: float | None,
        deadline: float | None,
    ) -> None:
        self._arrival = arrival
        self._framer = framer
        self._endpoint = endpoint
        self._needles = needles
        self._idle = idle
        self._deadline = deadline
        self._ended = False
        self._left = LARGEST_STREAM
        self._inflater = Inflater(arrival.headers, LARGEST_STREAM)
        self._feed = framer.feed if self._inflater.is_plain else self._feed_packed
        self.headers: Mapping[str, str] = needles.mask_values(arrival.headers)
        timed_here = deadline is not None or (idle is not None and not arrival.keeps_time)
        self._timed_here = timed_here
        self._read: Reader
        self.read: Reader = self._begin

    def cut(self, chunk: bytes) -> list[Frame]:
        """The frames that these bytes complete.

        Raises:
            ResponseDecodeError: the bytes cannot be decompressed, or are too many.
        """
        self._left -= len(chunk)
        if self._left < 0:
            raise self._inflater.too_large()
        return mask_frames(self._feed(chunk), self._needles)

    def explain(self, error: Exception) -> Exception | None:
        """What an error of `read`'s means: None for the end, else what to raise."""
        failure = explained(self._arrival, error)
        return self._broken(failure) if isinstance(failure, Broken) else failure

    async def stop(self, failure: Exception | None) -> list[Frame]:
        """The last frames, behind all bytes; or what `explain` said is raised.

        Raises:
            RequestTimeoutError: too long without a byte, or the deadline passed.
            StreamError: the connection broke.
            ResponseDecodeError: the compressed bytes were cut off.
        """
        await self.aclose()
        if failure is not None:
            raise failure
        rest = self._inflater.close()
        frames = [*self._framer.feed(rest), *self._framer.close()]
        return mask_frames(frames, self._needles)

    async def read_frames(self) -> list[Frame] | None:
        """The frames that have come since, at least one; None at the end of the bytes.

        Raises:
            RequestTimeoutError, StreamError, ResponseDecodeError: as `cut` and `stop` do.
        """
        while not self._ended:
            try:
                frames = self.cut(await self.read())
            except Exception as error:  # noqa: BLE001 - ends as what it means, outside this frame
                failure = self.explain(error)
                break
            except BaseException:
                await self.aclose()
                raise
            if frames:
                return frames
        else:
            return None
        return await self.stop(failure) or None

    def mask(self, joined: T) -> T:
        """A struct made of several frames, without a key that was split between them.

        Raises:
            ResponseDecodeError: it cannot be looked through.
        """
        return mask_joined(joined, self._needles)

    async def aclose(self) -> None:
        """Let go of the connection; safe at any time, more than once."""
        self._ended = True
        await self._arrival.aclose()

    def _feed_packed(self, chunk: bytes) -> list[Frame]:
        return self._framer.feed(self._inflater.feed(chunk))

    async def _begin(self) -> bytes:
        """The first read; a body that nobody reads is not begun."""
        self._read = self._arrival.open_reader()
        self.read = self._read_in_time if self._timed_here else self._read
        return await self.read()

    async def _read_in_time(self) -> bytes:
        """Read where the arrival keeps no time; a scope around the read alone."""
        until = float("inf") if self._idle is None else anyio.current_time() + self._idle
        if self._deadline is not None:
            until = min(until, self._deadline)
        with anyio.CancelScope(deadline=until):
            while not (chunk := await self._read()):
                pass  # nothing is no sign of life
            return chunk
        raise Broken("idle")

    def _broken(self, broken: Broken) -> LlmToolsError:
        if broken.phase != "idle":
            error = StreamError(
                f"The stream from {self._endpoint} broke off: {broken.cause}. Ask again."
            )
            error.__cause__ = broken.cause
            return error
        if self._deadline is not None and anyio.current_time() >= self._deadline:
            reason = "was not done by its deadline: raise deadline=, or ask for less"
        else:
            pause = "as long as its client waits" if self._idle is None else f"{self._idle:g} s"
            reason = f"sent nothing for {pause}: raise the timeout, or ask again"
        late = RequestTimeoutError(
            f"The stream from {self._endpoint} {reason}.", endpoint=self._endpoint
        )
        late.__cause__ = broken.cause
        return late
