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
from ..history import json_safe, read_messages
from ..history.parts import ALL_PARTS, read_parts
from .limits import RunLimits

VERSION = 1


class PendingRun(Struct, frozen=True, kw_only=True):
    """A run between an answer and its results.

    `waiting` are the calls to decide on; `done` the results of their siblings. `functions` are
    there only in the process that made it: elsewhere give them to `resume`.
    """

    lead: tuple[Message, ...]
    dialogue: Dialogue
    content: tuple[OutputResultContent, ...]
    waiting: tuple[OutputResultFunctionUse, ...]
    done: tuple[FunctionResult, ...]
    results: tuple[FunctionResult, ...]
    usage: Usage
    turns: int
    limits: RunLimits
    counts: Mapping[str, int] = {}
    options: Mapping[str, Any] = {}
    functions: Any = None

    def to_json(self) -> str:
        """All of it but the functions and exceptions, with a version."""
        data = {
            "version": VERSION,
            "lead": self.lead,
            "dialogue": msgspec.Raw(self.dialogue.to_json().encode()),
            "content": self.content,
            "waiting": [call.function_id for call in self.waiting],
            "done": [_result_to_json(result) for result in self.done],
            "results": [_result_to_json(result) for result in self.results],
            "usage": self.usage,
            "turns": self.turns,
            "limits": self.limits,
            "counts": self.counts,
            "options": self.options,
        }
        return msgspec.json.encode(data).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> PendingRun:
        """What `to_json` gave.

        Raises:
            ConfigurationError: it is no such thing, or of a later version.
        """
        try:
            data = msgspec.json.decode(text, type=_Stored)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ConfigurationError(f"This is no pending run: {error}") from error
        if data.version > VERSION:
            raise ConfigurationError(
                f"This pending run is of version {data.version}; this library knows {VERSION}."
            )
        content = read_parts(data.content, ALL_PARTS, "pending run")
        waiting = tuple(
            part
            for part in content
            if isinstance(part, OutputResultFunctionUse) and part.function_id in data.waiting
        )
        return cls(
            lead=read_messages(data.lead),
            dialogue=Dialogue.from_json(bytes(data.dialogue)),
            content=content,
            waiting=waiting,
            done=tuple(data.done),
            results=tuple(data.results),
            usage=data.usage,
            turns=data.turns,
            limits=data.limits,
            counts=data.counts,
            options=data.options,
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
    dialogue: msgspec.Raw
    content: list[Any]
    waiting: list[str]
    done: list[Any]
    results: list[Any]
    usage: Usage
    turns: int
    limits: RunLimits
    counts: dict[str, int]
    options: dict[str, Any]

    def __post_init__(self) -> None:
        self.done = [_result_from_json(item) for item in self.done]
        self.results = [_result_from_json(item) for item in self.results]


def _result_to_json(result: FunctionResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "functionId": result.function_id,
        "content": json_safe(result.content),
        "isError": result.is_error,
        "duration": result.duration,
    }


def _result_from_json(item: Any) -> FunctionResult:
    stored = msgspec.convert(item, _StoredResult)
    return FunctionResult(
        name=stored.name,
        function_id=stored.function_id,
        content=stored.content,
        is_error=stored.is_error,
        duration=stored.duration,
    )
