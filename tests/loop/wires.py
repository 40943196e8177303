"""What a misbehaving model says, and what it is told next, as three wires spell it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

MISSING = object()


class Call(NamedTuple):
    """A call as the model makes it: any arguments at all, an id, None, or no id."""

    name: str
    arguments: Any
    function_id: Any = "call_1"


class Told(NamedTuple):
    """A call as it goes back, and the result that goes with it."""

    name: str
    input: dict[str, Any]
    content: Any
    is_error: bool = False
    function_id: str = "call_1"


class OpenAiChat:
    """Chat Completions: arguments are text, errors are told in words."""

    key = "openai.gpt-4o-mini"
    path = "/v1"
    stops: ClassVar = {
        "calls": "tool_calls",
        "text": "stop",
        "length": "length",
        "filter": "content_filter",
    }

    def answer(self, text: str | None, calls: Sequence[Call], stop: str) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"type": "function", "function": {"name": c.name, "arguments": _as_text(c)}}
                | ({} if c.function_id is MISSING else {"id": c.function_id})
                for c in calls
            ]
        return self._completion(message, self.stops[stop])

    def refusal(self, text: str) -> Any:
        message = {"role": "assistant", "content": None, "refusal": text}
        return self._completion(message, "stop")

    @staticmethod
    def _completion(message: Any, reason: str) -> Any:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }

    def told(self, body: Any) -> Any:
        return body["messages"][1:]

    def expected(self, text: str | None, said: Sequence[Call], told: Sequence[Told]) -> Any:
        calls = [
            {
                "id": each.function_id,
                "type": "function",
                "function": {"name": each.name, "arguments": _compact(each.input)},
            }
            for each in told
        ]
        results = [
            {
                "role": "tool",
                "tool_call_id": each.function_id,
                "content": _error_text(each) if each.is_error else _result_text(each),
            }
            for each in told
        ]
        return [{"role": "assistant", "content": text, "tool_calls": calls}, *results]


class AnthropicMessages:
    """Messages: arguments are values, errors have a flag, results share one user turn."""

    key = "anthropic.claude-sonnet-4-5"
    path = ""
    stops: ClassVar = {
        "calls": "tool_use",
        "text": "end_turn",
        "length": "max_tokens",
        "filter": "refusal",
    }

    def answer(self, text: str | None, calls: Sequence[Call], stop: str) -> Any:
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "tool_use", "name": c.name, "input": c.arguments}
            | ({} if c.function_id is MISSING else {"id": c.function_id})
            for c in calls
        ]
        return self._message(content, self.stops[stop])

    def refusal(self, text: str) -> Any:
        return self._message([{"type": "text", "text": text}], "refusal")

    @staticmethod
    def _message(content: Any, reason: str) -> Any:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }

    def told(self, body: Any) -> Any:
        return body["messages"][1:]

    def expected(self, text: str | None, said: Sequence[Call], told: Sequence[Told]) -> Any:
        calls = [
            {"type": "tool_use", "id": each.function_id, "name": each.name, "input": each.input}
            for each in told
        ]
        results = [
            {"type": "tool_result", "tool_use_id": each.function_id, "content": _result_text(each)}
            | ({"is_error": True} if each.is_error else {})
            for each in told
        ]
        parts = [{"type": "text", "text": text}] if text else []
        return [
            {"role": "assistant", "content": [*parts, *calls]},
            {"role": "user", "content": results},
        ]


class Gemini:
    """generateContent: arguments are values, ids are optional, results are objects.

    What the model said goes back as it came, with its own ids and arguments.
    """

    key = "google.gemini-2.5-flash"
    path = "/v1beta"
    stops: ClassVar = {"calls": "STOP", "text": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}

    def answer(self, text: str | None, calls: Sequence[Call], stop: str) -> Any:
        parts: list[Any] = [{"text": text}] if text else []
        parts += [
            {
                "functionCall": {"name": c.name, "args": c.arguments}
                | ({} if c.function_id is MISSING else {"id": c.function_id})
            }
            for c in calls
        ]
        return {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": self.stops[stop]}
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
            "modelVersion": "gemini-2.5-flash",
        }

    def refusal(self, text: str) -> Any:
        return None  # this wire has no words for it

    def told(self, body: Any) -> Any:
        return body["contents"][1:]

    def expected(self, text: str | None, said: Sequence[Call], told: Sequence[Told]) -> Any:
        calls = [
            {
                "functionCall": ({} if c.function_id is MISSING else {"id": c.function_id})
                | {"name": each.name}
                | {"args": c.arguments if isinstance(c.arguments, dict) else each.input}
            }
            for c, each in zip(said, told, strict=True)
        ]
        results = [
            {
                "functionResponse": ({"id": c.function_id} if self._has_id(c) else {})
                | {"name": each.name}
                | {"response": {"error" if each.is_error else "output": each.content}}
            }
            for c, each in zip(said, told, strict=True)
        ]
        parts = [{"text": text}] if text else []
        return [{"role": "model", "parts": [*parts, *calls]}, {"role": "user", "parts": results}]

    @staticmethod
    def _has_id(call: Call) -> bool:
        return call.function_id is not MISSING and call.function_id is not None


WIRES = [OpenAiChat(), AnthropicMessages(), Gemini()]


def _as_text(call: Call) -> Any:
    """Arguments as this wire wants them: text; other values only where that is the mistake."""
    if isinstance(call.arguments, dict):
        return json.dumps(call.arguments)
    return call.arguments


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _result_text(told: Told) -> str:
    return told.content if isinstance(told.content, str) else _compact(told.content)


def _error_text(told: Told) -> str:
    return f"Error: {told.content}"
