"""Events of the protocol as OpenAI spells an answer: one object, or chunks of a stream."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from .protocol import CallStart, End, Event, InputPiece, TextPiece
from .session import Session


class Envelope:
    """What every object of one answer carries."""

    def __init__(self, model: str) -> None:
        self._fields = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
        }

    def seal(self, kind: str, choices: list[Any], **more: Any) -> bytes:
        """The JSON of one object."""
        fields = {**self._fields, "object": kind, "choices": choices, **more}
        return msgspec.json.encode(fields)


def whole(model: str, events: Iterable[Event], session: Session) -> bytes:
    """The body of an answer that is not streamed."""
    text: list[str] = []
    arguments: list[str] = []
    name = reason = ""
    for event in events:
        match event:
            case TextPiece(piece):
                text.append(piece)
            case CallStart(called):
                name = called
            case InputPiece(piece):
                arguments.append(piece)
            case End(ended):
                reason = ended
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if name else "".join(text),
        "refusal": None,
    }
    if name:
        message["tool_calls"] = [_call(name, "".join(arguments))]
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    return Envelope(model).seal("chat.completion", [choice], usage=session.usage)


def chunks(
    model: str, events: Iterable[Event], session: Session, *, include_usage: bool
) -> Iterator[bytes]:
    """The payloads of a stream, `[DONE]` last; the first comes with the first event."""
    envelope = Envelope(model)
    extra: dict[str, Any] = {"usage": None} if include_usage else {}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return envelope.seal("chat.completion.chunk", [choice], **extra)

    opening: dict[str, Any] = {"role": "assistant", "content": "", "refusal": None}
    for event in events:
        delta: dict[str, Any]
        match event:
            case TextPiece(text):
                delta = {"content": text}
            case CallStart(name):
                opening["content"] = None
                delta = {"tool_calls": [{"index": 0, **_call(name, "")}]}
            case InputPiece(text):
                delta = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
            case End(reason):
                yield chunk(opening, reason)
                break
        yield chunk({**opening, **delta})
        opening = {}
    if include_usage:
        yield envelope.seal("chat.completion.chunk", [], usage=session.usage)
    yield b"[DONE]"


def _call(name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": f"call_{secrets.token_hex(12)}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
