"""Arguments that made other clients crash, run on nothing, or run on half."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pytest
from bugs.handed import answer, body_of, handed, items, load, model, scripted, streamed

from llm_tools import (
    CallableExecutor,
    create_callable_executor,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    dispatch,
)
from llm_tools.testing import ScriptedResponse, ScriptedTransport

PING = {"name": "ping"}
WEATHER = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
WIPE = {
    "name": "wipe_cache",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "x": {"type": "number"}},
    },
}
TIME = {
    "name": "get_time",
    "parameters": {
        "type": "object",
        "properties": {"tz": {"type": "string"}},
        "required": ["tz"],
    },
}
FILES = [
    {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
    {
        "name": "read_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
]


def chat(*arguments: Any, name: str = "ping", reason: str = "tool_calls", **message: Any) -> Any:
    """An answer of Chat Completions, one call for each of the arguments."""
    calls = [
        {"id": f"c_{n}", "type": "function", "function": {"name": name, "arguments": given}}
        for n, given in enumerate(arguments)
    ]
    said = {"role": "assistant", "content": None, "tool_calls": calls, **message}
    return {"id": "x", "choices": [{"index": 0, "finish_reason": reason, "message": said}]}


# ---------------------------------------------------------------- no arguments


def aws_frame(event: str, payload: dict[str, Any]) -> bytes:
    """One message of an AWS event stream."""
    headers = b""
    for name, value in (
        (":event-type", event),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ):
        headers += bytes([len(name)]) + name.encode() + b"\x07"
        headers += struct.pack(">H", len(value)) + value.encode()
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))


async def converse_stream(events: list[dict[str, Any]]) -> Any:
    """What comes of the events of a Converse stream."""
    frames = [aws_frame(*next(iter(event.items()))) for event in events]
    reply = ScriptedResponse(
        headers={"content-type": "application/vnd.amazon.eventstream"}, chunks=frames
    )
    llm = scripted("bedrock_converse", reply)
    async with llm.stream("Hi", functions=[PING]) as events_:
        async for _ in events_:
            pass
        return events_.result


@handed
@pytest.mark.anyio
async def test_no_arguments_are_an_empty_object() -> None:
    """However a provider says nothing, the function's input is `{}`."""
    expected = load("B16/expected.json")
    bodies = load("B16/openai_chat_bodies.json")
    for name in expected["input_is_{}"]:
        result = None
        if name.startswith(("openai_chat_bodies.json#", "#")):
            result = await answer("openai_chat", bodies[name.split("#")[1]], functions=[PING])
        elif name.startswith("anthropic"):
            result = await streamed("anthropic", load(f"B16/{name}"), functions=[PING])
        elif name.startswith("gemini"):
            result = await answer("gemini", load(f"B16/{name}"), functions=[PING])
        elif name.startswith("bedrock"):
            result = await converse_stream(load(f"B16/{name}"))
        assert result is not None, name
        (use,) = result.function_calls
        assert (use.name, use.input, use.input_error) == ("ping", {}, None), name
    for name in expected["either_{}_or_an_error_result_but_no_crash"]:
        result = await answer("openai_chat", bodies[name.split("#")[1]], functions=[PING])
        assert result.function_calls[0].input == {}


@handed
@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_a_placeholder_is_replaced(size: int) -> None:
    """The empty object in front of the real one is not glued to it, streamed or not."""
    for name in load("B16/expected.json")["input_is_{city:Oslo}"]:
        raw = load(f"B16/{name}")
        if name.endswith(".json"):
            result = await answer("openai_chat", raw, functions=[WEATHER])
        else:
            provider = "anthropic" if name.startswith("anthropic") else "openai_chat"
            result = await streamed(provider, raw, size=size, functions=[WEATHER])
        assert [use.input for use in result.function_calls] == [{"city": "Oslo"}], name


@handed
@pytest.mark.anyio
async def test_a_call_without_arguments_is_replayed_whole() -> None:
    """Each wire gets its own form of the empty object."""
    bodies = load("B16/openai_chat_bodies.json")
    for body in bodies.values():
        result = await answer("openai_chat", body, functions=[PING])
        check_empty_replay(create_dialogue("d").add_user_message("Hi").add_from_output(result))


