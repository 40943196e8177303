"""The local server over real sockets, on a scripted engine."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest
from local.scripted_engine import KEY, BreaksOff, HangsUp, HoldsOn, Refuses, ScriptedEngine, said

from llm_tools.integrations.local.front import Front, Service
from llm_tools.integrations.local.seats import Seats

pytestmark = pytest.mark.anyio
CHAT = "/v1/chat/completions"
HELLO = {"model": "smollm2", "messages": [{"role": "user", "content": "Hello"}]}
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
PING = {"type": "function", "function": {"name": "ping"}}


@pytest.fixture
def front(engine: ScriptedEngine) -> Iterator[Front]:
    service = Service("secret", ("smollm2", "file"), engine.address, Seats(1))
    with Front(service) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
async def client(front: Front) -> Any:
    origin = front.base_url.removesuffix("/v1")
    headers = {"authorization": "Bearer secret"}
    async with httpx.AsyncClient(base_url=origin, headers=headers, trust_env=False) as client:
        yield client


async def ask(client: httpx.AsyncClient, **changes: Any) -> httpx.Response:
    return await client.post(CHAT, json={**HELLO, **changes})


def error_of(response: httpx.Response) -> tuple[int, str | None, str | None]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"]


async def test_text_is_an_openai_answer(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """A plain answer has OpenAI's whole shape, and the engine gets its own key and defaults."""
    engine.answers = [said("Hel", "lo.", tokens=2, cached=4)]
    response = await ask(client)
    answer = response.json()
    assert answer.pop("id").startswith("chatcmpl-")
    assert isinstance(answer.pop("created"), int)
    assert answer == {
        "object": "chat.completion",
        "model": "smollm2",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello.", "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }
    assert engine.keys == [f"Bearer {KEY}"]
    assert engine.prompt() == [("system", "You are a helpful assistant."), ("user", "Hello")]
    asked = {name: value for name, value in engine.asked[0].items() if name != "messages"}
    assert asked == {
        "max_tokens": 256,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "seed": 1,
    }


