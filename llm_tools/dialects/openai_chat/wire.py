"""The wire's answers as structs: wide enough for every host that was seen.

They are trees and short-lived, so the garbage collector need not track them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Function(Struct, gc=False):
    """A function's name and its arguments: text, an object, or nothing."""

    name: str | None = None
    arguments: Any = None


class ToolCall(Struct, gc=False):
    """A call, or a piece of one; `custom` is a call of a tool that is no function.

    Some hosts leave `function` out and say name and arguments beside the id.
    """

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: dict[str, Any] | None = None
    extra_content: dict[str, Any] | None = None
    name: str | None = None
    arguments: Any = None

    def called(self) -> Function | None:
        """The function and what it is called with, wherever they are said."""
        if self.function is None and (self.name or self.arguments):
            return Function(self.name, self.arguments)
        return self.function


class Message(Struct, gc=False):
    """An assistant's turn, or a piece of one."""

    content: str | list[Any] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    images: list[Any] | None = None
    annotations: list[Any] | None = None
    extra_content: dict[str, Any] | None = None


class PromptDetails(Struct, gc=False):
    """Parts of the prompt's tokens."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(Struct, gc=False):
    """Parts of the answer's tokens."""

    reasoning_tokens: int | None = None


class WireUsage(Struct, gc=False):
    """Tokens, in every host's spelling."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None
    num_cached_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    reasoning_tokens: int | None = None


def later_usage(old: WireUsage | None, new: WireUsage | None) -> WireUsage | None:
    """Usage after a later count; zeros, with which some hosts end a stream, are none."""
    if new is None or old is None:
        return new or old
    return new if new.prompt_tokens or new.completion_tokens or new.total_tokens else old


class Choice(Struct, gc=False):
    """One of the answers; a stream's chunk has `delta` in place of `message`.

    Moonshot's streams have the usage here.
    """

    index: int | None = None
    message: Message | None = None
    delta: Message | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    error: Any = None
    usage: WireUsage | None = None


class GroqExtras(Struct, gc=False):
    """Where Groq's streams keep the usage, and why one of them was stopped early."""

    usage: WireUsage | None = None
    error: Any = None


class Completion(Struct, gc=False):
    """A whole answer, or one chunk of a stream."""

    id: str | None = None
    model: str | None = None
    created: float | None = None
    choices: list[Choice] | None = None
    usage: WireUsage | None = None
    error: Any = None
    x_groq: GroqExtras | None = None
    search_results: list[Any] | None = None
    citations: list[Any] | None = None
