"""The request of OpenAI chat completions, as far as a small text model can serve it.

Structs are decoded strictly; fields that are not here are ignored, as OpenAI's own server does
with those it does not use for a model.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from .refusing import ApiError

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
FunctionNameText: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-zA-Z0-9_-]{1,64}\Z")]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Penalty: TypeAlias = Annotated[float, Meta(ge=-2, le=2)]


class Part(Struct, frozen=True):
    """A piece of a message's content; only text (and a refusal) can be read."""

    type: str
    text: str | None = None
    refusal: str | None = None


class CalledFunction(Struct, frozen=True):
    """Name and argument text of an earlier call."""

    name: str
    arguments: str


class ToolCall(Struct, frozen=True):
    """An earlier call of the assistant's."""

    id: str
    function: CalledFunction
    type: Literal["function"] = "function"


class ChatMessage(Struct, frozen=True):
    """One message of the history."""

    role: Role
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None


class Function(Struct, frozen=True):
    """A function that may be called."""

    name: FunctionNameText
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(Struct, frozen=True):
    """A tool; functions are the only kind."""

    type: Literal["function"]
    function: Function


class FunctionName(Struct, frozen=True):
    """A function, by name."""

    name: str


class NamedTool(Struct, frozen=True, tag_field="type", tag="function"):
    """Call this one."""

    function: FunctionName


class Allowed(Struct, frozen=True):
    """The subset the model may choose from."""

    mode: Literal["auto", "required"]
    tools: list[NamedTool]


class AllowedTools(Struct, frozen=True, tag_field="type", tag="allowed_tools"):
    """Choose among these."""

    allowed_tools: Allowed


class JsonSchema(Struct, frozen=True):
    """The shape of a text answer."""

    name: str
    schema: dict[str, Any] = {}


class TextFormat(Struct, frozen=True, tag_field="type", tag="text"):
    """Free text."""


class ObjectFormat(Struct, frozen=True, tag_field="type", tag="json_object"):
    """Any JSON object."""


class SchemaFormat(Struct, frozen=True, tag_field="type", tag="json_schema"):
    """JSON of a given shape."""

    json_schema: JsonSchema


class StreamOptions(Struct, frozen=True):
    """Whether the stream ends with a usage chunk."""

    include_usage: bool | None = None


class ChatRequest(Struct, frozen=True):
    """The body of `POST /v1/chat/completions`."""

    model: str
    messages: Annotated[list[ChatMessage], Meta(min_length=1)]
    tools: list[Tool] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedTool | AllowedTools | None = None
    response_format: TextFormat | ObjectFormat | SchemaFormat | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Positive | None = None
    max_completion_tokens: Positive | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    seed: int | None = None
    stop: str | Annotated[list[str], Meta(max_length=4)] | None = None
    n: Annotated[int, Meta(ge=1, le=1)] | None = None
    logprobs: bool | None = None


_DECODER = msgspec.json.Decoder(ChatRequest)


def read_body(body: bytes) -> ChatRequest:
    """The request a body holds.

    Raises:
        ApiError: 400; the body is no JSON, or does not fit.
    """
    try:
        return _DECODER.decode(body)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        raise ApiError(f"The request is malformed: {error}.", param=_param(what, path)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ApiError(f"The body is not JSON: {error}.") from None


def _param(what: str, path: str) -> str | None:
    """The field msgspec complains about, such as `messages[0].role`."""
    path = path.strip("`.")
    if "missing required field" in what:
        path = f"{path}.{what.rpartition('`')[0].rpartition('`')[2]}".strip(".")
    return path or None
