"""Kinds of streams of the other wires that clients get wrong, through the public interface."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streaming.offline import Heard, content, every_cut, hear, model
from streaming.wires.aws import aws_message

from llm_tools import create_dialogue
from llm_tools.content import OutputResult, OutputResultReasoning
from llm_tools.errors import (
    AuthenticationError,
    BadRequestError,
    LlmToolsError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamError,
)

pytestmark = pytest.mark.anyio
FUNCTIONS = [{"name": name} for name in ("pick", "weigh", "stop_now")]
A = {"type": "function_use", "name": "pick", "input": {"n": 1}, "functionId": "a"}
B = {"type": "function_use", "name": "weigh", "input": {"kg": 2.5}, "functionId": "b"}
NONE = {"type": "function_use", "name": "stop_now", "input": {}, "functionId": "a"}
HI = {"type": "text", "text": "Hi"}


def sse(*events: Any, named: bool = True) -> bytes:
    """Events of a wire that names them by their type."""
    lines = [
        (f"event: {one['type']}\n" if named and "type" in one else "")
        + f"data: {json.dumps(one)}\n\n"
        for one in events
    ]
    return "".join(lines).encode()


def aws(*events: tuple[str, Any]) -> bytes:
    """Events of Converse; a name with a colon is that of an exception."""
    data = b""
    for name, payload in events:
        kind, _, exception = name.rpartition(":")
        headers = {":event-type": name, ":message-type": "event"}
        if kind:
            headers = {":exception-type": exception, ":message-type": "exception"}
        data += aws_message(json.dumps(payload).encode(), **headers)
    return data


def ndjson(*lines: Any) -> bytes:
    return "".join([json.dumps(line) + "\n" for line in lines]).encode()


# ---------------------------------------------------------------- Responses


def item(kind: str, number: int, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"i_{number}", "status": "completed", **rest}


def call_item(number: int, use: Any, text: str | None = None, **rest: Any) -> dict[str, Any]:
    arguments = json.dumps(use["input"]) if text is None else text
    told = {"call_id": use["functionId"], "name": use["name"], "arguments": arguments}
    return item("function_call", number, **told, **rest)


def added(number: int, one: Any, **rest: Any) -> dict[str, Any]:
    begun = {**one, "status": "in_progress", "arguments": ""}
    return {"type": "response.output_item.added", "output_index": number, "item": begun, **rest}


def grown(number: int, one: Any, piece: str) -> dict[str, Any]:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "output_index": number, "item_id": one["id"], "delta": piece}


def ended(number: int, one: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": number, "item": one}


def completed(*items: Any, status: str = "completed", **rest: Any) -> dict[str, Any]:
    response = {"id": "r", "model": "m", "created_at": 1, "status": status, "output": list(items)}
    return {"type": f"response.{status}", "response": {**response, **rest}}


PICK, WEIGH = call_item(0, A), call_item(1, B)
MESSAGE = item("message", 0, content=[{"type": "output_text", "text": "Hi", "annotations": []}])
RESPONSES: dict[str, tuple[bytes, list[Any]]] = {
    "in turns, the second first done": (
        sse(added(0, PICK), added(1, WEIGH), grown(1, WEIGH, '{"kg":'), grown(0, PICK, '{"n": 1}'),
            grown(1, WEIGH, " 2.5}"), ended(1, WEIGH), ended(0, PICK), completed(PICK, WEIGH)),
        [A, B],
    ),
    "pieces that name the place alone": (
        sse(added(0, PICK), added(1, WEIGH), {**grown(0, PICK, '{"n": 1}'), "item_id": None},
            {**grown(1, WEIGH, '{"kg": 2.5}'), "item_id": "?"}, ended(1, WEIGH), ended(0, PICK),
            completed(PICK, WEIGH)),
        [A, B],
    ),
    "pieces that name the item alone": (
        sse(added(0, PICK), added(1, WEIGH), {**grown(0, PICK, '{"n": 1}'), "output_index": None},
            {**grown(1, WEIGH, '{"kg": 2.5}'), "output_index": None}, ended(0, PICK),
            ended(1, WEIGH), completed(PICK, WEIGH)),
        [A, B],
    ),
    "without the events' names": (
        sse(added(0, PICK), grown(0, PICK, '{"n": 1}'), ended(0, PICK), completed(PICK), named=False),
        [A],
    ),
    "no pieces": (sse(added(0, PICK), ended(0, PICK), completed(PICK)), [A]),
    "no items, only the end": (sse(completed(PICK, WEIGH)), [A, B]),
    "an end without items": (
        sse(added(0, PICK), grown(0, PICK, '{"n": 1}'), ended(0, PICK), completed()), [A],
    ),
    "an item whose end leaves out what its pieces said": (
        sse(added(0, PICK), grown(0, PICK, '{"n": 1}'),
            ended(0, {key: value for key, value in PICK.items() if key != "arguments"}), completed()),
        [A],
    ),
    "no arguments": (
        sse(added(0, call_item(0, NONE, "")), ended(0, call_item(0, NONE, "")),
            completed(call_item(0, NONE, ""))),
        [NONE],
    ),
    "a text, a call, an event nobody knows": (
        sse({"type": "response.brand_new"}, ended(0, MESSAGE), added(1, WEIGH), ended(1, WEIGH),
            completed(MESSAGE, WEIGH)),
        [HI, B],
    ),
}  # fmt: skip

# ---------------------------------------------------------------- Anthropic

MESSAGE_START = {
    "type": "message_start",
    "message": {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                "usage": {"input_tokens": 1, "output_tokens": 1}},
}  # fmt: skip


def block(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def tool(index: int, use: Any, given: Any = None) -> dict[str, Any]:
    told = {"id": use["functionId"], "name": use["name"], "input": {} if given is None else given}
    return block(index, type="tool_use", **told)


def delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def input_piece(index: int, piece: str) -> dict[str, Any]:
    return delta(index, type="input_json_delta", partial_json=piece)


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def finish(reason: str = "tool_use") -> list[Any]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


ANTHROPIC: dict[str, tuple[bytes, list[Any]]] = {
    "pings everywhere": (
        sse({"type": "ping"}, MESSAGE_START, {"type": "ping"}, tool(0, A), input_piece(0, '{"n":'),
            {"type": "ping"}, input_piece(0, " 1}"), stop(0), {"type": "ping"}, *finish()),
        [A],
    ),
    "the input in the start alone": (
        sse(MESSAGE_START, tool(0, A, {"n": 1}), stop(0), *finish()), [A],
    ),
    "the input in the start, and again in pieces": (
        sse(MESSAGE_START, tool(0, A, {"n": 7}), input_piece(0, '{"n": 1}'), stop(0), *finish()), [A],
    ),
    "no input at all": (sse(MESSAGE_START, tool(0, NONE), stop(0), *finish()), [NONE]),
    "empty pieces": (
        sse(MESSAGE_START, tool(0, NONE), input_piece(0, ""), input_piece(0, ""), stop(0), *finish()),
        [NONE],
    ),
    "braces in a piece": (
        sse(MESSAGE_START, tool(0, NONE), input_piece(0, "{}"), stop(0), *finish()), [NONE],
    ),
    "blocks that overlap": (
        sse(MESSAGE_START, tool(0, A), tool(1, B), input_piece(1, '{"kg"'), input_piece(0, '{"n": 1}'),
            input_piece(1, ": 2.5}"), stop(1), stop(0), *finish()),
        [A, B],
    ),
    "text around": (
        sse(MESSAGE_START, block(0, type="text", text=""), delta(0, type="text_delta", text="Hi"),
            stop(0), tool(1, A), input_piece(1, '{"n": 1}'), stop(1), *finish("end_turn")),
        [HI, A],
    ),
    "no stop of a block": (
        sse(MESSAGE_START, tool(0, A), input_piece(0, '{"n": 1}'), tool(1, B),
            input_piece(1, '{"kg": 2.5}'), *finish()),
        [A, B],
    ),
}  # fmt: skip

# ---------------------------------------------------------------- Converse


def converse_call(index: int, use: Any, *pieces: str) -> list[tuple[str, Any]]:
    told = {"toolUseId": use["functionId"], "name": use["name"]}
    place = {"contentBlockIndex": index}
    return [
        ("contentBlockStart", {"start": {"toolUse": told}, **place}),
        *[("contentBlockDelta", {"delta": {"toolUse": {"input": one}}, **place}) for one in pieces],
        ("contentBlockStop", place),
    ]


OPENED = ("messageStart", {"role": "assistant"})
CLOSED = ("messageStop", {"stopReason": "tool_use"})
COUNTED = ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2}})
CONVERSE: dict[str, tuple[bytes, list[Any]]] = {
    "two calls": (
        aws(OPENED, *converse_call(0, A, '{"n":', " 1}"), *converse_call(1, B, '{"kg": 2.5}'),
            CLOSED, COUNTED),
        [A, B],
    ),
    "no input": (aws(OPENED, *converse_call(0, NONE), CLOSED, COUNTED), [NONE]),
    "an empty input": (aws(OPENED, *converse_call(0, NONE, ""), CLOSED), [NONE]),
    "text without a start": (
        aws(OPENED, ("contentBlockDelta", {"delta": {"text": "Hi"}, "contentBlockIndex": 0}),
            ("contentBlockStop", {"contentBlockIndex": 0}), *converse_call(1, A, '{"n": 1}'), CLOSED),
        [HI, A],
    ),
    "an event nobody knows": (
        aws(OPENED, ("brandNew", {"x": 1}), *converse_call(0, A, '{"n": 1}'), CLOSED, COUNTED), [A],
    ),
}  # fmt: skip

# ---------------------------------------------------------------- Gemini


def parts(*parts: Any, finish: str | None = None, **rest: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **rest}


def function_call(use: Any, **rest: Any) -> dict[str, Any]:
    return {
        "functionCall": {"id": use["functionId"], "name": use["name"], "args": use["input"]}
    } | rest


GEMINI: dict[str, tuple[bytes, list[Any]]] = {
    "a call in a chunk": (
        sse(parts(function_call(A)), parts(function_call(B)), parts(finish="STOP")), [A, B],
    ),
    "two in one": (sse(parts(function_call(A), function_call(B), finish="STOP")), [A, B]),
    "no args": (
        sse(parts({"functionCall": {"id": "a", "name": "stop_now"}}, finish="STOP")), [NONE],
    ),
    "args of null": (
        sse(parts({"functionCall": {"id": "a", "name": "stop_now", "args": None}}, finish="STOP")),
        [NONE],
    ),
    "text in chunks, an empty one at the end": (
        sse(parts({"text": "H"}), parts({"text": "i"}), parts(function_call(A)),
            parts({"text": ""}, finish="STOP", usageMetadata={"promptTokenCount": 1})),
        [HI, A],
    ),
    "a chunk without content": (
        sse({"candidates": [{"index": 0}]}, {"usageMetadata": {"promptTokenCount": 1}},
            parts(function_call(A)), {"candidates": [{"finishReason": "STOP", "index": 0}]}),
        [A],
    ),
    "an array in place of events": (
        json.dumps([parts({"text": "Hi"}), parts(function_call(A)), parts(finish="STOP")]).encode(),
        [HI, A],
    ),
}  # fmt: skip

# ---------------------------------------------------------------- Ollama


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    told = {"role": "assistant", "content": "", **message}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": told, "done": done} | (
        {"done_reason": "stop", "eval_count": 2} if done else {}
    )


def ollama_calls(*uses: Any) -> list[Any]:
    return [{"id": u["functionId"], "function": {"name": u["name"], "arguments": u["input"]}} for u in uses]  # fmt: skip


OLLAMA: dict[str, tuple[bytes, list[Any]]] = {
    "calls in lines of their own": (
        ndjson(line(content="H"), line(content="i"), line(tool_calls=ollama_calls(A)),
               line(tool_calls=ollama_calls(B)), line(True)),
        [HI, A, B],
    ),
    "calls beside the end": (ndjson(line(True, tool_calls=ollama_calls(A, B))), [A, B]),
    "no line end, blank lines, CRLF": (
        b"\n\r\n" + ndjson(line(tool_calls=ollama_calls(A))).replace(b"\n", b"\r\n")
        + ndjson(line(True)).rstrip(),
        [A],
    ),
    "no arguments": (
        ndjson(line(tool_calls=[{"id": "a", "function": {"name": "stop_now"}}]), line(True)), [NONE],
    ),
}  # fmt: skip

KINDS = {
    (wire, kind): told
    for wire, kinds in (
        ("responses", RESPONSES),
        ("anthropic", ANTHROPIC),
        ("converse", CONVERSE),
        ("gemini", GEMINI),
        ("ollama", OLLAMA),
    )
    for kind, told in kinds.items()
}


@every_cut
@pytest.mark.parametrize(("wire", "kind"), KINDS)
async def test_calls(wire: str, kind: str, size: int) -> None:
    """Every call is there once, in the provider's order, with its input, and may run."""
    stream, expected = KINDS[wire, kind]
    heard = await hear(model(wire, stream, size), functions=FUNCTIONS)
    assert heard.error is None
    assert heard.result is not None
    assert content(heard.result) == expected
    assert heard.result.stop_reason == "function_use"
    calls = heard.result.function_calls
    assert sorted(heard.done, key=calls.index) == calls


