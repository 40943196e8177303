"""What the tests of the Responses dialect share: targets, calls, bodies, streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from llm_tools.content import Message, OutputResult, StreamEvent
from llm_tools.dialects.openai_responses import DIALECT, ResponsesQuirks
from llm_tools.functions.choice import read_function_call
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.output import normalize_output
from llm_tools.history import read_messages
from llm_tools.spec import Call, Encoded, Endpoint, Frame, Params, Plan, Target

GOLDEN = Path(__file__).parent / "golden" / "openai_responses"

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


def target_of(model: str = "gpt-5.6", key: str = "openai", **quirks: Any) -> Target[Any]:
    """A target of this dialect, under any key."""
    return Target(
        endpoint=Endpoint(key=key, protocol="responses", dialect="openai_responses"),
        dialect=DIALECT,
        model=model,
        quirks=ResponsesQuirks(**quirks),
    )


def call_of(
    messages: Any = "Hi",
    *,
    functions: Any = None,
    function_call: Any = None,
    strict: bool = False,
    json_schema: Any = None,
    stream: bool = False,
    extra_body: Any = None,
    **params: Any,
) -> Call:
    """A call as the model room makes it, from what a caller would write."""
    offered = normalize_functions(functions) if functions else None
    return Call(
        messages=messages_of(messages),
        functions=offered,
        choice=read_function_call(function_call, offered.by_name if offered else ()),
        strict=strict,
        output=normalize_output(json_schema) if json_schema is not None else None,
        params=Params(**params),
        extra_body=extra_body,
        stream=stream,
    )


def messages_of(messages: Any) -> tuple[Message, ...]:
    """Messages from a string or dicts."""
    return tuple(read_messages(messages))


def encoded_of(messages: Any = "Hi", *, target: Target[Any] | None = None, **kw: Any) -> Encoded:
    """What `encode` makes of it."""
    return DIALECT.encode(target or target_of(), call_of(messages, **kw))


def body_of(messages: Any = "Hi", *, target: Target[Any] | None = None, **kw: Any) -> Any:
    """The request's body, as the provider reads it."""
    return json.loads(msgspec.json.encode(encoded_of(messages, target=target, **kw).body))


def input_of(messages: Any, *, target: Target[Any] | None = None, **kw: Any) -> Any:
    """The body's input items."""
    return body_of(messages, target=target, **kw)["input"]


def codes_of(messages: Any = "Hi", *, target: Target[Any] | None = None, **kw: Any) -> list[str]:
    """The codes of the warnings of a request."""
    return [w.code for w in encoded_of(messages, target=target, **kw).plan.warnings]


def golden(name: str) -> Any:
    """A body as it must be, to the byte of its JSON values."""
    return json.loads((GOLDEN / f"{name}.json").read_text())


def plan_of(**kw: Any) -> Plan:
    """The plan of a call."""
    return encoded_of(**kw).plan


def answer(*output: Any, status: str = "completed", **rest: Any) -> dict[str, Any]:
    """A whole answer of the wire."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1770000000,
        "model": "gpt-5.6-2026",
        "status": status,
        "output": list(output),
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
    } | rest


def message(text: str, **rest: Any) -> dict[str, Any]:
    """A message item of one text."""
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return item | {"content": content} | rest


def function_call(arguments: Any = '{"city":"Oslo"}', **rest: Any) -> dict[str, Any]:
    """A call item."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather"}
    return item | {"arguments": arguments, "status": "completed"} | rest


def reasoning(text: str | None = None, **rest: Any) -> dict[str, Any]:
    """A reasoning item, sealed."""
    summary = [] if text is None else [{"type": "summary_text", "text": text}]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAA"}
    return item | rest


def decode(body: Any, *, headers: dict[str, str] | None = None, **kw: Any) -> OutputResult:
    """The result of an answer, given as JSON or bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return DIALECT.decode(plan_of(**kw), data, headers or {})


def frames(*events: dict[str, Any]) -> list[Frame]:
    """Events as the frames they come in."""
    return [Frame(event.get("type"), json.dumps(event).encode()) for event in events]


def run(*events: dict[str, Any], **kw: Any) -> tuple[list[StreamEvent], OutputResult]:
    """The events and the result of a stream."""
    decoder = DIALECT.open_stream(plan_of(**kw), {"x-request-id": "req_1"})
    out: list[StreamEvent] = []
    for frame in frames(*events):
        out += decoder.feed(frame)
    return out, decoder.close()
