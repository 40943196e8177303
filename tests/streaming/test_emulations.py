"""Streams where the wire has not what was asked for, or calls it otherwise: the caller cannot tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streaming.offline import Heard, every_cut, hear, in_pieces, model

from llm_tools import ScriptedTransport, use_llm
from llm_tools.content import (
    Finished,
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    TextDelta,
)
from llm_tools.errors import ParserError, UnmetFunctionCallError
from llm_tools.testing.scripted_transport import ScriptedResponse

pytestmark = pytest.mark.anyio
NOTES = {
    "name": "find notes, please!",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
}
PING = {"name": "ping"}
FUNCTIONS = [NOTES, PING]
INPUT = {"query": "é", "limit": None}
"""What a model held to a strict schema says where it has no limit."""


def line(text: str, reason: str | None = None) -> str:
    """A line of Ollama's stream."""
    told = {
        "model": "m",
        "message": {"role": "assistant", "content": text},
        "done": reason is not None,
    }
    return json.dumps(told | ({"done_reason": reason, "eval_count": 3} if reason else {})) + "\n"


def chat_text(text: str, reason: str | None = None) -> str:
    """An event of a Chat stream."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    return f"data: {json.dumps({'id': 'c', 'model': 'm', 'created': 1, 'choices': [choice]})}\n\n"


HOSTS: dict[str, tuple[str, Any]] = {
    "ollama": ("ollama.qwen3", line),
    "zai": ("zai.glm-5", chat_text),
    "minimax": ("minimax.minimax-m3", chat_text),
}


async def heard_of(
    host: str, text: str, size: int, *, reason: str = "stop", **options: Any
) -> Heard:
    """What a host's text, a few signs at a time, comes to."""
    key, piece = HOSTS[host]
    stream = "".join([piece(text[i : i + 5]) for i in range(0, len(text), 5)]) + piece("", reason)
    chunks = in_pieces(stream.encode(), size)
    wire = ScriptedTransport(lambda _: ScriptedResponse(chunks=chunks))
    llm = use_llm(key, api_key="k", transport=wire)
    heard = await hear(llm, functions=FUNCTIONS, **options)
    body = wire.requests[0].body
    assert "tool_choice" not in body or body["tool_choice"] == "auto"
    return heard


@every_cut
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("choice", ["any", {"names": ["ping", "find notes, please!"]}])
async def test_a_forced_call_that_comes_as_text(host: str, choice: Any, size: int) -> None:
    """Its events are those of a call, and none is text; a warning says what was done."""
    wire_name = wire_name_of(host)
    text = json.dumps({"name": wire_name, "arguments": {"query": "é"}})
    heard = await heard_of(host, text, size, function_call=choice)
    assert heard.result is not None
    [call] = heard.result.function_calls
    assert (call.name, call.input) == ("find notes, please!", {"query": "é"})
    start, delta, done, finished = heard.events
    assert start == FunctionUseStart(index=0, name=call.name, function_id=call.function_id)
    assert isinstance(delta, FunctionInputDelta)
    assert json.loads(delta.partial_json) == {"query": "é"}
    assert done == FunctionUseDone(index=0, function_use=call)
    assert finished == Finished(result=heard.result)
    assert heard.result.stop_reason == "function_use"
    assert "function_call_emulated" in [warning.code for warning in heard.result.warnings]


def wire_name_of(host: str) -> str:
    """The name a host knows the first function by."""
    llm = use_llm(HOSTS[host][0], api_key="k")
    tools = llm.build_request("Hi", functions=FUNCTIONS).body["tools"]
    return str(tools[0]["function"]["name"])


@every_cut
@pytest.mark.parametrize("host", HOSTS)
async def test_a_forced_call_that_does_not_come(host: str, size: int) -> None:
    """Its text is text after all; the error comes after the last event, and the result is there."""
    key, piece = HOSTS[host]
    stream = (piece("I would ") + piece("rather not.") + piece("", "stop")).encode()
    wire = ScriptedTransport(lambda _: ScriptedResponse(chunks=in_pieces(stream, size)))
    llm = use_llm(key, api_key="k", transport=wire)
    seen = []
    async with llm.stream("Hi", functions=FUNCTIONS, function_call="any") as events:
        with pytest.raises(UnmetFunctionCallError) as caught:
            async for event in events:
                seen.append(event)
        assert events.result.text == "I would rather not."
        assert caught.value.result == events.result
    text = "".join([event.text for event in seen if isinstance(event, TextDelta)])
    assert text == "I would rather not."
    assert isinstance(seen[-1], Finished)
    assert not any(isinstance(event, FunctionUseStart) for event in seen)


@every_cut
@pytest.mark.parametrize("host", HOSTS)
async def test_a_forced_call_that_is_cut_off(host: str, size: int) -> None:
    """What the limit cut never runs, whole or half."""
    for text in ('{"name": "ping", "arguments": {}}', '{"name": "ping", "argu'):
        heard = await heard_of(host, text, size, reason="length", function_call="any")
        assert heard.done == []
        result = heard.result or (heard.error.result if heard.error is not None else None)
        assert result is not None
        assert result.stop_reason == "length"
        assert all(call.input_error for call in result.function_calls)


