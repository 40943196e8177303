"""What goes in and out: messages, content parts, results, stream events.

All structs are frozen and spelled in camelCase in JSON (`functionId`), in snake_case in Python.
`provider_metadata` maps a replay key (`Endpoint.replay_key`) to what that provider needs to see
again; it is opaque to everyone else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from .later import later

if TYPE_CHECKING:
    from .dialogue import Dialogue
    from .loop import PendingRun
else:
    Dialogue = later("dialogue", "Dialogue")
    PendingRun = later("loop", "PendingRun")

JSON: TypeAlias = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

Metadata: TypeAlias = dict[str, Any]

Role: TypeAlias = Literal["system", "user", "assistant", "function"]

StopReason: TypeAlias = Literal[
    "error", "length", "content_filter", "refusal", "pause", "function_use", "stop", "other"
]


class _Part(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", omit_defaults=True
):
    """Shared options of all content parts."""


class OutputResultText(_Part, frozen=True, kw_only=True, tag="text"):
    """Text, verbatim. Also the text part of a user or function message."""

    text: str
    citations: tuple[JSON, ...] = ()
    provider_metadata: Metadata | None = None


class OutputResultFunctionUse(_Part, frozen=True, kw_only=True, tag="function_use"):
    """A call the model wants made.

    `input_error` says why the call cannot run; `raw_input` then keeps the provider's text.
    `forbidden`: it came although the request's `function_call` ruled it out, and is never run.
    """

    name: str
    input: dict[str, Any]
    function_id: str
    raw_input: str | None = None
    input_error: str | None = None
    provider_metadata: Metadata | None = None
    forbidden: bool = False


class OutputResultReasoning(_Part, frozen=True, kw_only=True, tag="reasoning"):
    """What the model thought. With empty text it only carries opaque blocks for replay."""

    text: str = ""
    provider_metadata: Metadata | None = None


class OutputResultRefusal(_Part, frozen=True, kw_only=True, tag="refusal"):
    """The model's words when it declines."""

    text: str


class OutputResultImage(_Part, frozen=True, kw_only=True, tag="image"):
    """An image: base64 `data` with its `media_type`, or a `url`. Also a user message's part."""

    data: str | None = None
    url: str | None = None
    media_type: str | None = None
    provider_metadata: Metadata | None = None


OutputResultContent: TypeAlias = (
    OutputResultText
    | OutputResultFunctionUse
    | OutputResultReasoning
    | OutputResultRefusal
    | OutputResultImage
)


class Message(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One turn.

    `content` by role: system: str. user: str, or text and image parts. assistant: str, or any
    parts in the order they came. function (the result of a call): str, text and image parts, or
    any other JSON value; `name`, `function_id` and `is_error` belong to this role alone.
    """

    role: Role
    content: str | tuple[OutputResultContent, ...] | JSON
    name: str | None = None
    function_id: str | None = None
    is_error: bool = False


class Usage(Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens, in the same meaning on every provider.

    `input_tokens` includes cache reads and writes, `output_tokens` includes reasoning,
    `total_tokens` is always their sum; a part the provider did not send is 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    total_tokens: int = 0

    def __post_init__(self) -> None:
        force_setattr(self, "total_tokens", self.input_tokens + self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


class ResultWarning(Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that was emulated, rewritten with a loss, or dropped.

    `code` is stable and short (`function_call_emulated`); `detail` is for people.
    """

    code: str
    detail: str


class OutputResult(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One answer of a model, the same shape for every provider.

    `name` is the model that answered, `created` seconds since 1970, `options` the content of
    further choices where several were asked for.
    """

    id: str
    name: str
    created: int
    usage: Usage | None
    stop_reason: StopReason
    content: tuple[OutputResultContent, ...]
    provider_stop_reason: str | None = None
    options: tuple[tuple[OutputResultContent, ...], ...] = ()
    warnings: tuple[ResultWarning, ...] = ()
    request_id: str | None = None

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join([item.text for item in self.content if type(item) is OutputResultText])

    @property
    def function_calls(self) -> list[OutputResultFunctionUse]:
        """The calls, in the provider's order."""
        return [item for item in self.content if type(item) is OutputResultFunctionUse]


class FunctionResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of one call.

    `content` is what the model is told, `value` what the function returned (whole, where `content`
    was shortened); `duration` is in seconds; `error` is the exception, if any.
    """

    name: str
    function_id: str
    content: JSON
    is_error: bool = False
    error: Exception | None = None
    duration: float = 0.0
    value: Any = None


class RunResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """What `run` did: `turns` is the number of requests made, `results` all results, flat."""

    output: Any
    dialogue: Dialogue
    usage: Usage
    turns: int
    results: tuple[FunctionResult, ...] = ()
    pending: PendingRun | None = None


class _Event(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type"):
    """Shared options of all stream events.

    Those that come by the thousand hold no containers: the garbage collector need not track them.
    """


class TextDelta(_Event, frozen=True, kw_only=True, gc=False, tag="text_delta"):
    """More text."""

    text: str


class ReasoningDelta(_Event, frozen=True, kw_only=True, gc=False, tag="reasoning_delta"):
    """More reasoning."""

    text: str


class RefusalDelta(_Event, frozen=True, kw_only=True, gc=False, tag="refusal_delta"):
    """More of the model's refusal."""

    text: str


class FunctionUseStart(_Event, frozen=True, kw_only=True, gc=False, tag="function_use_start"):
    """A call begins; `index` counts the calls of this answer from 0."""

    index: int
    name: str
    function_id: str


class FunctionInputDelta(_Event, frozen=True, kw_only=True, gc=False, tag="function_input_delta"):
    """A raw fragment of the call's arguments."""

    index: int
    partial_json: str


class FunctionUseDone(_Event, frozen=True, kw_only=True, tag="function_use_done"):
    """The call is complete and may run."""

    index: int
    function_use: OutputResultFunctionUse


class Finished(_Event, frozen=True, kw_only=True, tag="finished"):
    """The last event: the whole answer."""

    result: OutputResult


StreamEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | RefusalDelta
    | FunctionUseStart
    | FunctionInputDelta
    | FunctionUseDone
    | Finished
)
