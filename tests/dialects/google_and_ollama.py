"""What the tests of the `gemini` and `ollama` dialects share: calls, bodies, plans, frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from llm_tools.content import OutputResult, StreamEvent
from llm_tools.endpoints import google, ollama, vertex
from llm_tools.functions.choice import read_function_call
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.output import normalize_output
from llm_tools.history import mend, read_messages
from llm_tools.registry import make_target
from llm_tools.spec import Call, Encoded, Frame, Params, Plan, Target

GOLDEN = Path(__file__).parent / "golden"

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


def target_of(endpoint: str, model: str) -> Target[Any]:
    """A target by the endpoint's key."""
    records = {"google": google, "vertex": vertex, "ollama": ollama}
    return make_target(records[endpoint].ENDPOINTS[0], model, {})


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


def encoded(endpoint: str, model: str, messages: Any = "Hi", **options: Any) -> Encoded:
    """What a call becomes at an endpoint."""
    target = target_of(endpoint, model)
    return target.dialect.encode(target, make_call(messages, **options))


def body_of(endpoint: str, model: str, messages: Any = "Hi", **options: Any) -> Any:
    """The body as the server reads it."""
    return json.loads(msgspec.json.encode(encoded(endpoint, model, messages, **options).body))


def codes(result: Encoded | OutputResult) -> list[str]:
    """The codes of the warnings, in order."""
    warnings = result.plan.warnings if isinstance(result, Encoded) else result.warnings
    return [warning.code for warning in warnings]


def plan_of(endpoint: str, model: str, **options: Any) -> Plan:
    """A plan for decoding an answer."""
    return encoded(endpoint, model, **options).plan


def decoded(plan: Plan, body: Any, headers: dict[str, str] | None = None) -> OutputResult:
    """The result of a whole answer, given as JSON or as bytes."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return plan.target.dialect.decode(plan, raw, headers or {})


def streamed(plan: Plan, chunks: list[Any]) -> tuple[list[StreamEvent], OutputResult]:
    """The events of a stream's frames, and the result it ends with."""
    decoder = plan.target.dialect.open_stream(plan, {})
    events = [event for chunk in chunks for event in decoder.feed(frame(chunk))]
    return events, decoder.close()


def frame(chunk: Any) -> Frame:
    """A frame of JSON, or of the bytes given."""
    return Frame(None, chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode())


def golden(name: str) -> Any:
    """An expected body, by file."""
    return json.loads((GOLDEN / f"{name}.json").read_text())