def check_empty_replay(dialogue: Any) -> None:
    """The one call of the dialogue goes out with an empty object, everywhere."""
    use = dialogue.history[-1].content[0]
    dialogue.add_function_message("pong", use.name, use.function_id)
    said = dialogue.history
    chat_turn = body_of("openai_chat", said)["messages"][1]
    assert chat_turn["tool_calls"][0]["function"]["arguments"] == "{}"
    turn = body_of("anthropic", said)["messages"][1]
    assert turn["content"][0]["input"] == {}
    turn = body_of("bedrock_converse", said)["messages"][1]
    assert turn["content"][0]["toolUse"]["input"] == {}
    part = body_of("gemini", said)["contents"][1]["parts"][0]
    assert part["functionCall"].get("args", {}) == {}
    call = body_of("openai_responses", said)["input"][1]
    assert call["arguments"] == "{}"
    assert body_of("ollama", said)["messages"][1]["tool_calls"][0]["function"]["arguments"] == {}


@pytest.mark.anyio
@pytest.mark.parametrize("given", ["", " ", "\n\t", None, {}, "{}", " {} ", "null", "{ }"])
async def test_every_way_to_say_nothing(given: Any) -> None:
    """White space, null and empty objects, at every wire that may send them."""
    replies = {
        "openai_chat": chat(given),
        "mistral": chat(given),
        "ollama_v1": chat(given),
        "openai_responses": {
            "id": "r",
            "status": "completed",
            "output": [
                {"type": "function_call", "call_id": "c", "name": "ping", "arguments": given}
            ],
        },
        "anthropic": {
            "id": "m",
            "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "t", "name": "ping", "input": given}],
        },
        "bedrock_converse": {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "t", "name": "ping", "input": given}}],
                }
            },
            "stopReason": "tool_use",
        },
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"name": "ping", "args": given}}],
                    },
                    "finishReason": "STOP",
                }
            ]
        },
        "ollama": {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "ping", "arguments": given}}],
            },
            "done": True,
            "done_reason": "stop",
        },
    }
    for provider, reply in replies.items():
        result = await answer(provider, reply, functions=[PING])
        (use,) = result.function_calls
        assert (use.input, use.input_error) == ({}, None), provider


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("pieces", "input_"),
    [
        (["{}", '{"city":"Oslo"}'], {"city": "Oslo"}),
        (["{}", "", '{"city"', ':"Oslo"}'], {"city": "Oslo"}),
        (["{", "}", '{"city":"Oslo"}'], {"city": "Oslo"}),
        (["", '{"city":"Oslo"}'], {"city": "Oslo"}),
        (["{}"], {}),
        (["", ""], {}),
        (["null"], {}),
        (["{}{}"], {}),
        (["{} ", ' {"city":"Oslo"}'], {"city": "Oslo"}),
    ],
)
async def test_placeholders_in_streams_of_chat(pieces: list[str], input_: Any) -> None:
    """However the pieces fall, the real object counts."""
    deltas = [
        {"index": 0, "function": {"arguments": piece}, **({"id": "c"} if n == 0 else {})}
        for n, piece in enumerate(pieces)
    ]
    deltas[0]["function"]["name"] = "get_weather"  # type: ignore[index]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})  # type: ignore[list-item]
    raw = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    result = await streamed("openai_chat", raw + b"data: [DONE]\n\n", functions=[WEATHER])
    assert [(use.input, use.input_error) for use in result.function_calls] == [(input_, None)]
    whole = await answer(
        "openai_chat", chat("".join(pieces), name="get_weather"), functions=[WEATHER]
    )
    assert items(whole)[0]["input"] == input_


# ---------------------------------------------------------------- malformed arguments

REPAIRABLE = {
    "trailing": {"city": "Paris"},
    "xml_leak": {"city": "Paris"},
    "control_char": {"city": "a\nb"},
}


