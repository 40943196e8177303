"""The history as the protocol needs it: what was asked, what functions answered, who said what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from .refusing import ApiError
from .wire import ChatMessage, Part

_SPEAKERS = {"developer": "system", "tool": "user"}
"""Roles the model was not trained on, and the nearest it was."""


class Turn(Struct, frozen=True):
    """What goes into the model's own chat template."""

    role: str
    content: str


class Conversation(Struct, frozen=True, kw_only=True):
    """A history, read once.

    `question` is the last user message, `results` what functions answered after it; while they
    are not empty the next answer is about them.
    """

    turns: tuple[Turn, ...]
    question: str
    results: tuple[str, ...]


def read_conversation(messages: Sequence[ChatMessage]) -> Conversation:
    """Read a history.

    Raises:
        ApiError: 400; a message without content, content that is no text, or calls and results
            that do not belong together.
    """
    _check_pairing(messages)
    turns = []
    question = ""
    results: list[str] = []
    for position, message in enumerate(messages):
        text = _text(message, f"messages[{position}]")
        if message.role == "user":
            question, results = text, []
        elif message.role == "tool":
            text = readable(text)
            results.append(text)
            text = f"Result: {text}"
        elif message.role == "assistant":
            results = []
        if text or message.role != "assistant":
            turns.append(Turn(_SPEAKERS.get(message.role, message.role), text))
    instruction = turns[-1].content if turns and not question else ""
    return Conversation(
        turns=tuple(turns), question=question or instruction, results=tuple(results)
    )


def readable(text: str) -> str:
    """A function's answer as a small model reads it best: `key: value, key: value`."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return ", ".join(_fragments(value))


def _fragments(value: object) -> Iterable[str]:
    match value:
        case dict():
            return [f"{key}: {', '.join(_fragments(item))}" for key, item in value.items()]
        case list():
            return [fragment for item in value for fragment in _fragments(item)]
        case str():
            return [value]
    return [msgspec.json.encode(value).decode()]


def _text(message: ChatMessage, where: str) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    if content is None:
        if message.role == "assistant" and message.tool_calls:
            return ""
        raise ApiError(f"{where} needs content.", param=f"{where}.content")
    return "".join(
        [_part(part, f"{where}.content[{position}]") for position, part in enumerate(content)]
    )


def _part(part: Part, where: str) -> str:
    text = part.refusal if part.type == "refusal" else part.text if part.type == "text" else None
    if text is None:
        raise ApiError(
            f"{where} is {part.type!r}: the local model reads text parts only.", param=where
        )
    return text


def _check_pairing(messages: Sequence[ChatMessage]) -> None:
    """Every call is followed by its result, and every result has its call, as OpenAI demands."""
    open_calls: list[str] = []
    for position, message in enumerate(messages):
        where = f"messages[{position}]"
        if message.role == "tool":
            if message.tool_call_id not in open_calls:
                raise ApiError(
                    f"{where}: a tool message must answer a call of the assistant message before "
                    f"it, and {message.tool_call_id!r} is none.",
                    param=f"{where}.tool_call_id",
                )
            open_calls.remove(message.tool_call_id)
            continue
        _check_answered(open_calls, where)
        if message.role == "assistant":
            open_calls = [call.id for call in message.tool_calls or ()]
    _check_answered(open_calls, "The end of messages")


def _check_answered(open_calls: Sequence[str], where: str) -> None:
    if open_calls:
        raise ApiError(
            f"{where} comes before these calls have their tool messages: {', '.join(open_calls)}.",
            param="messages",
        )
