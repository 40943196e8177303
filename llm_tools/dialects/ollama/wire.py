"""The shape of an answer of `/api/chat`, whole or one line of a stream."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from ...content import JSON


class Function(Struct):
    """What is called; `arguments` is an object."""

    name: str = ""
    arguments: JSON = None


class ToolCall(Struct):
    """A call; older servers give no id."""

    function: Function = field(default_factory=Function)
    id: str | None = None


class WireMessage(Struct):
    """The assistant's message."""

    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] | None = None


class Answer(Struct):
    """An answer; the last line of a stream has `done`, and counts beside it."""

    model: str | None = None
    created_at: str | None = None
    message: WireMessage | None = None
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: JSON = None


ANSWERS: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
