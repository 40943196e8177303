"""Reported faults of other clients: the folder they are handed in, and the way to try them.

`LLM_TOOLS_BUG_CASES` names the folder. Each fault has its own inputs and its right answers there;
the tests beside this file read both, and have inputs of their own for the same kinds of fault.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from llm_tools import Llm, OutputResult, use_llm
from llm_tools.testing import ScriptedResponse, ScriptedTransport

FOLDER = os.environ.get("LLM_TOOLS_BUG_CASES")
handed = pytest.mark.skipif(not FOLDER, reason="LLM_TOOLS_BUG_CASES is not set")

PROVIDERS = {
    "openai_chat": ("openai.chat.v1", "gpt-4o-mini"),
    "openai_responses": ("openai.responses.v1", "gpt-5.6"),
    "azure": ("azure.chat.v1", "mine"),
    "anthropic": ("anthropic.chat.v1", "claude-opus-4-6"),
    "bedrock_invoke_anthropic": ("amazon:anthropic.chat.v1", "anthropic.claude-opus-4-6-v1"),
    "bedrock_converse": ("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "bedrock_converse_nova": ("amazon.converse.v1", "amazon.nova-pro-v1:0"),
    "gemini": ("google.chat.v1", "gemini-3-pro"),
    "gemini_old": ("google.chat.v1", "gemini-2.0-flash"),
    "vertex": ("vertex.chat.v1", "gemini-2.5-pro"),
    "gemini_compat": ("google:openai.chat.v1", "gemini-2.5-pro"),
    "xai": ("xai.chat.v1", "grok-4.7"),
    "deepseek": ("deepseek.chat.v1", "deepseek-v4-pro"),
    "mistral": ("mistral.chat.v1", "mistral-large-latest"),
    "groq": ("groq.chat.v1", "openai/gpt-oss-120b"),
    "openrouter": ("openrouter.chat.v1", "z-ai/glm-5"),
    "vllm": ("vllm.chat.v1", "qwen3"),
    "llamacpp": ("llamacpp.chat.v1", "qwen3"),
    "ollama": ("ollama.chat.v1", "qwen3"),
    "ollama_v1": ("ollama:openai.chat.v1", "qwen3"),
    "together": ("together.chat.v1", "some/model"),
}
_WHERE = {
    "azure": {"resource": "ours"},
    "amazon": {"region": "us-east-1"},
    "vertex": {"project": "ours"},
}
_KEYLESS = {"vertex": "access_token"}


def model(provider: str, **options: Any) -> Llm:
    """A model of a provider."""
    key, name = PROVIDERS[provider]
    host = key.split(".")[0].split(":")[0]
    return use_llm(key, model=name, **{**_WHERE.get(host, {}), **options})


def scripted(provider: str, *replies: Any, **options: Any) -> Llm:
    """A model that is answered from a script."""
    secret = {_KEYLESS.get(PROVIDERS[provider][0].split(".")[0], "api_key"): "sk-any"}
    return model(provider, transport=ScriptedTransport(list(replies)), **{**secret, **options})


def body_of(provider: str, messages: Any = "Hi", **request: Any) -> dict[str, Any]:
    """What would go out."""
    return model(provider).build_request(messages, **request).body


async def answer(provider: str, reply: Any, messages: Any = "Hi", **request: Any) -> OutputResult:
    """What comes of a whole answer."""
    return await scripted(provider, reply).call(messages, **request)


async def streamed(
    provider: str, raw: bytes, messages: Any = "Hi", *, size: int = 1 << 20, **request: Any
) -> OutputResult:
    """What comes of a stream, cut into pieces of a size."""
    chunks = [raw[start : start + size] for start in range(0, len(raw), size)]
    reply = ScriptedResponse(headers={"content-type": "text/event-stream"}, chunks=chunks)
    async with scripted(provider, reply).stream(messages, **request) as events:
        async for _ in events:
            pass
        return events.result


def load(name: str) -> Any:
    """A file of the folder: JSON decoded, everything else as bytes."""
    path = Path(FOLDER or "") / name
    return json.loads(path.read_text("utf-8")) if path.suffix == ".json" else path.read_bytes()


def history(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A history in the folder's words, in ours."""
    ours = []
    for message in messages:
        said = {key: value for key, value in message.items() if key != "provider_raw"}
        if said["role"] == "function" and "output" in said:
            said["content"] = said.pop("output")
        ours.append(said)
    return ours


def items(result: OutputResult) -> list[dict[str, Any]]:
    """The content in the folder's neutral form."""
    said: list[dict[str, Any]] = []
    for item in result.content:
        match type(item).__name__:
            case "OutputResultText":
                said.append({"type": "text", "text": item.text})
            case "OutputResultFunctionUse":
                said.append(
                    {
                        "type": "function_use",
                        "name": item.name,
                        "input": item.input,
                        "functionId": item.function_id,
                    }
                )
    return said


def parameters(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of each function that goes out, by its wire name; None where there is none."""
    found: dict[str, Any] = {}
    for tool in body.get("toolConfig", {}).get("tools", []):
        found[tool["toolSpec"]["name"]] = tool["toolSpec"]["inputSchema"]["json"]
    for tool in body.get("tools", []):
        for item in tool.get("functionDeclarations", [tool.get("function", tool)]):
            keys = ("parameters", "parametersJsonSchema", "input_schema")
            found[item["name"]] = next((item[key] for key in keys if key in item), None)
    return found


def at(schema: Any, path: str) -> Any:
    """The schema at a path, through the `anyOf` that makes it nullable and references."""
    place, root = schema, schema
    for step in filter(None, path.split(".")):
        place = _plain(place, root)
        named = place.get("properties", {})
        place = named[step] if step in named else place[step]
    return _plain(place, root)


def _plain(schema: Any, root: Any) -> Any:
    while True:
        branches = [branch for branch in schema.get("anyOf", []) if kinds(branch) != {"null"}]
        if "$ref" in schema:
            step = schema["$ref"].removeprefix("#").strip("/")
            schema = root
            for key in filter(None, step.split("/")):
                schema = schema[key]
        elif len(branches) == 1 and "properties" not in schema:
            schema = branches[0]
        else:
            return schema


def kinds(schema: Any) -> set[str]:
    """The types a schema allows, in small letters."""
    kind = schema.get("type", [])
    return {kind.lower()} if isinstance(kind, str) else {item.lower() for item in kind}


def schemas(schema: Any) -> list[dict[str, Any]]:
    """A schema and all schemas in it; the names of properties are no keywords."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        for inner in schema.get(key, {}).values():
            found += schemas(inner)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(key, []):
            found += schemas(inner)
    for key in ("items", "additionalProperties", "not", "contains"):
        found += schemas(schema.get(key))
    return found
