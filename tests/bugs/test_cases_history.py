"""Ids, arguments and signatures that other clients lost or mixed up on the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bugs.handed import answer, body_of, handed, history, items, load, streamed

from llm_tools import create_callable_executor, create_dialogue, dispatch

SEARCH = {
    "name": "search",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
}
WEATHER = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def chat(*calls: dict[str, Any]) -> dict[str, Any]:
    """An answer of Chat Completions with these calls."""
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return {"id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def call(query: str, **fields: Any) -> dict[str, Any]:
    """One call of `search`."""
    function = {"name": "search", "arguments": json.dumps({"q": query})}
    return {"type": "function", "function": function, **fields}


async def check_each_runs(result: Any, queries: list[str]) -> None:
    """Every call runs once, in order, under an id of its own, and its result belongs to it."""
    ran: list[str] = []

    def handler(given: dict[str, Any]) -> str:
        ran.append(given["q"])
        return f"about {given['q']}"

    function = create_callable_executor(
        name="search", parameters=SEARCH["parameters"], handler=handler
    )
    ids = [use.function_id for use in result.function_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert [use.input for use in result.function_calls] == [{"q": query} for query in queries]
    results = await dispatch(result, [function])
    assert sorted(ran) == sorted(queries)
    assert [(item.function_id, item.content) for item in results] == [
        (function_id, f"about {query}") for function_id, query in zip(ids, queries, strict=True)
    ]
    dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(result)
    dialogue.add_from_results(results)
    for provider in ("openai_chat", "mistral", "openai_responses"):
        check_pairs(body_of(provider, dialogue.history), queries)


def check_pairs(body: dict[str, Any], queries: list[str]) -> None:
    """Calls and results on the wire are paired by id, and belong together."""
    calls, outputs = {}, {}
    for message in body.get("messages", body.get("input", [])):
        for made in message.get("tool_calls", []):
            calls[made["id"]] = json.loads(made["function"]["arguments"])["q"]
        if message.get("role") == "tool":
            outputs[message["tool_call_id"]] = message["content"]
        if message.get("type") == "function_call":
            calls[message["call_id"]] = json.loads(message["arguments"])["q"]
        if message.get("type") == "function_call_output":
            outputs[message["call_id"]] = message["output"]
    assert list(calls.values()) == queries
    assert outputs == {made: f"about {query}" for made, query in calls.items()}


# ---------------------------------------------------------------- ids


@handed
@pytest.mark.anyio
async def test_no_call_is_lost_to_its_id() -> None:
    """The same id twice, empty ones, missing ones, and one that a suffix would collide with."""
    bodies, expected = load("B26/bodies.json"), load("B26/expected.json")
    for name, body in bodies.items():
        rule = expected.get(name, {}).get(
            "executed", expected["every_two_call_body"]["executed_inputs_in_order"]
        )
        result = await answer("openai_chat", body, functions=[SEARCH])
        await check_each_runs(result, [item["q"] for item in rule])
    ollama = await answer("ollama", load("B26/ollama_no_ids.json"), functions=[SEARCH])
    await check_each_runs(ollama, ["x", "y"])


@handed
@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 1 << 20])
async def test_gemini_gives_one_call_per_chunk(size: int) -> None:
    """Both are kept; ids are kept where there are some, and sent back only then."""
    expected = load("B26/expected.json")["provider_ids_kept_when_unique"]
    for name, given in (("ids", expected), ("no_ids", None)):
        raw = load(f"B26/gemini_two_chunks_{name}.sse.txt")
        result = await streamed("gemini", raw, size=size, functions=[SEARCH])
        await check_each_runs(result, ["x", "y"])
        if given:
            assert [use.function_id for use in result.function_calls] == given
        dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(result)
        for use in result.function_calls:
            dialogue.add_function_message("r", use.name, use.function_id)
        contents = body_of("gemini", dialogue.history)["contents"]
        sent = [part["functionCall"].get("id") for part in contents[1]["parts"]]
        back = [part["functionResponse"].get("id") for part in contents[2]["parts"]]
        assert sent == back == (given or [None, None])


@handed
def test_an_id_that_is_used_again_stays_paired() -> None:
    """Turn by turn: nothing is dropped as a duplicate."""
    check_turns(history(load("B26/id_reused_next_turn_history.json")), [["rx"], ["ry"]])


def check_turns(said: list[dict[str, Any]], results: list[list[str]]) -> None:
    """Each turn's results stand behind it, under ids of their own."""
    for provider in ("openai_chat", "openrouter", "mistral", "deepseek"):
        messages = body_of(provider, said)["messages"]
        found, ids = [], []
        for position, message in enumerate(messages):
            if not message.get("tool_calls"):
                continue
            made = [item["id"] for item in message["tool_calls"]]
            behind = messages[position + 1 : position + 1 + len(made)]
            assert [item["tool_call_id"] for item in behind] == made
            found.append([item["content"] for item in behind])
            ids += made
        assert found == results
        assert len(set(ids)) == len(ids)
    items_ = body_of("openai_responses", said)["input"]
    ids = [item["call_id"] for item in items_ if item.get("type") == "function_call"]
    assert len(set(ids)) == len(ids)
    turns = body_of("anthropic", said)["messages"]
    assert [
        [block["content"] for block in turn["content"] if block["type"] == "tool_result"]
        for turn in turns
        if turn["role"] == "user"
        and isinstance(turn["content"], list)
        and any(block["type"] == "tool_result" for block in turn["content"])
    ] == results