# ---------------------------------------------------------------- what goes wrong

HALF: dict[str, list[Any]] = {
    "responses": [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        added(0, PICK),
        grown(0, PICK, '{"n":'),
    ],
    "anthropic": [MESSAGE_START, {"type": "ping"}, tool(0, A), input_piece(0, '{"n":')],
    "converse": [OPENED, *converse_call(0, A, '{"n":')[:-1]],
    "gemini": [parts(function_call(A))],
    "ollama": [line(tool_calls=ollama_calls(A))],
}
WRITE: dict[str, Any] = {
    "responses": sse, "anthropic": sse, "converse": aws, "gemini": sse, "ollama": ndjson,
}  # fmt: skip


def anthropic_error(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "no"}}


def google_error(code: int, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "status": status, "message": "no"}}


FAILURES: list[tuple[str, Any, type[LlmToolsError], bool]] = [
    ("anthropic", anthropic_error("overloaded_error"), OverloadedError, True),
    ("anthropic", anthropic_error("rate_limit_error"), RateLimitError, True),
    ("anthropic", anthropic_error("api_error"), ServerError, True),
    ("anthropic", anthropic_error("invalid_request_error"), BadRequestError, False),
    ("anthropic", anthropic_error("authentication_error"), AuthenticationError, False),
    ("responses", {"type": "error", "code": "server_error", "message": "no"}, ServerError, True),
    ("responses", {"type": "error", "code": "rate_limit_exceeded", "message": "no"}, RateLimitError, True),
    (
        "responses",
        completed(status="failed", error={"code": "server_error", "message": "no"}),
        ServerError,
        True,
    ),
    ("converse", ("exception:throttlingException", {"message": "no"}), RateLimitError, True),
    ("converse", ("exception:internalServerException", {"message": "no"}), ServerError, True),
    ("converse", ("exception:modelStreamErrorException", {"message": "no"}), ServerError, True),
    ("converse", ("exception:serviceUnavailableException", {"message": "no"}), ServerError, True),
    ("converse", ("exception:validationException", {"message": "no"}), BadRequestError, False),
    ("gemini", google_error(503, "UNAVAILABLE"), ServerError, True),
    ("gemini", google_error(429, "RESOURCE_EXHAUSTED"), RateLimitError, True),
    ("gemini", google_error(400, "INVALID_ARGUMENT"), BadRequestError, False),
    ("ollama", {"error": "the runner went away"}, ProviderError, True),
]  # fmt: skip


