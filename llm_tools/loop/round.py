"""One answer of the model, its calls, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..content import (
    FunctionResult,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
)
from ..dispatching import Dispatcher
from ..dispatching.outcomes import not_completed
from ..errors import LlmToolsError
from ..model import Events


class Round:
    """A turn in progress.

    Attributes:
        answer: the whole answer, once it is there.
        events: the stream it comes by, if it does.
        dispatcher: what runs its calls, once there are any.
    """

    __slots__ = ("answer", "dispatcher", "events")

    def __init__(self) -> None:
        self.answer: OutputResult | None = None
        self.events: Events | None = None
        self.dispatcher: Dispatcher | None = None

    @property
    def taken(self) -> list[OutputResultFunctionUse]:
        """The calls that were taken up so far."""
        return [] if self.dispatcher is None else self.dispatcher.calls

    @property
    def deferred(self) -> list[OutputResultFunctionUse]:
        """The calls whose approval was put off."""
        return [] if self.dispatcher is None else self.dispatcher.deferred

    @property
    def done(self) -> list[FunctionResult]:
        """The results that have come so far."""
        return [] if self.dispatcher is None else self.dispatcher.results

    def results(self, content: Sequence[OutputResultContent]) -> list[FunctionResult]:
        """One result for each call of the turn, in order; "not completed" where none has come."""
        found = {result.function_id: result for result in self.done}
        return [
            found.get(part.function_id) or not_completed(part)
            for part in content
            if isinstance(part, OutputResultFunctionUse)
        ]

    def content(self) -> tuple[OutputResultContent, ...]:
        """The turn as far as it came.

        Of an answer that broke off, the calls that were taken up and all that came before; nothing
        where none was.
        """
        if self.answer is not None:
            return self.answer.content
        if self.events is None or not self.taken:
            return ()
        return _as_far_as(self.events, {call.function_id: call for call in self.taken})


def _as_far_as(
    events: Events, taken: Mapping[str, OutputResultFunctionUse]
) -> tuple[OutputResultContent, ...]:
    """What a stream has brought; of a broken one, those calls alone that were taken up whole."""
    try:
        return events.result.content
    except LlmToolsError as error:
        heard = error.result
    if not isinstance(heard, OutputResult) or not taken.keys() <= _ids(heard):
        return tuple(taken.values())
    parts = [taken.get(getattr(part, "function_id", ""), part) for part in heard.content]
    return tuple(
        part
        for part in parts
        if not isinstance(part, OutputResultFunctionUse) or part.function_id in taken
    )


def _ids(result: OutputResult) -> set[str]:
    return {call.function_id for call in result.function_calls}
