"""Small answers of every kind of provider, with all that it wants back: two calls and reasoning.

Whatever only its maker may see again has the maker's name in it.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from matrix.scenes import PING, WEATHER, Aim

FUNCTIONS = [WEATHER, PING]
WORDS = "On my way."


class Maker(NamedTuple):
    """A provider and an answer of its.

    Attributes:
        aim: the key and the model.
        answer: the body of its answer: reasoning, text (mostly), get_weather and ping.
        secret: in each string that nobody else may see, and in nothing else.
        order: what goes back of it, in order: what it must see again, and its calls.
    """

    aim: Aim
    answer: Any
    secret: str
    order: list[str]

    def __str__(self) -> str:
        return self.aim.key.removesuffix(".v1")


def _kept(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


CALLS = ["call get_weather", "call ping"]


def _chat_call(function_id: str, name: str, arguments: str, **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": function_id, "type": "function", "function": function, **more}


def _chat(key: str, model: str, first_id: str, second_id: str, **message: Any) -> Any:
    calls = [
        _chat_call(first_id, "get_weather", '{"city": "Oslo"}'),
        _chat_call(second_id, "ping", "{}"),
    ]
    turn = {"role": "assistant", "content": WORDS, "tool_calls": calls, **message}
    return Aim(key, model), {"choices": [{"message": turn, "finish_reason": "tool_calls"}]}


def _claude(key: str, model: str, secret: str) -> Maker:
    thinking = [
        {"type": "thinking", "thinking": f"{secret} thinks", "signature": f"{secret}+sig=="},
        {"type": "thinking", "thinking": "", "signature": f"{secret}+empty=="},
        {"type": "redacted_thinking", "data": f"{secret}+red=="},
    ]
    weather = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "get_weather",
        "input": {"city": "Oslo"},
    }
    ping = {"type": "tool_use", "id": "toolu_2", "name": "ping", "input": {}}
    content = [*thinking, {"type": "text", "text": WORDS}, weather, ping]
    answer = {"type": "message", "content": content, "stop_reason": "tool_use"}
    return Maker(Aim(key, model), answer, secret, [*map(_kept, thinking), *CALLS])


def _responses(key: str, model: str, secret: str) -> Maker:
    reasoning = {
        "type": "reasoning",
        "id": f"rs_{secret}",
        "summary": [{"type": "summary_text", "text": f"{secret} thinks"}],
        "encrypted_content": f"{secret}+enc==",
    }
    message = {
        "type": "message",
        "id": f"msg_{secret}",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": WORDS, "annotations": []}],
    }
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{secret}_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        for number, name, arguments in (
            (1, "get_weather", '{"city": "Oslo"}'),
            (2, "ping", "{}"),
        )
    ]
    answer = {"id": "resp_1", "status": "completed", "output": [reasoning, message, *calls]}
    order = [_kept(f"{secret}+enc=="), _kept({"phase": "commentary"}), *CALLS]
    return Maker(Aim(key, model), answer, secret, order)


def _converse() -> Maker:
    thought = {"text": "converse thinks", "signature": "converse+sig=="}
    thinking = [
        {"reasoningContent": {"reasoningText": thought}},
        {"reasoningContent": {"redactedContent": "converse+red=="}},
    ]
    weather = {"toolUseId": "tooluse_1", "name": "get_weather", "input": {"city": "Oslo"}}
    content = [
        *thinking,
        {"text": WORDS},
        {"toolUse": weather},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "ping", "input": {}}},
    ]
    answer = {"output": {"message": {"role": "assistant", "content": content}}}
    aim = Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    return Maker(aim, answer, "converse", [*map(_kept, thinking), *CALLS])


def _gemini(key: str, model: str, signature: str) -> Maker:
    """Signatures are base64: these four bytes apart, whoever made them."""
    weather = {"id": "g1", "name": "get_weather", "args": {"city": "Oslo"}}
    parts = [
        {"text": f"{signature} thinks", "thought": True},
        {"text": WORDS},
        {"functionCall": weather, "thoughtSignature": f"{signature}AA=="},
        {"functionCall": {"name": "ping"}},
        {"text": "", "thoughtSignature": f"{signature}BA=="},
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    order = [f"{signature}AA==", CALLS[0], CALLS[1], f"{signature}BA=="]
    return Maker(Aim(key, model), {"candidates": [candidate]}, signature, order)


def _openrouter() -> Maker:
    details = [
        {
            "type": "reasoning.text",
            "text": "router thinks",
            "signature": "router+sig==",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "router+enc==", "index": 1},
    ]
    aim, answer = _chat(
        "openrouter.chat.v1",
        "anthropic/claude-sonnet-4.5",
        "toolu_vrtx_1",
        "toolu_vrtx_2",
        reasoning="router thinks",
        reasoning_details=details,
    )
    return Maker(aim, answer, "router", [*map(_kept, details), *CALLS])


def _mistral() -> Maker:
    thinking = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "mistral thinks"}],
        "signature": "mistral+sig==",
    }
    content = [thinking, {"type": "text", "text": WORDS}]
    aim, answer = _chat(
        "mistral.chat.v1", "magistral-medium-latest", "Abc123xyz", "Abc123xy2", content=content
    )
    return Maker(aim, answer, "mistral", [_kept(thinking), *CALLS])


def _with_field(key: str, model: str, field: str, secret: str) -> Maker:
    aim, answer = _chat(
        key, model, "functions.get_weather:0", "functions.ping:1", **{field: f"{secret} thinks"}
    )
    return Maker(aim, answer, secret, [_kept(f"{secret} thinks"), *CALLS])


def _compatible_gemini() -> Maker:
    aim, answer = _chat("google:openai.chat.v1", "gemini-3-pro", "function-call-1", "")
    first = answer["choices"][0]["message"]["tool_calls"][0]
    first["extra_content"] = {"google": {"thought_signature": "compatgemini+sig=="}}
    return Maker(aim, answer, "compatgemini", [_kept(first["extra_content"]), *CALLS])


def _ollama() -> Maker:
    calls = [
        {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}},
        {"function": {"name": "ping", "arguments": {}}},
    ]
    turn = {
        "role": "assistant",
        "content": WORDS,
        "thinking": "ollama thinks",
        "tool_calls": calls,
    }
    answer = {"message": turn, "done": True, "done_reason": "stop"}
    return Maker(
        Aim("ollama.chat.v1", "qwen3"), answer, "ollama thinks", [_kept("ollama thinks"), *CALLS]
    )


def _plain() -> Maker:
    aim, answer = _chat("openai.chat.v1", "gpt-4o-mini", "call_1", "call_2", content=None)
    return Maker(aim, answer, "nothing of its own", CALLS)


MAKERS = [
    _plain(),
    _responses("openai.responses.v1", "gpt-5.6", "openairesponses"),
    _responses("azure.responses.v1", "gpt-5.6", "azureresponses"),
    _responses("xai.responses.v1", "grok-4.3", "xairesponses"),
    _claude("anthropic.chat.v1", "claude-haiku-4-5", "claudeapi"),
    _claude("amazon:anthropic.chat.v1", "us.anthropic.claude-haiku-4-5-20251001-v1:0", "invoked"),
    _claude("vertex:anthropic.chat.v1", "claude-haiku-4-5@20251001", "vertexclaude"),
    _converse(),
    _gemini("google.chat.v1", "gemini-3-pro", "GGGG"),
    _gemini("vertex.chat.v1", "gemini-3-pro", "VVVV"),
    _compatible_gemini(),
    _with_field("deepseek.chat.v1", "deepseek-v4-pro", "reasoning_content", "deepseek"),
    _with_field("groq.chat.v1", "openai/gpt-oss-120b", "reasoning", "groqs"),
    _with_field("vllm.chat.v1", "qwen3", "reasoning", "vllms"),
    _openrouter(),
    _mistral(),
    _ollama(),
]
