"""Whole request bodies, one golden file each."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.openai_chat_cases import CITY, FUNCTIONS, PIXEL, body_of, golden, target_of

HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Which is warmer?"},
            {"type": "image", "data": PIXEL, "mediaType": "image/png"},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Foreign thoughts."},
            {"type": "text", "text": "I look."},
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Malmö"},
                "functionId": "toolu_bdrk_01VmA9jmWpws4HgPqjhtGo6i",
            },
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "call_B"},
        ],
    },
    {
        "role": "function",
        "name": "get_weather",
        "functionId": "toolu_bdrk_01VmA9jmWpws4HgPqjhtGo6i",
        "content": {"celsius": 20},
    },
    {
        "role": "function",
        "name": "ping",
        "functionId": "call_B",
        "content": "no route",
        "isError": True,
    },
    {"role": "assistant", "content": "Malmö."},
    {"role": "user", "content": "Thanks. And now?"},
]
TEXT_HISTORY = [HISTORY[0], {"role": "user", "content": "Which is warmer?"}, *HISTORY[2:]]


def own_history(key: str, kept: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """A turn with a call and the host's own reasoning, and the call's result."""
    return [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": text, "providerMetadata": {key: kept}},
                {
                    "type": "function_use",
                    "name": "get_weather",
                    "input": {"city": "Oslo"},
                    "functionId": "c1b2c3d4e",
                },
            ],
        },
        {"role": "function", "name": "get_weather", "functionId": "c1b2c3d4e", "content": "20"},
    ]


DETAILS = [
    {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0, "format": "a"},
    {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "index": 1},
]
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "signature": "s"}
SIGNED = {"google": {"thought_signature": "c2ln"}}

CASES: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "openai_plain": ("openai", None, {"messages": "Hi"}),
    "openai_unsaid": ("openai", None, {"functions": FUNCTIONS}),
    "openai_auto": ("openai", None, {"functions": FUNCTIONS, "function_call": "auto"}),
    "openai_none": ("openai", None, {"functions": FUNCTIONS, "function_call": "none"}),
    "openai_any": ("openai", None, {"functions": FUNCTIONS, "function_call": "any"}),
    "openai_named": ("openai", None, {"functions": FUNCTIONS, "function_call": "ping"}),
    "openai_subset_any": (
        "openai",
        None,
        {"functions": [*FUNCTIONS, {"name": "c"}], "function_call": {"names": ["ping", "c"]}},
    ),
    "openai_subset_auto": (
        "openai",
        None,
        {"functions": FUNCTIONS, "function_call": {"names": ["ping"], "mode": "auto"}},
    ),
    "openai_strict": (
        "openai",
        None,
        {"functions": FUNCTIONS, "strict": True, "json_schema": CITY},
    ),
    "openai_history": ("openai", None, {"messages": HISTORY, "functions": FUNCTIONS}),
    "openai_params": (
        "openai",
        None,
        {
            "functions": FUNCTIONS,
            "stream": True,
            "temperature": 0.0,
            "top_p": 0.5,
            "max_tokens": 9,
            "stop_sequences": ("END",),
            "parallel_function_calls": False,
            "seed": 3,
            "extra_body": {
                "metadata": {"a": "b"},
                "stream_options": {"include_obfuscation": False},
            },
        },
    ),
    "openai_reasoning": (
        "openai",
        "gpt-5.6",
        {
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
            "functions": FUNCTIONS,
            "effort": "none",
            "temperature": 1.0,
        },
    ),
    "azure_named": ("azure", None, {"functions": FUNCTIONS, "function_call": "get_weather"}),
    "xai_subset": (
        "xai",
        None,
        {
            "functions": FUNCTIONS,
            "function_call": {"names": ["ping"], "mode": "auto"},
            "max_tokens": 5,
        },
    ),
    "xai_strict": (
        "xai",
        None,
        {"functions": FUNCTIONS, "strict": True, "json_schema": CITY},
    ),
    "deepseek_forced": ("deepseek", None, {"functions": FUNCTIONS, "function_call": "any"}),
    "deepseek_effort": ("deepseek", None, {"effort": "max", "max_tokens": 5}),
    "deepseek_json": (
        "deepseek",
        None,
        {
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
            "json_schema": CITY,
        },
    ),
    "deepseek_strict": ("deepseek", None, {"functions": FUNCTIONS, "strict": True}),
    "deepseek_replay": (
        "deepseek",
        None,
        {
            "messages": own_history("deepseek", {"field": "reasoning_content"}, "Own thoughts."),
            "functions": FUNCTIONS,
        },
    ),
    "deepseek_foreign": (
        "deepseek",
        None,
        {"messages": TEXT_HISTORY, "functions": FUNCTIONS, "effort": "high"},
    ),
    "mistral_history": (
        "mistral",
        None,
        {"messages": HISTORY, "functions": FUNCTIONS, "seed": 1, "stream": True},
    ),
    "mistral_replay": (
        "mistral",
        None,
        {
            "messages": own_history("mistral", {"chunk": THINKING}, "Hm."),
            "functions": FUNCTIONS,
            "function_call": "any",
        },
    ),
    "mistral_strict": (
        "mistral",
        None,
        {"functions": FUNCTIONS, "strict": True, "json_schema": CITY},
    ),
    "groq_replay": (
        "groq",
        None,
        {
            "messages": own_history("groq", {"field": "reasoning"}, "Own thoughts."),
            "functions": FUNCTIONS,
            "stream": True,
        },
    ),
    "groq_both": ("groq", None, {"functions": FUNCTIONS, "json_schema": CITY}),
    "openrouter_replay": (
        "openrouter",
        None,
        {
            "messages": own_history("openrouter", {"details": DETAILS}, "Hm."),
            "functions": FUNCTIONS,
            "effort": "low",
            "top_k": 4,
        },
    ),
    "openrouter_rebuilt": ("openrouter", None, {"messages": HISTORY}),
    "moonshot_forced": ("moonshot", None, {"functions": FUNCTIONS, "function_call": "ping"}),
    "zai_forced": ("zai", None, {"functions": FUNCTIONS, "function_call": "any"}),
    "dashscope_any": ("dashscope", None, {"functions": FUNCTIONS, "function_call": "any"}),
    "dashscope_named": ("dashscope", None, {"functions": FUNCTIONS, "function_call": "ping"}),
    "minimax_json": ("minimax", None, {"json_schema": CITY, "max_tokens": 5}),
    "gemini_foreign": ("google:openai", None, {"messages": HISTORY, "functions": FUNCTIONS}),
    "gemini_replay": (
        "google:openai",
        None,
        {
            "messages": own_history("google:openai", {"extra_content": SIGNED}, ""),
            "functions": FUNCTIONS,
        },
    ),
    "llamacpp_effort": ("llamacpp", None, {"effort": "high", "top_k": 4, "json_schema": CITY}),
    "vllm_strict": ("vllm", None, {"functions": FUNCTIONS, "strict": True, "function_call": "any"}),
    "lmstudio_named": ("lmstudio", None, {"functions": FUNCTIONS, "function_call": "ping"}),
    "ollama_forced": ("ollama:openai", None, {"functions": FUNCTIONS, "function_call": "any"}),
    "ollama_none": ("ollama:openai", None, {"functions": FUNCTIONS, "function_call": "none"}),
    "compatible_history": ("together", None, {"messages": HISTORY, "functions": FUNCTIONS}),
}


@pytest.mark.parametrize("name", CASES)
def test_body(name: str) -> None:
    """The body is the committed one, key by key."""
    key, model, call = CASES[name]
    assert body_of(target_of(key, model), **call) == golden(name)