@every_cut
@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(("wire", "failure", "error", "retryable"), FAILURES)
async def test_an_error_in_a_stream(
    wire: str,
    failure: Any,
    error: type[LlmToolsError],
    retryable: bool,
    begun: bool,
    size: int,
) -> None:
    """First or midway, it is raised as what it names; what had come is there, and may not run."""
    data = WRITE[wire](*(HALF[wire] if begun else []), failure)
    heard = await hear(model(wire, data, size), functions=FUNCTIONS)
    assert isinstance(heard.error, error)
    assert isinstance(heard.error, ProviderError)
    assert heard.error.retryable is retryable
    check_broken(heard, begun=begun)


@every_cut
@pytest.mark.parametrize("wire", HALF)
async def test_an_end_without_the_end_mark(wire: str, size: int) -> None:
    """It is an error, with what had come."""
    heard = await hear(model(wire, WRITE[wire](*HALF[wire]), size), functions=FUNCTIONS)
    assert isinstance(heard.error, StreamError)
    assert heard.error.retryable
    check_broken(heard, begun=True)


def check_broken(heard: Heard, *, begun: bool) -> None:
    assert heard.result is None
    assert heard.done == []
    if begun:
        assert heard.error is not None
        partial = heard.error.result
        assert isinstance(partial, OutputResult)
        assert partial.stop_reason == "error"
        [call] = partial.function_calls
        assert call.name == "pick"
        assert call.input == {}
        assert call.input_error


