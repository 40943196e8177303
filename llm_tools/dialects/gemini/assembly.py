"""The chunks of a stream as one whole answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .partial_arguments import PartialCall, is_end
from .wire import Answer, Candidate, Content, Part

_OF_ANSWER = (
    "prompt_feedback",
    "usage_metadata",
    "model_version",
    "response_id",
    "create_time",
)
_OF_CANDIDATE = (
    "finish_reason",
    "finish_message",
    "citation_metadata",
    "grounding_metadata",
    "url_context_metadata",
)


class _Choice:
    """What has come of one candidate; a call that comes in pieces counts once it is whole.

    `pieced`: whether one has; its end may then be said once more.
    """

    __slots__ = ("candidate", "partial", "parts", "pieced")

    def __init__(self, index: int) -> None:
        self.parts: list[Part] = []
        self.candidate = Candidate(content=Content(self.parts), index=index)
        self.partial: PartialCall | None = None
        self.pieced: bool = False

    def add(self, chunk: Candidate) -> list[Part]:
        """Take a chunk's candidate; the parts that are whole now are returned."""
        for name in _OF_CANDIDATE:
            value = getattr(chunk, name)
            if value is not None:
                setattr(self.candidate, name, value)
        content = chunk.content
        whole = [made for part in (content and content.parts) or [] for made in self._take(part)]
        self.parts += whole
        return whole

    def finish(self) -> None:
        """Nothing more comes: a call whose end is missing stays, as one that cannot run."""
        if self.partial is not None:
            self.parts.append(self.partial.unfinished())
            self.partial = None

    def _take(self, part: Part) -> Iterator[Part]:
        call = part.get("functionCall")
        if not isinstance(call, dict):
            yield part
            return
        if self.partial is not None and call.get("name"):
            yield self.partial.whole()  # its end was never sent, yet the next one is here
            self.partial = None
        if self.partial is None and not PartialCall.begins(call):
            if not (self.pieced and is_end(part, call)):
                yield part
            return
        self.partial, self.pieced = self.partial or PartialCall(), True
        if self.partial.add(part, call):
            yield self.partial.whole()
            self.partial = None


class Assembly:
    """Takes chunks and tells the whole; `answer` is what has come so far."""

    __slots__ = ("_choices", "answer")

    def __init__(self) -> None:
        self.answer: Answer = Answer()
        self._choices: dict[int, _Choice] = {}

    def add(self, chunk: Answer) -> list[tuple[int, Part]]:
        """Take a chunk; the parts that are whole now are returned, with their candidate's index.

        Raises:
            StreamError: a piece of a call's arguments that fits nowhere.
        """
        for name in _OF_ANSWER:
            value: Any = getattr(chunk, name)
            if value is not None:
                setattr(self.answer, name, value)
        made: list[tuple[int, Part]] = []
        if chunk.candidates is not None and self.answer.candidates is None:
            self.answer.candidates = []
        for position, candidate in enumerate(chunk.candidates or []):
            index = position if candidate.index is None else candidate.index
            made += [(index, part) for part in self._choice(index).add(candidate)]
        return made

    def finish(self) -> Answer:
        """All that has come, as one answer."""
        for choice in self._choices.values():
            choice.finish()
        return self.answer

    def _choice(self, index: int) -> _Choice:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = _Choice(index)
            assert self.answer.candidates is not None  # noqa: S101 - `add` made it
            self.answer.candidates.append(choice.candidate)
        return choice