def turn(*calls: tuple[str, str, str]) -> list[dict[str, Any]]:
    """A turn with calls as (id, query, result), and the results behind it."""
    uses = [
        {"type": "function_use", "name": "search", "input": {"q": query}, "functionId": function_id}
        for function_id, query, _ in calls
    ]
    return [
        {"role": "assistant", "content": uses},
        *[
            {"role": "function", "name": "search", "functionId": function_id, "content": result}
            for function_id, _, result in calls
        ],
    ]


@pytest.mark.parametrize(
    "turns",
    [
        [[("c", "x", "rx")], [("c", "y", "ry")], [("c", "z", "rz")]],
        [[("c", "x", "rx"), ("d", "y", "ry")], [("d", "z", "rz"), ("c", "w", "rw")]],
        [[("call:1", "x", "rx")], [("call_1", "y", "ry")], [("call:1", "z", "rz")]],
        [[("same" * 30, "x", "rx")], [("same" * 30, "y", "ry")]],
        [[("functions.search:0", "x", "rx")], [("functions.search:0", "y", "ry")]],
        [[("é", "x", "rx"), ("è", "y", "ry")]],
    ],
    ids=str,
)
def test_ids_that_are_used_again_or_illegal(turns: list[list[tuple[str, str, str]]]) -> None:
    """Reused, reordered, too long, of signs no wire takes: each pair stays a pair."""
    said = [{"role": "user", "content": "Hi"}]
    for calls in turns:
        said += turn(*calls)
    check_turns(said, [[result for _, _, result in calls] for calls in turns])


@pytest.mark.anyio
@pytest.mark.parametrize(
    "ids",
    [
        ["a", "a", "a"],
        ["", "a", ""],
        [None, "a", "a"],
        ["null", "null"],
        ["a", "a_1", "a"],
        ["a_2", "a", "a_1", "a", "a"],
        [" ", "  "],
        [0, 0],
        [17, "17"],
    ],
    ids=str,
)
async def test_ids_of_every_sort(ids: list[Any]) -> None:
    """Whatever the provider puts there, each call is its own."""
    queries = [f"q{n}" for n in range(len(ids))]
    body = chat(*[call(query, id=given) for query, given in zip(queries, ids, strict=True)])
    result = await answer("openai_chat", body, functions=[SEARCH])
    await check_each_runs(result, queries)
    given = [str(item) for item in ids]
    first = [use.function_id for use in result.function_calls]
    for position, function_id in enumerate(first):
        if isinstance(ids[position], str) and given.count(given[position]) == 1:
            assert function_id == given[position]


@pytest.mark.anyio
async def test_calls_with_the_same_name_and_input_are_two() -> None:
    """Neither name nor input is an identity."""
    body = chat(call("x", id="a"), call("x", id="b"))
    result = await answer("openai_chat", body, functions=[SEARCH])
    assert [use.function_id for use in result.function_calls] == ["a", "b"]
    assert len(await dispatch(result, [])) == 2


# ---------------------------------------------------------------- the shape of arguments

INPUT = {"cmd": "ls", "n": 2, "u": "é"}


@handed
def test_arguments_are_replayed_in_their_shape() -> None:
    """A JSON string or an object, as each wire has it; and no item id that is none."""
    raw = load("B27/history.json")
    check_shapes(history(raw), load("B27/expected.json"))