# ---------------------------------------------------------------- cut off by the limit

CUT_PICK = call_item(0, A, '{"n": 1}', status="incomplete")
CUT: dict[str, bytes] = {
    "responses": sse(
        added(0, CUT_PICK), grown(0, CUT_PICK, '{"n": 1}'), ended(0, CUT_PICK),
        completed(CUT_PICK, status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ),
    "anthropic": sse(
        MESSAGE_START, tool(0, A), input_piece(0, '{"n": 1}'), stop(0), *finish("max_tokens")
    ),
    "converse": aws(
        OPENED, *converse_call(0, A, '{"n": 1}'), ("messageStop", {"stopReason": "max_tokens"})
    ),
    "gemini": sse(parts(function_call(A)), parts(finish="MAX_TOKENS")),
    "ollama": ndjson(
        line(tool_calls=ollama_calls(A)), {**line(True), "done_reason": "length"}
    ),
}  # fmt: skip


@every_cut
@pytest.mark.parametrize("wire", CUT)
async def test_a_call_cut_off_by_the_limit(wire: str, size: int) -> None:
    """However whole it looks, it is never done, and the result says why."""
    heard = await hear(model(wire, CUT[wire], size), functions=FUNCTIONS)
    assert heard.result is not None
    assert heard.result.stop_reason == "length"
    [call] = heard.result.function_calls
    assert (call.input, heard.done) == ({}, [])
    assert call.input_error


# ---------------------------------------------------------------- ids and signatures


@every_cut
@pytest.mark.parametrize("ids", [("g", "g"), (None, None), ("", "g")])
async def test_ids_of_gemini_that_are_missing_or_taken(ids: tuple[Any, Any], size: int) -> None:
    """Both calls stay, under ids of their own."""
    chunks = [parts({"functionCall": {"id": one, "name": "pick", "args": {"n": n}}}) for n, one in enumerate(ids)]  # fmt: skip
    data = sse(*chunks, parts(finish="STOP"))
    heard = await hear(model("gemini", data, size), functions=FUNCTIONS)
    assert heard.result is not None
    calls = heard.result.function_calls
    assert [call.input for call in calls] == [{"n": 0}, {"n": 1}]
    assert len({call.function_id for call in calls} - {""}) == 2
    assert heard.done == calls


SIGNED: dict[str, list[list[dict[str, Any]]]] = {
    "the first of two calls": [
        [{"text": "Hm", "thought": True}],
        [function_call(A, thoughtSignature="Uzx=")],
        [function_call(B)],
    ],
    "text, its signature with its last piece": [
        [{"text": "H"}],
        [{"text": "i", "thoughtSignature": "Uzx="}],
    ],
    "a part of its own at the end": [
        [function_call(A, thoughtSignature="Uzx=")],
        [{"text": "", "thoughtSignature": "Uzy="}],
    ],
    "both calls signed": [
        [function_call(A, thoughtSignature="Uzx=")],
        [function_call(B, thoughtSignature="Uzy=")],
    ],
}


@every_cut
@pytest.mark.parametrize("kind", SIGNED)
async def test_signatures_of_gemini_go_back_as_they_came(kind: str, size: int) -> None:
    """One turn, its parts in order, each with its own signature or none."""
    chunks = SIGNED[kind]
    data = sse(*[parts(*chunk) for chunk in chunks], parts(finish="STOP"))
    heard = await hear(model("gemini", data, size), functions=FUNCTIONS)
    assert heard.result is not None
    assert "Hm" not in heard.result.text
    dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(heard.result)
    for call in heard.result.function_calls:
        dialogue.add_function_message("ok", call.name, call.function_id)
    body = model("gemini", b"").build_request(dialogue, functions=FUNCTIONS).body
    [turn] = [turn for turn in body["contents"] if turn["role"] == "model"]
    assert turn["parts"] == [part for chunk in chunks for part in chunk]


@every_cut
async def test_thinking_of_claude_goes_back_as_it_came(size: int) -> None:
    """Signed thinking, redacted thinking, text and call: the blocks of the whole message."""
    data = sse(
        MESSAGE_START, block(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="Hm"),
        delta(0, type="signature_delta", signature="EqQ="), stop(0),
        block(1, type="redacted_thinking", data="Emw="), stop(1),
        block(2, type="text", text=""), delta(2, type="text_delta", text="Hi"), stop(2),
        tool(3, A), input_piece(3, '{"n": 1}'), stop(3), *finish(),
    )  # fmt: skip
    heard = await hear(model("anthropic", data, size), functions=FUNCTIONS)
    assert heard.result is not None
    assert isinstance(heard.result.content[0], OutputResultReasoning)
    dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(heard.result)
    dialogue.add_function_message("ok", "pick", "a")
    body = model("anthropic", b"").build_request(dialogue, functions=FUNCTIONS).body
    [turn] = [turn for turn in body["messages"] if turn["role"] == "assistant"]
    assert turn["content"] == [
        {"type": "thinking", "thinking": "Hm", "signature": "EqQ="},
        {"type": "redacted_thinking", "data": "Emw="},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "a", "name": "pick", "input": {"n": 1}},
    ]
