"""What the tests of the Chat Completions dialect share: targets, calls, bodies, answers, streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from llm_tools.content import OutputResult, StreamEvent
from llm_tools.dialects.openai_chat import DIALECT
from llm_tools.functions.choice import read_function_call
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.output import normalize_output
from llm_tools.history import mend, read_messages
from llm_tools.registry import find_endpoint, make_target
from llm_tools.spec import Call, Encoded, Endpoint, Frame, Params, Plan, Target

GOLDEN = Path(__file__).parent / "golden" / "openai_chat"

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
PING = {"name": "ping"}
FUNCTIONS = [WEATHER, PING]
PIXEL = "iVBORw0KGgo="
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city"],
}

MODELS = {
    "openai": "gpt-4o-mini",
    "azure": "gpt-4o",
    "xai": "grok-3",
    "deepseek": "deepseek-v4-pro",
    "mistral": "mistral-large-latest",
    "groq": "llama-3.3-70b-versatile",
    "openrouter": "anthropic/claude-sonnet-4.6",
    "moonshot": "kimi-k2.6",
    "google:openai": "gemini-3-flash-preview",
}


def target_of(key: str, model: str | None = None, **settings: str) -> Target[Any]:
    """The target of an endpoint's chat record."""
    return make_target(find_endpoint(key, "chat"), model or MODELS.get(key, "a-model"), settings)


def quirky(**quirks: Any) -> Target[Any]:
    """A target of a made-up host."""
    return make_target(Endpoint(key="host", base_url="https://host", quirks=quirks), "a-model", {})


def call_of(
    messages: Any = "Hi",
    *,
    functions: Any = None,
    function_call: Any = None,
    strict: bool = False,
    json_schema: Any = None,
    stream: bool = False,
    extra_body: Any = None,
    repair_arguments: bool = True,
    **params: Any,
) -> Call:
    """A call as the model room makes it, from what a caller would write."""
    read, warnings = mend(read_messages(messages), strict=False)
    offered = normalize_functions(functions) if functions else None
    return Call(
        messages=read,
        functions=offered,
        choice=read_function_call(function_call, offered.by_name if offered else ()),
        strict=strict,
        output=normalize_output(json_schema) if json_schema is not None else None,
        params=Params(**params),
        extra_body=extra_body,
        stream=stream,
        repair_arguments=repair_arguments,
        warnings=warnings,
    )


def encoded(target: Target[Any], *args: Any, **kwargs: Any) -> Encoded:
    """The request of a call."""
    return DIALECT.encode(target, call_of(*args, **kwargs))


def body_of(target: Target[Any], *args: Any, **kwargs: Any) -> Any:
    """Its body as the wire has it."""
    return json.loads(msgspec.json.encode(encoded(target, *args, **kwargs).body))


def codes(request: Encoded) -> list[str]:
    """The codes of its warnings."""
    return [warning.code for warning in request.plan.warnings]


def golden(name: str) -> Any:
    """A committed body."""
    return json.loads((GOLDEN / f"{name}.json").read_text())


def plan_of(target: Target[Any] | None = None, *args: Any, **kwargs: Any) -> Plan:
    """The plan of a call, by default one to OpenAI without functions."""
    return encoded(target or target_of("openai"), *args, **kwargs).plan


def decode(body: Any, plan: Plan | None = None, **headers: str) -> OutputResult:
    """The result of a whole answer, given as JSON or as bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return DIALECT.decode(plan or plan_of(), data, named)


def answer(message: Any, finish_reason: Any = "stop", **fields: Any) -> dict[str, Any]:
    """A body with one choice."""
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    return {"id": "c-1", "model": "m", "created": 7, "choices": [choice], **fields}


def calling(*calls: Any, content: Any = None) -> dict[str, Any]:
    """A message with calls, each (id, name, arguments)."""
    tool_calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": tool_calls}


def chunk(delta: Any = None, finish_reason: Any = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish_reason}
    return {"id": "c-1", "model": "m", "created": 7, "choices": [choice], **fields}


def pieces(*entries: Any, finish_reason: Any = None) -> dict[str, Any]:
    """A chunk with entries of `tool_calls`."""
    return chunk({"tool_calls": list(entries)}, finish_reason)


def piece(
    index: int | None = None,
    call_id: Any = None,
    name: Any = None,
    arguments: Any = None,
    **fields: Any,
) -> dict[str, Any]:
    """An entry of `delta.tool_calls`, without what is None."""
    function = {"name": name, "arguments": arguments}
    said = {
        "index": index,
        "id": call_id,
        "function": {key: value for key, value in function.items() if value is not None},
        **fields,
    }
    return {key: value for key, value in said.items() if value is not None}


def stream(
    *chunks: Any, plan: Plan | None = None, done: bool = True
) -> tuple[list[StreamEvent], OutputResult]:
    """The events and the result of a stream of chunks."""
    decoder = DIALECT.open_stream(plan or plan_of(), {})
    events: list[StreamEvent] = []
    for item in (*chunks, *([b"[DONE]"] if done else [])):
        events += decoder.feed(frame(item))
    return events, decoder.close()


def frame(item: Any, event: str | None = None) -> Frame:
    """A frame with JSON, or bytes as they are."""
    return Frame(event, item if isinstance(item, bytes) else json.dumps(item).encode())