async def test_sampling_is_passed_on(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """What the client sets of sampling and length reaches the engine."""
    engine.answers = [said("x", reason="length")]
    response = await ask(
        client, temperature=0.5, top_p=0.9, seed=7, stop=["\n"], max_completion_tokens=9,
        frequency_penalty=1, presence_penalty=-1,
    )  # fmt: skip
    assert response.json()["choices"][0]["finish_reason"] == "length"
    asked = engine.asked[0]
    assert [asked[name] for name in ("temperature", "top_p", "seed", "stop", "max_tokens")] == [
        0.5, 0.9, 7, ["\n"], 9,
    ]  # fmt: skip
    assert (asked["frequency_penalty"], asked["presence_penalty"]) == (1, -1)


async def test_required_is_choose_then_fill(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """With several functions a forced call takes two steps, whose tokens are added up."""
    engine.answers = [said('{"name": "add"}', tokens=3), said('{"a": 1, ', '"b": 2}', tokens=4)]
    response = await ask(client, tools=[PING, ADD], tool_choice="required")
    choice = response.json()["choices"][0]
    [call] = choice["message"]["tool_calls"]
    assert call.pop("id").startswith("call_")
    assert call == {
        "type": "function",
        "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
    }
    assert choice["message"]["content"] is None
    assert choice["finish_reason"] == "tool_calls"
    assert response.json()["usage"]["completion_tokens"] == 7
    chosen, filled = engine.asked
    assert chosen["response_format"]["json_schema"]["schema"]["properties"] == {
        "name": {"enum": ["ping", "add"]}
    }
    assert "logit_bias" not in chosen
    assert filled["response_format"]["json_schema"]["schema"] == {
        **ADD["function"]["parameters"],  # type: ignore[dict-item]
        "additionalProperties": False,
    }
    assert engine.prompt()[-1] == (
        "user",
        "Function: add(a: integer, b: integer) - Add.\nRequest: Hello",
    )


async def test_named_skips_choosing(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """A named function is filled at once; stop sequences do not reach its JSON."""
    engine.answers = [said('{"a": 1, "b": 2}')]
    named = {"type": "function", "function": {"name": "add"}}
    response = await ask(
        client, tools=[PING, ADD], tool_choice=named, stop="1", parallel_tool_calls=False
    )
    call = response.json()["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["name"] == "add"
    assert "stop" not in engine.asked[0]


async def test_function_without_parameters_needs_no_engine(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """Where there is nothing to fill in, the call is made as it stands."""
    response = await ask(client, tools=[PING], tool_choice="required")
    call = response.json()["choices"][0]["message"]["tool_calls"][0]
    assert call["function"] == {"name": "ping", "arguments": "{}"}
    assert engine.asked == []


async def test_allowed_tools_narrow_the_choice(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """`allowed_tools` is a choice among some, forced or free."""
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "ping"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    response = await ask(client, tools=[PING, ADD], tool_choice=choice)
    call = response.json()["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["name"] == "ping"
    allowed["mode"] = "auto"
    engine.answers = [said('{"name": "none"}'), said("Hi.")]
    response = await ask(client, tools=[PING, ADD], tool_choice=choice)
    assert response.json()["choices"][0]["message"]["content"] == "Hi."
    assert engine.asked[0]["response_format"]["json_schema"]["schema"]["properties"] == {
        "name": {"enum": ["none", "ping"]}
    }


@pytest.mark.parametrize("choice", ["auto", None])
async def test_auto_may_decline(
    client: httpx.AsyncClient, engine: ScriptedEngine, choice: str | None
) -> None:
    """With a free choice the model may answer in text; a function called `none` stays callable."""
    none = {"type": "function", "function": {"name": "none"}}
    engine.answers = [said('{"name": "none_"}'), said("Hi.")]
    response = await ask(client, tools=[none], tool_choice=choice)
    assert response.json()["choices"][0]["message"]["content"] == "Hi."
    assert engine.asked[0]["logit_bias"] == [["none_", -2.0]]
    engine.answers = [said('{"name": "none"}')]
    response = await ask(client, tools=[none], tool_choice=choice)
    [call] = response.json()["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "none"


async def test_results_are_put_into_words(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """After results a free choice is the answer about them, read as `key: value`."""
    calls = [
        {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}},
        {"id": "2", "type": "function", "function": {"name": "ping", "arguments": "{}"}},
    ]
    messages = [
        {"role": "user", "content": "Add 1 and 2."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": '{"sum": 3, "of": [1, {"x": 2}]}'},
        {"role": "tool", "tool_call_id": "2", "content": "pong"},
    ]
    engine.answers = [said("It is 3.")]
    response = await ask(client, messages=messages, tools=[PING, ADD])
    assert response.json()["choices"][0]["message"]["content"] == "It is 3."
    assert engine.prompt()[-1] == (
        "user",
        "Add 1 and 2.\nResult: sum: 3, of: 1, x: 2; pong",
    )
    assert engine.asked[0]["max_tokens"] == 80


async def test_a_forced_call_is_made_after_results_too(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """Results do not turn a forced call into text."""
    call = {"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "pong"},
    ]
    response = await ask(client, messages=messages, tools=[PING], tool_choice="required")
    assert response.json()["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("wanted", "schema"),
    [
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}},
            {"type": "integer"},
        ),
        ({"type": "text"}, None),
    ],
)
async def test_response_format(
    client: httpx.AsyncClient, engine: ScriptedEngine, wanted: Any, schema: Any
) -> None:
    """A schema holds the text; plain text has none."""
    engine.answers = [said("12")]
    response = await ask(client, response_format=wanted)
    assert response.json()["choices"][0]["message"]["content"] == "12"
    sent = engine.asked[0].get("response_format")
    assert (sent and sent["json_schema"]["schema"]) == schema


async def test_json_object_is_an_object_of_simple_values(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """`json_object` is held to an object that cannot nest for ever."""
    engine.answers = [said('{"x": 1}')]
    await ask(client, response_format={"type": "json_object"})
    schema = engine.asked[0]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object"
    assert {"type": "boolean"} in schema["additionalProperties"]["anyOf"]


def stream_of(response: httpx.Response) -> list[Any]:
    events = response.text.split("\n\n")
    assert events.pop() == ""
    assert all(event.startswith("data: ") for event in events)
    return [event.removeprefix("data: ") for event in events]


def deltas(payloads: list[str]) -> list[Any]:
    return [
        (choice["delta"], choice["finish_reason"])
        for payload in payloads
        for choice in json.loads(payload)["choices"]
    ]


async def test_text_stream(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """Pieces come as they are written, then the reason, then the end mark; no usage unasked."""
    engine.answers = [said("Hel", "lo.")]
    response = await ask(client, stream=True)
    assert response.headers["content-type"] == "text/event-stream"
    *payloads, done = stream_of(response)
    assert done == "[DONE]"
    assert "usage" not in "".join(payloads)
    assert deltas(payloads) == [
        ({"role": "assistant", "content": "Hel", "refusal": None}, None),
        ({"content": "lo."}, None),
        ({}, "stop"),
    ]


async def test_call_stream_with_usage(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """A call opens with its name, its arguments follow, and the usage has a chunk of its own."""
    engine.answers = [said('{"a": 1, ', '"b": 2}')]
    response = await ask(
        client, tools=[ADD], tool_choice="required", stream=True,
        stream_options={"include_usage": True},
    )  # fmt: skip
    *payloads, usage, _ = stream_of(response)
    (opening, _), *others = deltas(payloads)
    [call] = opening.pop("tool_calls")
    assert opening == {"role": "assistant", "content": None, "refusal": None}
    assert call.pop("id").startswith("call_")
    assert call == {
        "index": 0,
        "type": "function",
        "function": {"name": "add", "arguments": ""},
    }
    assert others == [
        ({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": 1, '}}]}, None),
        ({"tool_calls": [{"index": 0, "function": {"arguments": '"b": 2}'}}]}, None),
        ({}, "tool_calls"),
    ]
    assert '"choices":[]' in usage
    assert '"total_tokens":15' in usage


async def test_empty_stream_has_its_role(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """A model that says nothing still sends a whole stream."""
    engine.answers = [said()]
    *payloads, _ = stream_of(await ask(client, stream=True))
    assert deltas(payloads) == [({"role": "assistant", "content": "", "refusal": None}, "stop")]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (said('{"a": 1', reason="length"), "output_limit", "cut off after 256 tokens"),
        (said('{"a": 1}'), "schema_not_supported", "The arguments of add"),
        (said("{"), "schema_not_supported", "The arguments of add"),
    ],
)
async def test_no_invalid_call_is_passed_on(
    client: httpx.AsyncClient,
    engine: ScriptedEngine,
    answer: Any,
    code: str,
    words: str,
    stream: bool,
) -> None:
    """A call that does not fit its schema is a typed error, in a stream as its last event."""
    engine.answers = [answer]
    response = await ask(client, tools=[ADD], tool_choice="required", stream=stream)
    if stream:
        *_, last = stream_of(response)
        assert f'"code":"{code}"' in last
        assert words in last
    else:
        assert error_of(response) == (400, code, None)
        assert words in response.json()["error"]["message"]


async def test_json_text_is_checked(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """Text that breaks its schema is an error; text that was cut off says so."""
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}}
    engine.answers = [said('"x"'), said("1", reason="length")]
    response = await ask(client, response_format=wanted)
    assert error_of(response) == (400, "schema_not_supported", None)
    response = await ask(client, response_format=wanted)
    assert response.json()["choices"][0]["finish_reason"] == "length"


async def test_a_name_that_does_not_end(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """A choice that was cut off is no choice."""
    engine.answers = [said('{"name": "ad', reason="length")]
    response = await ask(client, tools=[ADD, PING], tool_choice="required")
    assert error_of(response) == (400, "output_limit", None)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            Refuses(
                400,
                b'{"error":{"code":400,"message":"9 tokens","type":"exceed_context_size_error"}}',
            ),
            (400, "context_length_exceeded", "messages"),
        ),
        (
            Refuses(400, b'{"error":{"message":"JSON schema error at #: unrecognized type frog"}}'),
            (400, "schema_not_supported", None),
        ),
        (Refuses(500, b"<html>"), (500, None, None)),
        (HangsUp(), (500, None, None)),
        (BreaksOff(), (500, None, None)),
        ([{"error": {"message": "out of memory"}}], (500, None, None)),
        ([], (500, None, None)),
    ],
    ids=["too long", "bad schema", "fails", "hangs up", "breaks off", "error event", "no end mark"],
)
async def test_errors_of_the_engine(
    client: httpx.AsyncClient, engine: ScriptedEngine, answer: Any, expected: Any, stream: bool
) -> None:
    """What the engine refuses before its first word is an HTTP error, streamed or not."""
    engine.answers = [answer]
    assert error_of(await ask(client, stream=stream)) == expected


async def test_a_stream_that_breaks_has_no_end_mark(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """An engine that dies in the middle of a stream leaves an error event, never `[DONE]`."""
    engine.answers = [BreaksOff("Hel")]
    first, last = stream_of(await ask(client, stream=True))
    assert '"content":"Hel"' in first
    assert last == (
        '{"error":{"message":"The local model broke off.","type":"server_error",'
        '"param":null,"code":null}}'
    )


@pytest.mark.parametrize(
    ("changes", "param", "words"),
    [
        ({"messages": []}, "messages", "length >= 1"),
        ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role", "king"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "needs content"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "role"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages[0].content[0]",
            "image_url",
        ),
        ({"tool_choice": "always"}, "tool_choice", "always"),
        ({"tool_choice": "required"}, "tool_choice", "needs tools"),
        ({"tool_choice": "auto", "tools": []}, "tool_choice", "needs tools"),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice", "needs tools"),
        ({"tools": [{"name": "x"}]}, "tools[0].type", "type"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name", "regex"),
        ({"tools": [PING, PING]}, "tools[1].function", "two functions called ping"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]},
            "tools[0].function.parameters",
            "object",
        ),
        (
            {"tools": [PING], "tool_choice": {"type": "function", "function": {"name": "pong"}}},
            "tool_choice",
            "names pong; the tools are ping",
        ),
        (
            {"tools": [PING], "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}},
            "tool_choice",
            "no function",
        ),
        ({"n": 2}, "n", "<= 1"),
        ({"logprobs": True}, "logprobs", "logprobs"),
        ({"temperature": 3}, "temperature", "<= 2"),
        ({"max_tokens": 0}, "max_tokens", ">= 1"),
        ({"stop": list("abcde")}, "stop", "length <= 4"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "xml"),
        ({"model": 1}, "model", "str"),
    ],
)  # fmt: skip
async def test_mistakes_of_the_client_are_400(
    client: httpx.AsyncClient, engine: ScriptedEngine, changes: Any, param: str, words: str
) -> None:
    """Each mistake names the field at fault and never reaches the engine."""
    response = await ask(client, **changes)
    status, _, found = error_of(response)
    assert (status, found) == (400, param)
    assert words in response.json()["error"]["message"]
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert engine.asked == []


CALL = {"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "tool", "tool_call_id": "1", "content": "x"}],
        [{"role": "assistant", "tool_calls": [CALL]}],
        [{"role": "assistant", "tool_calls": [CALL]}, {"role": "user", "content": "x"}],
        [
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "2", "content": "x"},
        ],
        [
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "1", "content": "x"},
            {"role": "tool", "tool_call_id": "1", "content": "x"},
        ],
    ],
    ids=["no call", "no result", "no result yet", "another's result", "answered twice"],
)
async def test_calls_and_results_belong_together(client: httpx.AsyncClient, messages: Any) -> None:
    """A history whose calls and results do not match is a 400, as at OpenAI."""
    response = await ask(client, messages=messages)
    assert response.status_code == 400


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"model": "\xff"}', b"[" * 100_000])
async def test_bodies_that_are_no_request(client: httpx.AsyncClient, body: bytes) -> None:
    """Whatever bytes come, the answer is a 400 in OpenAI's form."""
    response = await client.post(CHAT, content=body)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


async def test_deeply_nested_schema_is_refused(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """A schema too deep to walk is the client's mistake, not ours."""
    schema = '{"type":"array","items":' * 900 + "{}" + "}" * 900
    body = (
        '{"model":"smollm2","messages":[{"role":"user","content":"x"}],"response_format":'
        '{"type":"json_schema","json_schema":{"name":"n","schema":' + schema + "}}}"
    )
    response = await client.post(CHAT, content=body)
    assert response.status_code == 400
    assert engine.asked == []


async def test_text_and_refusals_of_the_history(
    client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """An ordinary conversation goes to the model turn by turn."""
    engine.answers = [said("Yes.")]
    await ask(
        client,
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "A?"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "user", "content": [{"type": "text", "text": "B?"}]},
        ],
    )
    assert engine.prompt() == [
        ("system", "Be brief."),
        ("user", "A?"),
        ("assistant", "No."),
        ("user", "B?"),
    ]


async def test_other_paths_methods_and_keys(client: httpx.AsyncClient) -> None:
    """Health is open, everything else wants the key; wrong paths and methods say so."""
    nobody = {"authorization": "Bearer wrong"}
    assert (await client.get("/health", headers=nobody)).json() == {"status": "ok"}
    models = (await client.get("/v1/models")).json()
    assert [model["id"] for model in models["data"]] == ["smollm2", "file"]
    for method, path, headers, expected in (
        ("GET", "/v1/models", nobody, (401, "invalid_api_key", None)),
        ("POST", CHAT, nobody, (401, "invalid_api_key", None)),
        ("GET", CHAT, {}, (405, None, None)),
        ("POST", "/v1/models", {}, (405, None, None)),
        ("GET", "/v1/files", {}, (404, None, None)),
        ("DELETE", CHAT, {}, (501, None, None)),
    ):
        response = await client.request(method, path, headers=headers)
        assert error_of(response) == expected, (method, path)
    assert error_of(await ask(client, model="gpt-4o")) == (404, "model_not_found", "model")


async def test_a_body_without_length_is_refused(client: httpx.AsyncClient) -> None:
    """A chunked body is refused, and the connection is closed."""

    async def pieces() -> Any:
        yield b"{}"

    response = await client.post(CHAT, content=pieces())
    assert (response.status_code, response.headers["connection"]) == (411, "close")


def test_a_huge_body_is_refused_unread(front: Front) -> None:
    """A body beyond the limit is refused by its head alone."""
    received = exchange(front, f"POST {CHAT} HTTP/1.1\r\nContent-Length: {1 << 30}\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in received


def post(body: Any, more: str = "") -> bytes:
    data = json.dumps(body).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n{more}"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


def exchange(front: Front, request: str) -> bytes:
    with socket.create_connection(front.server_address[:2]) as connection:  # type: ignore[arg-type]
        connection.sendall(request.encode())
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


async def test_a_client_that_leaves_stops_the_engine(
    front: Front, client: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    """Cancelling a call hangs up on the engine at once, and its place is free again."""
    held = HoldsOn("Once")
    engine.answers = [held, said("Hi.")]
    async with anyio.create_task_group() as group:
        group.start_soon(ask, client)
        await anyio.to_thread.run_sync(held.started.wait)
        group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(held.hung_up.wait, 30)
    response = await ask(client)
    assert response.json()["choices"][0]["message"]["content"] == "Hi."


def test_a_stream_left_early_stops_the_engine(front: Front, engine: ScriptedEngine) -> None:
    """Leaving a stream after its first piece hangs up on the engine."""
    held = HoldsOn("Once", " upon")
    engine.answers = [held]
    with socket.create_connection(front.server_address[:2]) as connection:  # type: ignore[arg-type]
        connection.sendall(post({**HELLO, "stream": True}))
        received = b""
        while b"Once" not in received:
            received += connection.recv(65536)
    assert held.hung_up.wait(30)


@pytest.mark.parametrize("abruptly", [False, True])
def test_a_client_that_leaves_the_line_is_forgotten(
    front: Front, engine: ScriptedEngine, abruptly: bool
) -> None:
    """A request whose client is gone before its turn never reaches the engine."""
    held = HoldsOn("a")
    engine.answers = [held, said("b")]
    address: Any = front.server_address[:2]
    line = front.service.seats._line
    with socket.create_connection(address) as first:
        first.sendall(post(HELLO))
        assert held.started.wait(5)
        with socket.create_connection(address) as second:
            second.sendall(post(HELLO))
            wait_until(lambda: len(line) == 1)
            if abruptly:
                second.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wait_until(lambda: not line)
        with socket.create_connection(address) as third:
            third.sendall(post(HELLO, "Connection: close\r\n"))
            wait_until(lambda: len(line) == 1)
            held.go_on.set()
            received = b""
            while piece := third.recv(65536):
                received += piece
    assert b'"content":"b"' in received
    assert len(engine.asked) == 2


def wait_until(happened: Callable[[], bool]) -> None:
    """For what can only be looked at."""
    pause = threading.Event()
    while not happened():
        pause.wait(0.005)


async def test_requests_wait_for_a_seat(client: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    """With the one seat taken, the others wait, and then all are served."""
    held = HoldsOn("a")
    engine.answers = [held, *[said(str(number)) for number in range(5)]]
    order: list[str] = []

    async def one(name: str) -> None:
        response = await ask(client, messages=[{"role": "user", "content": name}])
        order.append(response.json()["choices"][0]["message"]["content"])

    async with anyio.create_task_group() as group:
        group.start_soon(one, "first")
        await anyio.to_thread.run_sync(held.started.wait)
        for number in range(5):
            group.start_soon(one, str(number))
        held.go_on.set()
    assert sorted(order) == ["0", "1", "2", "3", "4", "a"]
    assert order[0] == "a"


def test_a_second_request_may_wait_behind_the_first(front: Front, engine: ScriptedEngine) -> None:
    """Requests sent without waiting are answered one after the other on their connection."""
    held = HoldsOn("a")
    engine.answers = [held, said("b")]
    with socket.create_connection(front.server_address[:2]) as connection:  # type: ignore[arg-type]
        connection.sendall(post(HELLO))
        held.started.wait()
        connection.sendall(post(HELLO, "Connection: close\r\n"))
        held.go_on.set()
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert received.index(b'"content":"a"') < received.index(b'"content":"b"')


def test_malformed_http_is_answered_in_json(front: Front) -> None:
    """Even a line that is no request gets an error body."""
    assert b'"type":"invalid_request_error"' in exchange(front, "GET / SPDY/9\r\n\r\n")