# ---------------------------------------------------------------- names, nulls, repairs

ID = {"chat": "call_1", "responses": "call_1"}


def stream_of(wire: str, name: str, arguments: str) -> bytes:
    """A call in pieces of seven signs."""
    pieces = [arguments[i : i + 7] for i in range(0, len(arguments), 7)]
    events: list[Any] = []
    if wire == "chat":
        call = {"index": 0, "id": "call_1", "function": {"name": name, "arguments": ""}}
        deltas = [{"tool_calls": [call]}]
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": one}}]} for one in pieces]
        events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]
    else:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
        kind = "response.function_call_arguments.delta"
        done = {**item, "arguments": arguments}
        events = [{"type": "response.output_item.added", "output_index": 0, "item": item}]
        events += [
            {"type": kind, "output_index": 0, "item_id": "fc_1", "delta": one} for one in pieces
        ]
        events += [{"type": "response.output_item.done", "output_index": 0, "item": done}]
        events += [
            {"type": "response.completed", "response": {"status": "completed", "output": [done]}}
        ]
    return "".join([f"data: {json.dumps(event)}\n\n" for event in events]).encode()


def called(heard: Heard) -> Any:
    """The one call, as start, done event and result have it alike."""
    assert heard.result is not None
    [call] = heard.result.function_calls
    assert heard.events[0] == FunctionUseStart(index=0, name=call.name, function_id="call_1")
    assert heard.done == [call]
    return call


@every_cut
@pytest.mark.parametrize("wire", ID)
async def test_names_and_nulls_are_the_callers_again(wire: str, size: int) -> None:
    """A renamed function goes by its own name, a null the schema forced is gone, in every event."""
    llm = model(wire, b"")
    strict = {"functions": FUNCTIONS, "function_call_strict_input": True}
    tool = llm.build_request("Hi", **strict).body["tools"][0]
    name = tool.get("function", tool)["name"]
    assert name != NOTES["name"]
    heard = await hear(model(wire, stream_of(wire, name, json.dumps(INPUT)), size), **strict)
    call = called(heard)
    assert (call.name, call.input, call.input_error) == (NOTES["name"], {"query": "é"}, None)


@every_cut
@pytest.mark.parametrize("wire", ID)
@pytest.mark.parametrize(
    "arguments",
    [
        '```json\n{"query": "x"}\n```', '{"query": "x",}', "{'query': 'x'}", '{}{"query": "x"}',
        '"{\\"query\\": \\"x\\"}"', '{"query": "x"}\n\n',
    ],
)  # fmt: skip
async def test_arguments_are_mended_at_the_end(wire: str, arguments: str, size: int) -> None:
    """The pieces are told as they came; the call that is done, and the result, have the object."""
    heard = await hear(model(wire, stream_of(wire, "ping", arguments), size), functions=FUNCTIONS)
    call = called(heard)
    assert (call.input, call.input_error) == ({"query": "x"}, None)
    told = "".join([e.partial_json for e in heard.events if isinstance(e, FunctionInputDelta)])
    assert told == arguments
    assert heard.result is not None
    mended = [warning.code for warning in heard.result.warnings] == ["arguments_repaired"]
    assert mended == (not arguments.endswith("\n\n"))


@every_cut
async def test_nothing_is_mended_where_that_is_off(size: int) -> None:
    """The call is told as one that cannot run."""
    llm = model("chat", stream_of("chat", "ping", '{"query": "x",}'), size)
    heard = await hear(llm.with_options(repair_arguments=False), functions=FUNCTIONS)
    call = called(heard)
    assert call.input == {}
    assert call.raw_input == '{"query": "x",}'
    assert call.input_error


@every_cut
@pytest.mark.parametrize("host", ["ollama", "zai"])
async def test_strict_input_is_checked_here(host: str, size: int) -> None:
    """Where the host holds no model to a schema, the call that breaks it is told as such."""
    wire_name = wire_name_of(host)
    text = json.dumps({"name": wire_name, "arguments": {"query": 7}})
    heard = await heard_of(host, text, size, function_call="any", function_call_strict_input=True)
    assert heard.result is not None
    [call] = heard.result.function_calls
    assert call.input_error
    assert heard.done == [call]


@every_cut
async def test_text_that_breaks_its_schema(size: int) -> None:
    """The error comes after the last event; the result is there."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    stream = (chat_text('{"n": ') + chat_text('"x"}') + chat_text("", "stop")).encode()
    seen = []
    async with model("chat", stream, size).stream("Hi", json_schema=schema) as events:
        with pytest.raises(ParserError) as caught:
            async for event in events:
                seen.append(event)
        assert events.result.text == caught.value.text == '{"n": "x"}'
    assert isinstance(seen[-1], Finished)
