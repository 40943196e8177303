"""One model of every wire, and its answer with the same call in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec


class Wire(NamedTuple):
    """A model of a wire, the options it needs, and what it answers."""

    key: str
    options: dict[str, Any]
    answer: dict[str, Any]


def wires(name: str, given: dict[str, Any], call_id: str) -> dict[str, Wire]:
    """By dialect; each answer is one call of the function `name`."""
    text = msgspec.json.encode(given).decode()
    return {
        "openai_chat": Wire("openai.gpt-4o", {}, _chat(name, text, call_id)),
        "openai_responses": Wire("openai.gpt-5.6", {}, _responses(name, text, call_id)),
        "anthropic_messages": Wire(
            "anthropic.claude-sonnet-4-5", {}, _messages(name, given, call_id)
        ),
        "bedrock_converse": Wire(
            "amazon.nova-pro-v1:0", {"region": "us-east-1"}, _converse(name, given, call_id)
        ),
        "gemini": Wire("google.gemini-2.5-flash", {}, _gemini(name, given)),
        "ollama": Wire("ollama.qwen3", {}, _ollama(name, given)),
    }


def _chat(name: str, text: str, call_id: str) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _responses(name: str, text: str, call_id: str) -> dict[str, Any]:
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": call_id,
        "name": name,
        "arguments": text,
        "status": "completed",
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "gpt-5.6",
        "output": [call],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
    }


def _messages(name: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "tool_use", "id": call_id, "name": name, "input": given}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _converse(name: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
    use = {"toolUse": {"toolUseId": call_id, "name": name, "input": given}}
    return {
        "output": {"message": {"role": "assistant", "content": [use]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
        "metrics": {"latencyMs": 1},
    }


def _gemini(name: str, given: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"functionCall": {"name": name, "args": given}}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "gemini-2.5-flash",
    }


def _ollama(name: str, given: dict[str, Any]) -> dict[str, Any]:
    call = {"function": {"name": name, "arguments": given}}
    return {
        "model": "qwen3",
        "created_at": "2026-03-02T08:15:00Z",
        "message": {"role": "assistant", "content": "", "tool_calls": [call]},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 10,
        "eval_count": 5,
    }