def runnable(definitions: list[Any], ran: list[Any]) -> list[CallableExecutor]:
    """The functions, with handlers that note what they were run on."""

    def make(name: str) -> Any:
        def handler(given: Any) -> str:
            ran.append((name, given))
            return "ok"

        return handler

    return [
        create_callable_executor(
            name=item["name"], parameters=item["parameters"], handler=make(item["name"])
        )
        for item in definitions
    ]


async def run_on(body: Any, definitions: list[Any]) -> tuple[list[Any], Any, list[Any]]:
    """Run the loop on an answer: what ran, the run, and the messages of the second request."""
    ran: list[Any] = []
    message = {"role": "assistant", "content": "Done."}
    done = {"id": "y", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    wire = ScriptedTransport([body, done])
    llm = model("openai_chat", transport=wire, api_key="sk-any")
    prompt = create_chat_prompt("Work.").add_user_message("{{ input }}")
    executor = create_llm_function_executor(llm=llm, prompt=prompt)
    outcome = await executor.run({"input": "Go"}, functions=runnable(definitions, ran))
    assert outcome.output == "Done."
    return ran, outcome, wire.requests[1].body["messages"]


@handed
@pytest.mark.anyio
@pytest.mark.parametrize(
    "name",
    ["array", "number", "string", "true", "unterminated", "js_style", "trailing", "nan", "control_char", "xml_leak"],
)  # fmt: skip
async def test_bad_arguments_never_run_as_nothing(name: str) -> None:
    """The good call runs; the bad one does not, and the model is told why."""
    body = load("B17/openai_bodies.json")[name]
    await check_bad_arguments(body, REPAIRABLE.get(name))


async def check_bad_arguments(body: Any, repaired: Any) -> None:
    """One bad call `c_bad` beside one good call `c_ok`."""
    raw = body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    result = await answer("openai_chat", body, functions=[WIPE, TIME])
    bad, good = result.function_calls
    assert good.input == {"tz": "CET"}
    ran, outcome, replayed = await run_on(body, [WIPE, TIME])
    assert ("get_time", {"tz": "CET"}) in ran
    results = {item.function_id: item for item in outcome.results}
    assert set(results) == {"c_bad", "c_ok"}
    assert not results["c_ok"].is_error
    if bad.input_error is None:
        assert bad.input == repaired
        assert "arguments_repaired" in [warning.code for warning in result.warnings]
    else:
        assert bad.input == {}
        assert bad.raw_input == (
            raw if isinstance(raw, str) else json.dumps(raw, separators=(",", ":"))
        )
        assert [name for name, _ in ran] == ["get_time"]
        assert results["c_bad"].is_error
        assert results["c_bad"].content
    turn = next(message for message in replayed if message["role"] == "assistant")
    for call in turn["tool_calls"]:
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    dialogue = create_dialogue("d").add_user_message("Go").add_from_output(result)
    dialogue.add_from_results(await dispatch(result, []))
    said = dialogue.history
    assert all(
        isinstance(block["input"], dict)
        for block in body_of("anthropic", said)["messages"][1]["content"]
        if block["type"] == "tool_use"
    )
    assert all(
        isinstance(part["functionCall"]["args"], dict)
        for part in body_of("gemini", said)["contents"][1]["parts"]
    )
    assert all(
        isinstance(block["toolUse"]["input"], dict)
        for block in body_of("bedrock_converse", said)["messages"][1]["content"]
    )


BAD: dict[str, Any] = {
    "an object inside an array": '[{"city":"Paris"}]',
    "false": "false",
    "zero": "0",
    "a float": "1e400",
    "infinity": '{"x":Infinity}',
    "minus infinity": '{"x":-Infinity}',
    "two real objects": '{"city":"Paris"}{"city":"Oslo"}',
    "words before": 'Sure: {"city":"Paris"}',
    "python words": "{'city': None, 'x': True",
    "cut in a string": '{"city":"Par',
    "cut after a colon": '{"city":',
    "cut after a comma": '{"city":"Paris",',
    "cut in an escape": '{"city":"Par\\u00',
    "only an opening brace": "{",
    "only a closing brace": "}",
    "a colon too few": '{"city" "Paris"}',
    "deep nesting": '{"a":' * 5000 + "1" + "}" * 5000,
    "xml": "<city>Paris</city>",
    "a comment": '{"city":"Paris" /* the capital */}',
    "a list of pairs": '[["city","Paris"]]',
    "a number as such": 7,
    "a list as such": ["oops"],
    "true as such": True,
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", BAD)
async def test_every_sort_of_bad_arguments(name: str) -> None:
    """No crash, no run on nothing, the raw text kept, the sibling run, the replay legal."""
    body = chat(BAD[name], name="wipe_cache")
    calls = body["choices"][0]["message"]["tool_calls"]
    calls[0]["id"] = "c_bad"
    calls.append(
        {
            "id": "c_ok",
            "type": "function",
            "function": {"name": "get_time", "arguments": '{"tz":"CET"}'},
        }
    )
    result = await answer("openai_chat", body, functions=[WIPE, TIME])
    assert result.function_calls[0].input_error
    await check_bad_arguments(body, None)


MENDED: dict[str, tuple[str, Any]] = {
    "a fence": ('```json\n{"city":"Paris"}\n```', {"city": "Paris"}),
    "a bare fence": ('```\n{"city":"Paris"}\n```', {"city": "Paris"}),
    "a trailing comma": ('{"city":"Paris",}', {"city": "Paris"}),
    "a trailing comma inside": ('{"tags":["a","b",],"x":1}', {"tags": ["a", "b"], "x": 1}),
    "single quotes": ("{'city': 'Paris'}", {"city": "Paris"}),
    "single quotes with an apostrophe": ("{'city': \"L'Aquila\"}", {"city": "L'Aquila"}),
    "encoded twice": ('"{\\"city\\":\\"Paris\\"}"', {"city": "Paris"}),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", MENDED)
async def test_what_is_mended_is_said(name: str) -> None:
    """A deterministic step, with a warning; and none of it where the caller wants none."""
    text, value = MENDED[name]
    body = chat(text, name="wipe_cache")
    result = await answer("openai_chat", body, functions=[WIPE])
    (use,) = result.function_calls
    assert (use.input, use.input_error, use.raw_input) == (value, None, text)
    assert [warning.code for warning in result.warnings] == ["arguments_repaired"]
    llm = scripted("openai_chat", body, repair_arguments=False)
    (strict,) = (await llm.call("Hi", functions=[WIPE])).function_calls
    assert strict.input == {}
    assert strict.input_error


@pytest.mark.anyio
async def test_numbers_stay_exact_and_half_characters_do_no_harm() -> None:
    """Integers of any size, and surrogates that lack their other half."""
    text = '{"n":123456789012345678901234567890,"s":"\\ud83d","t":"\\ud83d\\ude00"}'
    result = await answer("openai_chat", chat(text), functions=[PING])
    assert result.function_calls[0].input == {
        "n": 123456789012345678901234567890,
        "s": "\ufffd",
        "t": "😀",
    }


# ---------------------------------------------------------------- cut off


@handed
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai_length_cut_json", "openai_chat"),
        ("openai_length_valid_prefix", "openai_chat"),
        ("openai_length_first_complete", "openai_chat"),
        ("router_says_tool_calls_but_cut", "openai_chat"),
        ("anthropic_max_tokens", "anthropic"),
        ("gemini_max_tokens", "gemini"),
    ],
)
async def test_a_call_that_was_cut_off_never_runs(name: str, provider: str) -> None:
    """`write_file` runs from none of these; the model is told that it was cut off."""
    expected, body = load("B18/expected.json"), load(f"B18/{name}.json")
    result = await answer(provider, body, functions=FILES)
    if f"{name}.json" in expected:
        assert items(result) == expected[f"{name}.json"]["content"]
        assert result.stop_reason == expected[f"{name}.json"]["finish"]
        return
    assert result.stop_reason == "length" or result.function_calls[-1].input_error
    await check_never_runs(result)


async def check_never_runs(result: Any) -> None:
    """`write_file` does not run, its result is an error, and the history stays sendable."""
    ran: list[Any] = []
    results = await dispatch(result, runnable(FILES, ran))
    assert "write_file" not in [name for name, _ in ran]
    assert [item.function_id for item in results] == [
        use.function_id for use in result.function_calls
    ]
    for use, item in zip(result.function_calls, results, strict=True):
        if use.name == "write_file":
            assert item.is_error
            assert item.content
    dialogue = create_dialogue("d").add_user_message("Go").add_from_output(result)
    dialogue.add_from_results(results)
    for provider in ("openai_chat", "anthropic", "gemini", "bedrock_converse"):
        body_of(provider, dialogue.history, functions=FILES)


CUT: dict[str, tuple[str, Any]] = {
    "openai_chat": (
        "openai_chat",
        chat('{"path":"a","content":"whole"}', name="write_file", reason="length"),
    ),
    "mistral's own word": (
        "mistral",
        chat('{"path":"a","content":"whole"}', name="write_file", reason="model_length"),
    ),
    "an empty string": ("openai_chat", chat("", name="write_file", reason="length")),
    "the last of two": (
        "openai_chat",
        {
            "id": "x",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "length",
                    "message": {
                        "role": "assistant",
                        "content": "Writing.",
                        "tool_calls": [
                            {
                                "id": f"c{n}",
                                "type": "function",
                                "function": {
                                    "name": name,
                                    "arguments": '{"path":"a","content":"b"}',
                                },
                            }
                            for n, name in enumerate(("read_file", "write_file"))
                        ],
                    },
                }
            ],
        },
    ),
    "responses": (
        "openai_responses",
        {
            "id": "r",
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "write_file",
                    "arguments": '{"path":"a","content":"b"}',
                    "status": "incomplete",
                }
            ],
        },
    ),
    "converse": (
        "bedrock_converse",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {
                            "toolUse": {
                                "toolUseId": "t",
                                "name": "write_file",
                                "input": {"path": "a", "content": ""},
                            }
                        }
                    ],
                }
            },
            "stopReason": "max_tokens",
        },
    ),
    "converse, the context is full": (
        "bedrock_converse",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "t", "name": "write_file", "input": {}}}],
                }
            },
            "stopReason": "model_context_window_exceeded",
        },
    ),
    "anthropic, the context is full": (
        "anthropic",
        {
            "id": "m",
            "stop_reason": "model_context_window_exceeded",
            "content": [
                {"type": "tool_use", "id": "t", "name": "write_file", "input": {"path": "a"}}
            ],
        },
    ),
    "gemini": (
        "gemini",
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {
                                "functionCall": {
                                    "name": "write_file",
                                    "args": {"path": "a", "content": "b"},
                                }
                            }
                        ],
                    },
                    "finishReason": "MAX_TOKENS",
                }
            ]
        },
    ),
    "ollama": (
        "ollama",
        {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "function": {
                            "name": "write_file",
                            "arguments": {"path": "a", "content": "b"},
                        }
                    }
                ],
            },
            "done": True,
            "done_reason": "length",
        },
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", CUT)
async def test_the_last_call_of_a_cut_answer_never_runs(name: str) -> None:
    """However whole its JSON looks, and whatever the provider calls the limit."""
    provider, body = CUT[name]
    result = await answer(provider, body, functions=FILES)
    assert result.stop_reason == "length"
    assert "cut off" in (result.function_calls[-1].input_error or "")
    assert result.function_calls[-1].input == {}
    if len(result.function_calls) > 1:
        assert result.function_calls[0].input_error is None
    await check_never_runs(result)


@pytest.mark.anyio
async def test_the_model_is_told_that_its_call_was_cut_off() -> None:
    """In a run, the result of the call says so, and the run goes on."""
    ran, outcome, replayed = await run_on(CUT["openai_chat"][1], FILES)
    assert ran == []
    assert [item.is_error for item in outcome.results] == [True]
    assert replayed[-1]["role"] == "tool"
    assert "cut off" in replayed[-1]["content"]
