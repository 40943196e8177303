"""One answer of the model, its calls, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence

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
        over: the limit one of its calls has passed, in words.
    """

    __slots__ = ("answer", "dispatcher", "events", "over")

    def __init__(self) -> None:
        self.answer: OutputResult | None = None
        self.events: Events | None = None
        self.dispatcher: Dispatcher | None = None
        self.over: str | None = None

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
        if self.answer is None and self.taken:
            return self._fragment()
        return () if self.answer is None else self.answer.content

    def _fragment(self) -> tuple[OutputResultContent, ...]:
        heard, is_whole = _heard(self.events)
        taken = {call.function_id: call for call in self.taken}
        if heard is None or not taken.keys() <= {x.function_id for x in heard.function_calls}:
            return tuple(self.taken)
        if is_whole:
            return heard.content
        # Of the calls of a broken answer, those count that were complete before it broke.
        parts = [taken.get(getattr(part, "function_id", ""), part) for part in heard.content]
        return tuple(
            part
            for part in parts
            if not isinstance(part, OutputResultFunctionUse) or part.function_id in taken
        )


def _heard(events: Events | None) -> tuple[OutputResult | None, bool]:
    """What a stream has brought, and whether that is all of its answer."""
    if events is None:
        return None, False
    try:
        return events.result, True
    except LlmToolsError as error:
        return (error.result if isinstance(error.result, OutputResult) else None), False