def check_shapes(said: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    """The one call of the history, wire by wire."""
    for provider in ("openai_chat", "vllm", "ollama_v1", "groq", "xai", "together"):
        message = body_of(provider, said)["messages"][1]
        (made,) = message["tool_calls"]
        wanted = expected["openai_chat.assistant.tool_calls[0]"]
        assert {key: made[key] for key in ("id", "type")} == {
            key: wanted[key] for key in ("id", "type")
        }
        assert made["function"]["name"] == "run"
        assert isinstance(made["function"]["arguments"], str)
        assert json.loads(made["function"]["arguments"]) == INPUT
        assert message.get("content") is None or isinstance(message["content"], str)
    (made,) = body_of("ollama", said)["messages"][1]["tool_calls"]
    assert made["function"] == expected["ollama_native.assistant.tool_calls[0]"]["function"]
    block = body_of("anthropic", said)["messages"][1]["content"][0]
    assert block == expected["anthropic"]
    block = body_of("bedrock_converse", said)["messages"][1]["content"][0]
    assert block == expected["bedrock_converse"]
    part = body_of("gemini", said)["contents"][1]["parts"][0]
    wanted = expected["gemini"]["functionCall"]
    assert {key: part["functionCall"][key] for key in wanted} == wanted
    made, output = body_of("openai_responses", said)["input"][1:3]
    assert json.loads(made.pop("arguments")) == INPUT
    assert made.pop("id", "fc_A").startswith("fc_")
    assert made == {"type": "function_call", "call_id": "call_A", "name": "run"}
    assert output == expected["openai_responses.input"][1]


SHAPES = {
    "openai_chat.assistant.tool_calls[0]": {"id": "call_A", "type": "function"},
    "ollama_native.assistant.tool_calls[0]": {"function": {"name": "run", "arguments": INPUT}},
    "anthropic": {"type": "tool_use", "id": "call_A", "name": "run", "input": INPUT},
    "bedrock_converse": {"toolUse": {"toolUseId": "call_A", "name": "run", "input": INPUT}},
    "gemini": {"functionCall": {"name": "run", "args": INPUT}},
    "openai_responses.input": [
        {},
        {"type": "function_call_output", "call_id": "call_A", "output": "a.txt"},
    ],
}
ANSWERS: dict[str, Any] = {
    "openai_chat": chat(
        {
            "id": "call_A",
            "type": "function",
            "function": {"name": "run", "arguments": json.dumps(INPUT)},
        }
    ),
    "vllm": chat(
        {"id": "call_A", "type": "function", "function": {"name": "run", "arguments": INPUT}}
    ),
    "openai_responses": {
        "id": "r",
        "status": "completed",
        "output": [
            {
                "type": "function_call",
                "id": "fc_A",
                "call_id": "call_A",
                "name": "run",
                "arguments": json.dumps(INPUT),
            }
        ],
    },
    "anthropic": {
        "id": "m",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "call_A", "name": "run", "input": INPUT}],
    },
    "bedrock_converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "call_A", "name": "run", "input": INPUT}}],
            }
        },
        "stopReason": "tool_use",
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"id": "call_A", "name": "run", "args": INPUT}}],
                },
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_A", "function": {"name": "run", "arguments": INPUT}}],
        },
        "done": True,
        "done_reason": "stop",
    },
}


@pytest.mark.anyio
@pytest.mark.parametrize("provider", ANSWERS)
async def test_a_call_of_any_provider_goes_to_every_other(provider: str) -> None:
    """Whoever made the call, each wire gets it in its own shape."""
    result = await answer(provider, ANSWERS[provider])
    dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(result)
    dialogue.add_function_message("a.txt", "run", "call_A")
    check_shapes(list(dialogue.history), SHAPES)
    again = type(dialogue).from_json(dialogue.to_json())
    check_shapes(list(again.history), SHAPES)


# ---------------------------------------------------------------- thought signatures


def signatures(body: dict[str, Any]) -> list[tuple[str, Any]]:
    """Each call of the model's turn with its signature."""
    (said,) = [content for content in body["contents"] if content["role"] == "model"]
    return [
        (part["functionCall"]["args"]["city"], part.get("thoughtSignature"))
        for part in said["parts"]
        if "functionCall" in part
    ]


def replayed(result: Any, provider: str = "gemini") -> dict[str, Any]:
    """The body of the next request, with a result for each call."""
    dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(result)
    for use in result.function_calls:
        dialogue.add_function_message("3", use.name, use.function_id)
    return body_of(provider, dialogue.history)


