"""What the tests of the `anthropic_messages` and `bedrock_converse` dialects share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from llm_tools.content import OutputResult, StreamEvent
from llm_tools.endpoints import anthropic, bedrock, foundry, vertex_anthropic
from llm_tools.functions.choice import read_function_call
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.output import normalize_output
from llm_tools.history import mend, read_messages
from llm_tools.registry import make_target
from llm_tools.spec import Call, Encoded, Endpoint, Frame, Params, Plan, Target

GOLDEN = Path(__file__).parent / "golden"
ENDPOINTS: dict[str, Endpoint] = {
    endpoint.key: endpoint
    for module in (anthropic, bedrock, foundry, vertex_anthropic)
    for endpoint in module.ENDPOINTS
}
MODELS = {
    "anthropic": "claude-haiku-4-5",
    "azure:anthropic": "claude-haiku-4-5",
    "vertex:anthropic": "claude-haiku-4-5@20251001",
    "amazon:anthropic": "anthropic.claude-haiku-4-5-20251001-v1:0",
    "amazon:messages": "anthropic.claude-haiku-4-5-20251001-v1:0",
    "amazon:mantle": "anthropic.claude-haiku-4-5-20251001-v1:0",
    "amazon": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
}

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
PING = {"name": "ping", "description": "Ask whether it is there"}
FUNCTIONS = [WEATHER, PING]
CITY_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def target_of(endpoint: str, model: str | None = None, **settings: str) -> Target[Any]:
    """A target by the endpoint's key; without a model, the one that stands for its kind."""
    return make_target(ENDPOINTS[endpoint], model or MODELS[endpoint], settings)


def make_call(
    messages: Any,
    *,
    functions: Any = None,
    function_call: Any = None,
    strict: bool = False,
    json_schema: Any = None,
    stream: bool = False,
    extra_body: Any = None,
    **params: Any,
) -> Call:
    """A call as `Llm` makes it."""
    read, warnings = mend(read_messages(messages), strict=False)
    offered = normalize_functions(functions) if functions else None
    return Call(
        messages=read,
        warnings=warnings,
        functions=offered,
        choice=read_function_call(function_call, offered.by_name if offered else ()),
        strict=strict,
        output=normalize_output(json_schema) if json_schema else None,
        params=Params(**params),
        stream=stream,
        extra_body=extra_body,
    )


def encoded(target: Target[Any] | str, messages: Any = "Hi", **options: Any) -> Encoded:
    """What a call becomes at a target, or at an endpoint with the model that stands for it."""
    found = target_of(target) if isinstance(target, str) else target
    return found.dialect.encode(found, make_call(messages, **options))


def body_of(target: Target[Any] | str, messages: Any = "Hi", **options: Any) -> Any:
    """The body as the server reads it."""
    return sent(encoded(target, messages, **options))


def sent(request: Encoded) -> Any:
    """An encoded body as the server reads it."""
    return json.loads(msgspec.json.encode(request.body))


def codes(request: Encoded | OutputResult) -> list[str]:
    """The codes of the warnings."""
    holder = request.plan if isinstance(request, Encoded) else request
    return [warning.code for warning in holder.warnings]


def plan_of(target: Target[Any] | str, messages: Any = "Hi", **options: Any) -> Plan:
    """The plan of a call."""
    return encoded(target, messages, **options).plan


def decoded(plan: Plan, body: Any, headers: dict[str, str] | None = None) -> OutputResult:
    """An answer that is not streamed."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return plan.target.dialect.decode(plan, raw, headers or {})


def streamed(
    plan: Plan, frames: list[Frame], headers: dict[str, str] | None = None
) -> tuple[list[StreamEvent], OutputResult]:
    """A stream's events, and the whole answer."""
    decoder = plan.target.dialect.open_stream(plan, headers or {})
    events: list[StreamEvent] = []
    for frame in frames:
        events += decoder.feed(frame)
    return events, decoder.close()


def golden(name: str) -> Any:
    """A committed body."""
    return json.loads((GOLDEN / f"{name}.json").read_text())
