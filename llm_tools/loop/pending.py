"""A run that waits for a decision, as data another process can take up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..content import (
    FunctionResult,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    Usage,
)
from ..dialogue import Dialogue
from ..errors import ConfigurationError
from ..history import json_safe, read_messages, result_content
from ..history.parts import ALL_PARTS, read_parts
from .limits import RunLimits
from .options import KeptOptions
from .watching import Watched

VERSION = 1


class PendingRun(Struct, frozen=True, kw_only=True):
    """A run between an answer and its results; give it to `executor.resume`.

    Attributes:
        waiting: the calls to decide on.
        done: the results of their siblings, in call order.
        content: the answer they all came in.
        dialogue: the conversation before that answer; `asking` joins it with the answer.
        lead: the messages that come before the dialogue in every request.
        results, usage, turns: as in a `RunResult`, up to here; `turn` is the number of the next.
        offered: the names of the functions that were there for the run's input.
        limits, kept, watched: what the run was told, and what it has noticed.
        local: what else it was told; there only in the process that made this.
    """

    lead: tuple[Message, ...]
    asking: tuple[Message, ...]
    dialogue: Dialogue
    content: tuple[OutputResultContent, ...]
    waiting: tuple[OutputResultFunctionUse, ...]
    done: tuple[FunctionResult, ...]
    results: tuple[FunctionResult, ...]
    usage: Usage
    turns: int
    turn: int
    limits: RunLimits
    offered: tuple[str, ...] = ()
    watched: Watched = Watched()
    kept: KeptOptions = KeptOptions()
    local: Mapping[str, Any] = {}

    @property
    def calls(self) -> list[OutputResultFunctionUse]:
        """All calls of the answer."""
        return [part for part in self.content if isinstance(part, OutputResultFunctionUse)]

    def to_json(self) -> str:
        """All of it but `local`, and the errors and values of results; with a version."""
        data = {
            "version": VERSION,
            "lead": self.lead,
            "asking": self.asking,
            "dialogue": msgspec.Raw(self.dialogue.to_json().encode()),
            "content": self.content,
            "waiting": [call.function_id for call in self.waiting],
            "done": [_result_to_json(result) for result in self.done],
            "results": [_result_to_json(result) for result in self.results],
            "usage": self.usage,
            "turns": self.turns,
            "turn": self.turn,
            "limits": self.limits,
            "offered": self.offered,
            "watched": self.watched,
            "options": self.kept,
        }
        return msgspec.json.encode(data).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> PendingRun:
        """What `to_json` gave.

        Raises:
            ConfigurationError: it is no such thing, or of a later version.
        """
        try:
            stored = msgspec.json.decode(text, type=_Stored)
        except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError) as error:
            raise ConfigurationError(f"This is no pending run: {error}") from error
        if stored.version > VERSION:
            raise ConfigurationError(
                f"This pending run is of version {stored.version}; this library knows {VERSION}: "
                "upgrade it."
            )
        content = read_parts(stored.content, ALL_PARTS, "pending run")
        calls = [part for part in content if isinstance(part, OutputResultFunctionUse)]
        return cls(
            lead=read_messages(stored.lead),
            asking=read_messages(stored.asking),
            dialogue=Dialogue.from_json(bytes(stored.dialogue)),
            content=content,
            waiting=tuple(call for call in calls if call.function_id in stored.waiting),
            done=tuple(map(_result_from_json, stored.done)),
            results=tuple(map(_result_from_json, stored.results)),
            usage=stored.usage,
            turns=stored.turns,
            turn=stored.turn,
            limits=stored.limits,
            offered=stored.offered,
            watched=stored.watched,
            kept=stored.options,
        )


class _StoredResult(Struct, rename="camel"):
    name: str
    function_id: str
    content: Any = None
    is_error: bool = False
    duration: float = 0.0


class _Stored(Struct):
    version: int
    lead: list[Any]
    asking: list[Any]
    dialogue: msgspec.Raw
    content: list[Any]
    waiting: list[str]
    done: list[_StoredResult]
    results: list[_StoredResult]
    usage: Usage
    turns: int
    turn: int
    limits: RunLimits
    watched: Watched
    options: KeptOptions
    offered: tuple[str, ...] = ()


def _result_to_json(result: FunctionResult) -> _StoredResult:
    return _StoredResult(
        name=result.name,
        function_id=result.function_id,
        content=json_safe(result.content),
        is_error=result.is_error,
        duration=result.duration,
    )


def _result_from_json(stored: _StoredResult) -> FunctionResult:
    return FunctionResult(
        name=stored.name,
        function_id=stored.function_id,
        content=result_content(stored.content),
        is_error=stored.is_error,
        duration=stored.duration,
    )
