"""The check of bodies rejects wrong ones: at least one for each of its rules."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from conformance import rules
from conformance.wires import judge, wire_of

Edits = dict[str, Any]
GONE = "(gone)"

OPEN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = {**OPEN, "additionalProperties": False}
FUNCTION = {"name": "get_weather", "description": "Weather", "parameters": OPEN}
CALL = {"name": "get_weather", "arguments": '{"city":"Oslo"}'}
INPUT = {"city": "Oslo"}

CHAT = {
    "model": "gpt-4o-mini",
    "messages": [
        {"role": "user", "content": "Oslo?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "abcdef123", "type": "function", "function": CALL}],
        },
        {"role": "tool", "tool_call_id": "abcdef123", "content": "3"},
    ],
    "tools": [{"type": "function", "function": FUNCTION}],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
}
RESPONSES = {
    "model": "gpt-5.6",
    "store": False,
    "input": [
        {"role": "user", "content": "Oslo?"},
        {"type": "function_call", "call_id": "c1", **CALL},
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
    ],
    "tools": [{"type": "function", **FUNCTION, "parameters": CLOSED, "strict": True}],
    "tool_choice": {"type": "function", "name": "get_weather"},
}
CLAUDE = {
    "model": "claude-opus-4-6",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": "Oslo?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": INPUT}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "3"},
                {"type": "text", "text": "So?"},
            ],
        },
    ],
    "tools": [{"name": "get_weather", "input_schema": CLOSED, "strict": True}],
    "tool_choice": {"type": "any"},
}
INVOKE = {
    **{key: value for key, value in CLAUDE.items() if key != "model"},
    "anthropic_version": "bedrock-2023-05-31",
}
_SHAPE = {"type": "json_schema", "structure": {"jsonSchema": {"name": "x", "schema": "{}"}}}
CONVERSE = {
    "messages": [
        {"role": "user", "content": [{"text": "Oslo?"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": INPUT}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "3"}]}}],
        },
    ],
    "toolConfig": {
        "tools": [
            {
                "toolSpec": {
                    "name": "get_weather",
                    "inputSchema": {"json": CLOSED},
                    "strict": True,
                }
            }
        ],
        "toolChoice": {"any": {}},
    },
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "Oslo?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": INPUT}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "get_weather", "response": {"output": 3}}}],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": OPEN}]}],
    "toolConfig": {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}
    },
    "generationConfig": {
        "responseMimeType": "application/json",
        "responseJsonSchema": OPEN,
        "thinkingConfig": {"thinkingLevel": "LOW"},
    },
}
OLLAMA = {
    "model": "qwen3",
    "stream": False,
    "messages": [
        {"role": "user", "content": "Oslo?", "images": ["iVBORw0KGgo="]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "get_weather", "arguments": INPUT}}],
        },
        {"role": "tool", "tool_name": "get_weather", "tool_call_id": "c1", "content": "3"},
    ],
    "tools": [{"type": "function", "function": FUNCTION}],
}
DEEPSEEK = {**CHAT, "model": "deepseek-v4-pro", "thinking": {"type": "disabled"}}
ANY_CHAT = {**CHAT, "tool_choice": "required"}
AUTO_CHAT = {**CHAT, "tool_choice": "auto"}

DIALECTS = {
    "openai.responses.v1": "openai_responses",
    "xai.responses.v1": "openai_responses",
    "anthropic.chat.v1": "anthropic_messages",
    "amazon:anthropic.chat.v1": "anthropic_messages",
    "vertex:anthropic.chat.v1": "anthropic_messages",
    "amazon.converse.v1": "bedrock_converse",
    "google.chat.v1": "gemini",
    "ollama.chat.v1": "ollama",
}
GOOD: dict[str, dict[str, Any]] = {
    "openai.chat.v1": CHAT,
    "azure.chat.v1": CHAT,
    "xai.chat.v1": CHAT,
    "groq.chat.v1": CHAT,
    "mistral.chat.v1": {**CHAT, "tool_choice": "any"},
    "openrouter.chat.v1": CHAT,
    "cerebras.chat.v1": CHAT,
    "deepseek.chat.v1": DEEPSEEK,
    "cohere.chat.v1": ANY_CHAT,
    "zai.chat.v1": {**AUTO_CHAT, "thinking": {"type": "enabled"}},
    "minimax.chat.v1": {**AUTO_CHAT, "reasoning_split": True},
    "openai.responses.v1": RESPONSES,
    "xai.responses.v1": {**RESPONSES, "max_output_tokens": 5},
    "anthropic.chat.v1": CLAUDE,
    "amazon:anthropic.chat.v1": {**INVOKE, "temperature": 1},
    "vertex:anthropic.chat.v1": {**INVOKE, "stream": True},
    "amazon.converse.v1": CONVERSE,
    "google.chat.v1": GEMINI,
    "ollama.chat.v1": OLLAMA,
}


def edited(body: dict[str, Any], edits: Edits) -> dict[str, Any]:
    """A copy with the values at some paths (dots between keys) changed, or gone."""
    whole = deepcopy(body)
    for path, value in edits.items():
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = whole
        for key in parents:
            place = place[key]
        if value is GONE:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return whole


def verdict(key: str, body: dict[str, Any]) -> list[str]:
    """What is wrong with a body of an endpoint."""
    wire = wire_of(key, DIALECTS.get(key, "openai_chat"))
    pytest.importorskip(wire.sdk, reason=f"{wire.sdk} has the types of {key}")
    return judge(wire, body)


@pytest.mark.parametrize("key", GOOD)
def test_a_good_body_is_accepted(key: str) -> None:
    """Nothing is wrong with it."""
    assert verdict(key, GOOD[key]) == []


_TOOL = "tools.0.function"
_TURN = "messages.1"
_SECOND = {"type": "function", "function": {**FUNCTION, "strict": True, "parameters": CLOSED}}
_STRICT: Edits = {f"{_TOOL}.strict": True, f"{_TOOL}.parameters": CLOSED}
_OUTPUT = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": OPEN}}
_NESTED = {**CLOSED, "properties": {"city": {"type": "object", "properties": {}}}}

WRONG_CHAT: list[tuple[Edits, str]] = [
    ({"tool_choice": {"name": "get_weather"}}, "tool_choice"),
    ({"tool_choice": "any"}, "any"),
    ({"tool_choice": "REQUIRED"}, "REQUIRED"),
    ({"tool_choice": {"type": "function", "name": "get_weather"}}, "tool_choice"),
    ({"tool_choice": {"type": "function", "function": {"name": "nope"}}}, "nope"),
    (
        {
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "auto",
                    "tools": [{"type": "function", "function": {"name": "nope"}}],
                },
            }
        },
        "nope",
    ),
    ({"tools": GONE}, "tool_choice without tools"),
    ({"tools": GONE, "tool_choice": GONE, "parallel_tool_calls": False}, "parallel_tool_calls"),
    ({f"{_TURN}.tool_calls": []}, "empty list|no open call"),
    ({f"{_TURN}.tool_calls.0.function.arguments": INPUT}, "arguments"),
    ({f"{_TURN}.tool_calls.0.function.arguments": "[]"}, "arguments"),
    ({f"{_TURN}.tool_calls.0.id": GONE}, "id: missing"),
    ({"messages.2": GONE}, "no result"),
    ({"messages.2": {"role": "user", "content": "Oslo!"}}, "no result"),
    ({"messages.2.tool_call_id": "other"}, "no open call"),
    ({"messages.2.content": 3}, "content"),
    ({"messages.0.content": None}, "content"),
    ({"messages.0.role": "function"}, "role|name"),
    ({_TOOL: {**FUNCTION, "name": "get weather"}}, "match"),
    ({_TOOL: {**FUNCTION, "name": "x" * 65}}, "match"),
    ({"tools.1": {"type": "function", "function": FUNCTION}}, "unique"),
    ({f"{_TOOL}.parameters": {"type": "string"}}, "no object"),
    ({"tools.0": {"type": "function", **FUNCTION}}, "tools.0"),
    ({"nonsense": 1}, "nonsense"),
    ({_TOOL: {**FUNCTION, "input_schema": OPEN}}, "input_schema"),
    ({"max_tokens": "5"}, "max_tokens"),
    ({"temperature": True}, "temperature"),
    ({"stream": "yes"}, "stream"),
    ({"model": GONE}, "model"),
    ({"messages": "Oslo?"}, "messages"),
]
WRONG_STRICT: list[tuple[Edits, str]] = [
    ({**_STRICT, f"{_TOOL}.parameters": OPEN}, "open"),
    ({**_STRICT, f"{_TOOL}.parameters": {**CLOSED, "required": []}}, "required"),
    ({**_STRICT, f"{_TOOL}.parameters": _NESTED}, "open"),
    ({**_STRICT, f"{_TOOL}.parameters": {**CLOSED, "default": {}}}, "default"),
    ({**_STRICT, f"{_TOOL}.parameters": {**CLOSED, "anyOf": [CLOSED]}}, "root"),
    ({"response_format": _OUTPUT}, "open"),
]
WRONG: list[tuple[str, Edits, str]] = [
    *[("openai.chat.v1", *case) for case in [*WRONG_CHAT, *WRONG_STRICT]],
    *[("openrouter.chat.v1", *case) for case in WRONG_STRICT],
    *[("groq.chat.v1", *case) for case in WRONG_STRICT],
    ("openai.chat.v1", {"tools.0.type": "custom"}, "tools.0"),
    ("openai.chat.v1", {"thinking": {"type": "disabled"}}, "thinking"),
    ("openai.chat.v1", {f"{_TURN}.reasoning_content": "Hm."}, "reasoning_content"),
    ("openai.chat.v1", {"model": "gpt-5.6"}, "no functions"),
    ("openai.chat.v1", {"model": "gpt-5.4", "reasoning_effort": "low"}, "no functions"),
    ("xai.chat.v1", {"search": True}, "search"),
    ("xai.chat.v1", {"tool_choice": {"name": "get_weather"}}, "tool_choice"),
    ("cohere.chat.v1", {"tool_choice": CHAT["tool_choice"]}, "object"),
    ("zai.chat.v1", {"tool_choice": "required"}, "required"),
    ("zai.chat.v1", {"thinking": "off"}, "thinking"),
    ("minimax.chat.v1", {"tool_choice": "none"}, "none"),
    ("deepseek.chat.v1", {"thinking": GONE}, "forced call while thinking"),
    ("deepseek.chat.v1", {"thinking": GONE, "tool_choice": "auto"}, "reasoning_content"),
    ("deepseek.chat.v1", {"response_format": _OUTPUT}, "json_schema"),
    ("deepseek.chat.v1", {"tools.1": _SECOND, "tools.1.function.name": "b"}, "strict or none"),
    ("deepseek.chat.v1", {**_STRICT, f"{_TOOL}.parameters": OPEN}, "open"),
    ("cerebras.chat.v1", {**_STRICT, f"{_TOOL}.parameters": OPEN}, "open"),
    ("groq.chat.v1", {"tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
    (
        "groq.chat.v1",
        {"response_format": {**_OUTPUT, "json_schema": {"name": "x", "schema": OPEN}}},
        "beside tools",
    ),
    ("mistral.chat.v1", {"tool_choice": {"name": "get_weather"}}, "tool_choice"),
    ("mistral.chat.v1", {"tool_choice": "always"}, "always"),
    ("mistral.chat.v1", {"seed": 1}, "seed"),
    ("mistral.chat.v1", {f"{_TOOL}.parameters": GONE}, "parameters"),
    ("mistral.chat.v1", {f"{_TURN}.tool_calls.0.id": "call_1"}, "id"),
    ("openrouter.chat.v1", {"tool_choice": {"name": "get_weather"}}, "tool_choice"),
    ("openrouter.chat.v1", {"nonsense": 1}, "nonsense"),
    # Responses
    ("openai.responses.v1", {"tools.0": CHAT["tools"][0]}, "tools.0"),
    ("openai.responses.v1", {"tool_choice": CHAT["tool_choice"]}, "tool_choice"),
    ("openai.responses.v1", {"tool_choice": "any"}, "tool_choice"),
    ("openai.responses.v1", {"tool_choice": {"type": "function", "name": "nope"}}, "nope"),
    ("openai.responses.v1", {"tools": GONE}, "without tools"),
    ("openai.responses.v1", {"tools.0.strict": GONE}, "strict"),
    ("openai.responses.v1", {"tools.0.strict": None}, "by itself"),
    ("openai.responses.v1", {"tools.0.parameters": OPEN}, "open"),
    ("openai.responses.v1", {"tools.0.name": "get weather"}, "match"),
    ("openai.responses.v1", {"input.2": GONE}, "outputs"),
    ("openai.responses.v1", {"input.1.id": "c1"}, "item id"),
    ("openai.responses.v1", {"input.1.arguments": INPUT}, "arguments"),
    ("openai.responses.v1", {"messages": []}, "messages"),
    ("openai.responses.v1", {"max_tokens": 100}, "max_tokens"),
    ("openai.responses.v1", {"max_output_tokens": 5}, "16"),
    ("openai.responses.v1", {"response_format": _OUTPUT}, "response_format"),
    (
        "openai.responses.v1",
        {"text": {"format": {"type": "json_schema", "name": "x", "schema": OPEN, "strict": True}}},
        "open",
    ),
    # Anthropic
    ("anthropic.chat.v1", {"tool_choice": "auto"}, "tool_choice"),
    ("anthropic.chat.v1", {"tool_choice": {"name": "get_weather"}}, "tool_choice"),
    ("anthropic.chat.v1", {"tool_choice": {"type": "required"}}, "tool_choice"),
    ("anthropic.chat.v1", {"tool_choice": {"type": "tool", "name": "nope"}}, "nope"),
    ("anthropic.chat.v1", {"tools": GONE}, "without tools"),
    ("anthropic.chat.v1", {"tools.0": {"name": "get_weather"}}, "input_schema"),
    ("anthropic.chat.v1", {"tools.0": FUNCTION}, "tools.0"),
    ("anthropic.chat.v1", {"tools.0.input_schema": {"type": "string"}}, "no object"),
    ("anthropic.chat.v1", {"tools.0.input_schema": OPEN}, "open"),
    (
        "anthropic.chat.v1",
        {"tools.0.input_schema.properties": {"city": {"type": "string", "maxLength": 5}}},
        "maxLength",
    ),
    (
        "anthropic.chat.v1",
        {"tools.0.input_schema.properties": {"city": {"type": "array", "minItems": 2}}},
        "minItems",
    ),
    (
        "anthropic.chat.v1",
        {"tools": [{"name": f"f{n}", "input_schema": CLOSED, "strict": True} for n in range(21)]},
        "20",
    ),
    (
        "anthropic.chat.v1",
        {"output_config": {"format": {"type": "json_schema", "schema": OPEN}}},
        "open",
    ),
    ("anthropic.chat.v1", {"temperature": 1.0}, "temperature"),
    ("anthropic.chat.v1", {"max_tokens": GONE}, "max_tokens"),
    ("anthropic.chat.v1", {"thinking": {"type": "enabled", "budget_tokens": 2000}}, "thinking"),
    ("anthropic.chat.v1", {"model": "claude-opus-5-5"}, "claude-opus-5-5"),
    ("anthropic.chat.v1", {"messages.1.content.0.input": "{}"}, "input"),
    ("anthropic.chat.v1", {"messages.2.content.0.tool_use_id": "t2"}, "followed"),
    ("anthropic.chat.v1", {"messages.2": GONE}, "followed|turns"),
    ("anthropic.chat.v1", {"messages.2.content.1.text": " "}, "blank"),
    (
        "anthropic.chat.v1",
        {"messages.2.content": list(reversed(CLAUDE["messages"][2]["content"]))},  # type: ignore[index]
        "after something",
    ),
    ("anthropic.chat.v1", {"messages.3": {"role": "assistant", "content": "Ok"}}, "turns"),
    ("anthropic.chat.v1", {"anthropic_version": "2023-06-01"}, "anthropic_version"),
    ("amazon:anthropic.chat.v1", {"anthropic_version": GONE}, "anthropic_version"),
    ("amazon:anthropic.chat.v1", {"model": "claude"}, "address"),
    ("amazon:anthropic.chat.v1", {"stream": True}, "stream"),
    (
        "amazon:anthropic.chat.v1",
        {
            "messages.0.content": [
                {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}
            ]
        },
        "URL",
    ),
    ("vertex:anthropic.chat.v1", {"model": "claude"}, "address"),
    # Converse
    ("amazon.converse.v1", {"toolConfig.toolChoice": {"none": {}}}, "none"),
    ("amazon.converse.v1", {"toolConfig.toolChoice": "auto"}, "toolChoice"),
    ("amazon.converse.v1", {"toolConfig.toolChoice": {"any": {}, "auto": {}}}, "exactly one"),
    ("amazon.converse.v1", {"toolConfig": GONE}, "without toolConfig"),
    ("amazon.converse.v1", {"toolConfig.tools": []}, "short"),
    ("amazon.converse.v1", {"toolConfig.tools.0.toolSpec.description": ""}, "characters"),
    ("amazon.converse.v1", {"toolConfig.tools.0.toolSpec.name": "a b"}, "match"),
    ("amazon.converse.v1", {"toolConfig.tools.0.toolSpec.inputSchema": GONE}, "inputSchema"),
    ("amazon.converse.v1", {"toolConfig.tools.0.toolSpec.inputSchema": OPEN}, "inputSchema"),
    (
        "amazon.converse.v1",
        {"toolConfig.tools.0.toolSpec.inputSchema.json": {"type": "array"}},
        "no object",
    ),
    ("amazon.converse.v1", {"toolConfig.tools.0.toolSpec.inputSchema.json": OPEN}, "open"),
    (
        "amazon.converse.v1",
        {"additionalModelRequestFields": {"tool_choice": {"type": "none"}}},
        "two choices",
    ),
    ("amazon.converse.v1", {"outputConfig": {"textFormat": {**_SHAPE, "type": "xml"}}}, "xml"),
    (
        "amazon.converse.v1",
        {
            "outputConfig": {
                "textFormat": {
                    **_SHAPE,
                    "structure": {"jsonSchema": {"name": "x", "schema": json.dumps(OPEN)}},
                }
            }
        },
        "open",
    ),
    ("amazon.converse.v1", {"messages.1.content.0.toolUse.toolUseId": "x" * 65}, "characters"),
    ("amazon.converse.v1", {"messages.1.content.0.toolUse.input": GONE}, "input"),
    ("amazon.converse.v1", {"messages.2": GONE}, "followed"),
    ("amazon.converse.v1", {"messages.0.content.0.text": ""}, "blank"),
    ("amazon.converse.v1", {"messages.0.content": "Oslo?"}, "no list"),
    ("amazon.converse.v1", {"messages.0.role": "tool"}, "none of"),
    ("amazon.converse.v1", {"inferenceConfig": {"maxTokens": 1.5}}, "maxTokens"),
    ("amazon.converse.v1", {"max_tokens": 5}, "max_tokens"),
    ("amazon.converse.v1", {"modelId": "x"}, "address"),
    # Gemini
    ("google.chat.v1", {"toolConfig.functionCallingConfig.mode": "any"}, "mode"),
    ("google.chat.v1", {"toolConfig.functionCallingConfig.mode": "AUTO"}, "mode AUTO"),
    (
        "google.chat.v1",
        {"toolConfig.functionCallingConfig.allowedFunctionNames": ["nope"]},
        "not declared",
    ),
    ("google.chat.v1", {"tool_config": {}}, "tool_config"),
    ("google.chat.v1", {"config": {"thinkingConfig": {}}}, "config"),
    ("google.chat.v1", {"generationConfig.max_tokens": 5}, "max_tokens"),
    ("google.chat.v1", {"generationConfig.responseMimeType": GONE}, "media type"),
    ("google.chat.v1", {"generationConfig.responseSchema": {"type": "OBJECT"}}, "two schemas"),
    ("google.chat.v1", {"generationConfig.thinkingConfig.thinkingBudget": 0}, "budget"),
    (
        "google.chat.v1",
        {
            "tools.0.functionDeclarations.0": {
                "name": "get_weather",
                "parameters": OPEN | {"$defs": {}},
            }
        },
        "defs",
    ),
    (
        "google.chat.v1",
        {
            "tools.0.functionDeclarations.0": {
                "name": "get_weather",
                "parameters": {"type": "OBJECT"},
                "parametersJsonSchema": OPEN,
            }
        },
        "two kinds",
    ),
    (
        "google.chat.v1",
        {
            "tools.0.functionDeclarations.0.parametersJsonSchema": {
                "type": "object",
                "properties": {},
            }
        },
        "without properties",
    ),
    ("google.chat.v1", {"tools.0.functionDeclarations.0.name": "9"}, "match"),
    ("google.chat.v1", {"contents.1.role": "assistant"}, "assistant"),
    ("google.chat.v1", {"contents.0.parts": []}, "without parts"),
    ("google.chat.v1", {"contents.1.parts.0.functionCall.args": "{}"}, "args"),
    ("google.chat.v1", {"contents.2.parts.0.functionResponse.response": "3"}, "response"),
    ("google.chat.v1", {"contents.2.parts.0.functionResponse.response": GONE}, "no object"),
    ("google.chat.v1", {"contents.2": GONE}, "followed"),
    ("google.chat.v1", {"contents.1.parts.0.thoughtSignature": "not base64!"}, "bytes"),
    ("google.chat.v1", {"contents": GONE}, "no contents"),
    # Ollama
    ("ollama.chat.v1", {"tool_choice": "auto"}, "tool_choice"),
    ("ollama.chat.v1", {"stream": GONE}, "stream"),
    ("ollama.chat.v1", {"messages.1.tool_calls.0.function.arguments": "{}"}, "arguments"),
    ("ollama.chat.v1", {"messages.0.content": [{"type": "text", "text": "x"}]}, "content"),
    ("ollama.chat.v1", {"messages.0.images": ["https://x.example/a.png"]}, "images"),
    ("ollama.chat.v1", {"messages.2.tool_name": GONE}, "tool_name"),
    ("ollama.chat.v1", {"messages": []}, "no messages"),
    ("ollama.chat.v1", {"think": "extreme"}, "think"),
    ("ollama.chat.v1", {"options": 5}, "options"),
    ("ollama.chat.v1", {"model": GONE}, "model"),
]


@pytest.mark.parametrize(
    ("key", "edits", "complaint"), WRONG, ids=lambda value: str(value)[:60].replace("\n", " ")
)
def test_a_wrong_body_is_rejected(key: str, edits: Edits, complaint: str) -> None:
    """The complaint is about what is wrong."""
    found = verdict(key, edited(GOOD[key], edits))
    assert found
    assert any(part in line for line in found for part in complaint.split("|")), found


def test_every_rule_has_a_body_that_breaks_it() -> None:
    """No rule is there that nothing was seen to break."""
    broken = set()
    for key, edits, _ in WRONG:
        wire = wire_of(key, DIALECTS.get(key, "openai_chat"))
        pytest.importorskip(wire.sdk)
        body = edited(GOOD[key], edits)
        if not list(wire.types(body)):
            broken |= {rule.__name__ for rule in wire.rules if list(rule(body))}
    there = {
        rule.__name__
        for key in GOOD
        for rule in wire_of(key, DIALECTS.get(key, "openai_chat")).rules
    }
    assert there == broken
    assert {rule.__name__ for rule in rules.CHAT} < broken
