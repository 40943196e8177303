"""A stream of content blocks: opened, grown, stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from ..content import OutputResult, StreamEvent
from ..errors import ProviderError, ResponseDecodeError, StreamError
from ..reply import decode_json
from ..spec import Plan
from ..streamed_calls import StreamedCall, StreamedCalls
from .blocks import Block

T = TypeVar("T")


class Open(Protocol):
    """A block on its way in."""

    call: StreamedCall | None

    def whole(self) -> Block:
        """The block as an answer that is not streamed has it."""


OpenT = TypeVar("OpenT", bound=Open)


class OpenBlocks(Generic[OpenT]):
    """The blocks of a stream, in the order in which they began, and the calls among them."""

    __slots__ = ("_blocks", "_current", "_make", "calls")

    def __init__(self, plan: Plan, make: Callable[[Block], OpenT]) -> None:
        self._make = make
        self._blocks: list[OpenT] = []
        self._current: dict[int, OpenT] = {}
        self.calls: StreamedCalls = StreamedCalls(plan, objects=True)

    def open(self, index: int, start: Block) -> OpenT:
        """A block begins; an index is used again after its block has stopped."""
        block = self._current[index] = self._make(start)
        self._blocks.append(block)
        return block

    def at(self, index: int) -> OpenT | None:
        """The block of this index that began last."""
        return self._current.get(index)

    def stop(self, index: int) -> list[StreamEvent]:
        """The block has come whole."""
        block = self._current.get(index)
        return [] if block is None or block.call is None else self.calls.stop(block.call)

    def whole(self) -> list[Block]:
        """All that has come, as an answer that is not streamed has it."""
        return [block.whole() for block in self._blocks]


def decode_event(
    plan: Plan, data: bytes, decoder: msgspec.json.Decoder[T], partial: Callable[[], OutputResult]
) -> T:
    """An event of a stream; `partial` tells what had come by then.

    Raises:
        StreamError: it is no JSON of this shape.
    """
    try:
        return decode_json(data, decoder)
    except ResponseDecodeError as error:
        raise StreamError(
            f"{plan.target.endpoint.key} sent an event that could not be read "
            f"({error.__cause__}); ask again, or look at .result for what had come.",
            result=partial(),
        ) from error


def ended_early(plan: Plan, partial: OutputResult) -> StreamError:
    """What to raise where the end mark has not come."""
    return StreamError(
        f"{plan.target.endpoint.key} ended the stream before its end mark; ask again, or look at "
        ".result for what had come.",
        result=partial,
    )


def with_partial(error: ProviderError, partial: OutputResult) -> ProviderError:
    """The error with what had come by then."""
    error.result = partial
    return error