@handed
@pytest.mark.anyio
async def test_signatures_go_back_on_their_own_parts() -> None:
    """Whole and streamed: one turn of the model's, the value unchanged, siblings unsigned."""
    expected = load("B28/expected.json")
    result = await answer("gemini", load("B28/response.json"), functions=[WEATHER])
    check_normalized(result, expected["normalized"])
    assert "Thinking done." not in result.text
    wanted = expected["replay_of_response"]["signature_on_part"]
    assert signatures(replayed(result)) == [("Oslo", wanted["Oslo"]), ("Lima", None)]
    for size in (1, 64, 1 << 20):
        raw = load("B28/stream_signature_on_own_part.sse.txt")
        result = await streamed("gemini", raw, size=size, functions=[WEATHER])
        check_normalized(result, expected["normalized"])
        body = replayed(result)
        wanted = expected["replay_of_stream"]["signature_on_part"]
        assert signatures(body) == [("Oslo", wanted["Oslo"]), ("Lima", None)]
        lone = [part for part in body["contents"][1]["parts"] if "functionCall" not in part]
        assert lone in ([], [{"text": "", "thoughtSignature": "U0lHLUI="}])


def check_normalized(result: Any, expected: list[dict[str, Any]]) -> None:
    """The calls, with ids that are unique."""
    found = [item for item in items(result) if item["type"] == "function_use"]
    ids = [item.pop("functionId") for item in found]
    assert found == [
        {key: value for key, value in item.items() if key != "functionId"} for item in expected
    ]
    assert len(set(ids)) == len(ids)


PLACEHOLDER = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


@handed
def test_foreign_calls_get_a_placeholder_at_most_on_the_first() -> None:
    """Never on siblings."""
    said = history(load("B28/foreign_history.json"))
    (_, first), (_, second) = signatures(body_of("gemini", said))
    assert first in (None, PLACEHOLDER)
    assert second is None


def part(city: str, signature: str | None = None) -> dict[str, Any]:
    """One call of Gemini's."""
    made: dict[str, Any] = {"functionCall": {"name": "get_weather", "args": {"city": city}}}
    return made if signature is None else {**made, "thoughtSignature": signature}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "parts",
    [
        [part("Oslo", "QQ=="), part("Lima", "Qg==")],
        [part("Oslo"), part("Lima", "Qg==")],
        [{"text": "Hm.", "thought": True, "thoughtSignature": "VA=="}, part("Oslo", "QQ==")],
        [{"text": "Let me see.", "thoughtSignature": "VA=="}, part("Oslo", "QQ=="), part("Lima")],
        [part("Oslo", "QQ=="), {"text": "", "thoughtSignature": "VA=="}, part("Lima")],
        [part("Oslo", "QQ=="), part("Oslo"), part("Oslo", "Qg==")],
    ],
    ids=str,
)
async def test_signatures_stay_where_they_were(parts: list[dict[str, Any]]) -> None:
    """On text, on thoughts, on later siblings, on parts of their own: exactly as received."""
    content = {"role": "model", "parts": parts}
    body = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    result = await answer("gemini", body, functions=[WEATHER])
    sent = replayed(result)["contents"][1]["parts"]
    assert [item.get("thoughtSignature") for item in sent if "functionCall" in item] == [
        item.get("thoughtSignature") for item in parts if "functionCall" in item
    ]
    kept = {item["thoughtSignature"] for item in parts if "thoughtSignature" in item}
    assert {item["thoughtSignature"] for item in sent if "thoughtSignature" in item} == kept
    again = create_dialogue("d").add_user_message("Hi").add_from_output(result)
    again = type(again).from_json(again.to_json())
    for use in result.function_calls:
        again.add_function_message("3", use.name, use.function_id)
    assert body_of("gemini", again.history)["contents"][1]["parts"] == sent


@pytest.mark.anyio
async def test_signatures_do_not_cross_hosts() -> None:
    """What the Gemini API signed is nothing to Vertex, and other providers never see it."""
    content = {"role": "model", "parts": [part("Oslo", "QQ=="), part("Lima")]}
    body = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    result = await answer("gemini", body, functions=[WEATHER])
    for provider in ("vertex", "openai_chat", "anthropic", "bedrock_converse", "openai_responses"):
        assert "QQ==" not in json.dumps(replayed(result, provider))


def test_every_turn_of_a_foreign_history_is_legal() -> None:
    """Several turns: the first call of each may carry the placeholder, no sibling does."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
    for turns in range(3):
        uses = [
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": city},
                "functionId": f"{turns}{city}",
            }
            for city in ("Oslo", "Lima")
        ]
        said.append({"role": "assistant", "content": [{"type": "text", "text": "Hm."}, *uses]})
        said += [
            {
                "role": "function",
                "name": "get_weather",
                "functionId": use["functionId"],
                "content": "3",
            }
            for use in uses
        ]
    for content in body_of("gemini", said)["contents"]:
        if content["role"] == "model":
            made = [item for item in content["parts"] if "functionCall" in item]
            assert made[0].get("thoughtSignature") in (None, PLACEHOLDER)
            assert "thoughtSignature" not in made[1]
