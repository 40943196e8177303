"""The vendors' own types for the bodies of each endpoint, and the rules their types cannot say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypedDict

from conformance import rules, service_shapes, shapes
from conformance.rules import Body
from conformance.shapes import Extras

Check = Callable[[Body], Iterator[str]]


class Wire(NamedTuple):
    """How the bodies of an endpoint are judged.

    Attributes:
        sdk: the vendor's package that has the types.
        types: the departures of a body from them.
        rules: what the server refuses beyond them; asked only where the types fit.
    """

    sdk: str
    types: Check
    rules: tuple[Check, ...]


def judge(wire: Wire, body: Body) -> list[str]:
    """What is wrong with a body; nothing if the vendor would take it."""
    found = list(wire.types(body))
    return found or [line for rule in wire.rules for line in rule(body)]


@cache
def _type(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _typed(module: str, name: str, *, streams: bool = True, extras: Extras | None = None) -> Check:
    """The check against a TypedDict; `streams`: there is one for streams and one for the rest."""

    def check(body: Body) -> Iterator[str]:
        ending = ""
        if streams:
            ending = "Streaming" if body.get("stream") is True else "NonStreaming"
        yield from shapes.departures(body, _type(module, name + ending), extras=extras)

    return check


# ---------------------------------------------------------------- Chat Completions

_CHAT_MODULE = "openai.types.chat.completion_create_params"
_TURN = "ChatCompletionAssistantMessageParam"
_CALL = "ChatCompletionMessageFunctionToolCallParam"


def _chat(top: dict[str, Any] | None = None, own: Extras | None = None) -> Check:
    """OpenAI's types; `top` and `own` are keys of the host's own, with their kinds."""
    both = ("CompletionCreateParamsNonStreaming", "CompletionCreateParamsStreaming")
    extras: Extras = {**(own or {}), **dict.fromkeys(both, top or {})}
    return _typed(_CHAT_MODULE, "CompletionCreateParams", extras=extras)


_THINKING = {"thinking": TypedDict("_Thinking", {"type": str})}
_TOP_K = {"top_k": int}
_HOSTS: dict[str, dict[str, Any]] = {
    "deepseek": _THINKING,
    "moonshot": _THINKING,
    "zai": _THINKING,
    "minimax": {"reasoning_split": bool},
    "llamacpp": {**_TOP_K, "chat_template_kwargs": dict},
    **dict.fromkeys(["together", "fireworks", "sambanova", "perplexity", "dashscope"], _TOP_K),
    **dict.fromkeys(["vllm", "lmstudio", "litellm"], _TOP_K),
}
_REASONING: Extras = {_TURN: {"reasoning": str, "reasoning_content": str}}
_SIGNED: Extras = {_CALL: {"extra_content": dict}, _TURN: {"extra_content": dict}}
_RULES: dict[str, tuple[Check, ...]] = {
    "cohere": (rules.choice_is_a_word,),
    "lmstudio": (rules.choice_is_a_word,),
    "zai": (rules.choice_is_auto,),
    "minimax": (rules.choice_is_auto,),
    "ollama:openai": (rules.choice_is_auto,),
    "deepseek": (rules.deepseek, rules.strict_as_openai),
    "cerebras": (rules.strict_as_openai,),
}


def _compatible(endpoint: str) -> Wire:
    own = _SIGNED if endpoint == "google:openai" else _REASONING
    extra = _RULES.get(endpoint, ())
    return Wire("openai", _chat(_HOSTS.get(endpoint), own), (*rules.CHAT, *extra))


def _mistral(body: Body) -> Iterator[str]:
    name = "ChatCompletionStreamRequest" if body.get("stream") else "ChatCompletionRequest"
    yield from shapes.departures(body, _type("mistralai.client.models", name))


def _openrouter(body: Body) -> Iterator[str]:
    yield from shapes.departures(body, _type("openrouter.components", "ChatRequest"))


_OPENAI = Wire("openai", _chat(), (*rules.CHAT, rules.strict_as_openai, rules.openai_models))
_GROQ = _typed("groq.types.chat.completion_create_params", "CompletionCreateParams", streams=False)

# ---------------------------------------------------------------- the others

_RESPONSES = Wire(
    "openai",
    _typed("openai.types.responses.response_create_params", "ResponseCreateParams"),
    (*rules.RESPONSES, rules.least_output_tokens),
)
_SAMPLING = {"temperature": float, "top_p": float, "top_k": int}


def _claude(own: dict[str, Any], *, body_has_model: bool = True) -> Check:
    """Anthropic's types; `own` are keys of the host's own body."""
    both = ("MessageCreateParamsNonStreaming", "MessageCreateParamsStreaming")
    check = _typed(
        "anthropic.types.message_create_params",
        "MessageCreateParams",
        extras=dict.fromkeys(both, own),
    )

    def checked(body: Body) -> Iterator[str]:
        for key in own.keys() - _SAMPLING.keys() - body.keys():
            yield f"$.{key}: missing"
        if not body_has_model and "model" in body:
            yield "$.model: stands in the address"
        yield from check(body if body_has_model else {**body, "model": "in the address"})

    return checked


_VERSION = {"anthropic_version": str}
_CLAUDE = Wire("anthropic", _claude({}), rules.CLAUDE)
_CLAUDE_2023 = Wire("anthropic", _claude(_SAMPLING), rules.CLAUDE)
_INVOKE = Wire(
    "anthropic",
    _claude({**_VERSION, **_SAMPLING}, body_has_model=False),
    (*rules.CLAUDE, rules.invoke),
)
_VERTEX = Wire("anthropic", _claude({**_VERSION, **_SAMPLING}, body_has_model=False), rules.CLAUDE)


def _converse(body: Body) -> Iterator[str]:
    shape = service_shapes.converse_shape()
    if "modelId" in body:
        yield "$.modelId: stands in the address"
    yield from service_shapes.departures({"modelId": "amazon.nova", **body}, shape)


def _gemini(body: Body) -> Iterator[str]:
    yield from shapes.departures(body, _gemini_body())


@cache
def _gemini_body() -> Any:
    """The REST body, which the SDK assembles by hand out of these types."""
    from google.genai import types

    return TypedDict(
        "GenerateContentRequest",
        {
            "contents": list[types.Content],
            "systemInstruction": types.Content,
            "tools": list[types.Tool],
            "toolConfig": types.ToolConfig,
            "safetySettings": list[types.SafetySetting],
            "generationConfig": types.GenerationConfig,
            "cachedContent": str,
        },
        total=False,
    )


# The server's own structs (ollama/ollama, api/types.go) have these, its Python types lack them;
# images are read from files there, and are base64 on the wire.
_OLLAMA_EXTRAS: Extras = {
    "Message": {"tool_call_id": str, "images": list[bytes]},
    "ToolCall": {"id": str},
    "Property": {"anyOf": list, "properties": dict, "required": list[str]},
    "Parameters": {"description": str},
}


def _ollama(body: Body) -> Iterator[str]:
    from ollama import _types

    turns = [
        {key: value for key, value in turn.items() if key != "images"}
        for turn in body.get("messages", [])
    ]
    for turn in body.get("messages", []):
        yield from shapes.departures(turn.get("images", []), list[bytes], at="$.images")
    yield from shapes.departures(
        turns, list[_types.Message], at="$.messages", extras=_OLLAMA_EXTRAS
    )
    rest = {key: value for key, value in body.items() if key != "messages"}
    yield from shapes.departures(rest, _types.ChatRequest, extras=_OLLAMA_EXTRAS)


_BY_KEY: dict[str, Wire] = {
    "openai.chat": _OPENAI,
    "azure.chat": _OPENAI,
    "groq.chat": Wire("groq", _GROQ, (*rules.CHAT, rules.strict_as_openai, rules.groq)),
    "mistral.chat": Wire("mistralai", _mistral, (*rules.CHAT, rules.mistral)),
    "openrouter.chat": Wire("openrouter", _openrouter, (*rules.CHAT, rules.strict_as_openai)),
    "xai.responses": _RESPONSES._replace(rules=rules.RESPONSES),
    "deepseek.responses": _RESPONSES._replace(rules=rules.RESPONSES),
    "amazon:anthropic.chat": _INVOKE,
    "vertex:anthropic.chat": _VERTEX,
}
_BY_DIALECT: dict[str, Wire] = {
    "openai_responses": _RESPONSES,
    "anthropic_messages": _CLAUDE,
    "bedrock_converse": Wire("botocore", _converse, rules.CONVERSE),
    "gemini": Wire("google.genai", _gemini, rules.GEMINI),
    "ollama": Wire("ollama", _ollama, rules.OLLAMA),
}


def wire_of(key: str, dialect: str, *, api_version: str | None = None) -> Wire:
    """The wire of a protocol key such as `openai.chat.v1`."""
    name = key.removesuffix(".v1")
    if dialect == "openai_chat" and name not in _BY_KEY:
        return _compatible(name.removesuffix(".chat"))
    if api_version == "2023-06-01":
        return _CLAUDE_2023
    return _BY_KEY.get(name) or _BY_DIALECT[dialect]
