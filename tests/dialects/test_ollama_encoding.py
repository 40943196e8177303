"""Calls as bodies of Ollama's `/api/chat`."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from dialects.google_and_ollama import (
    CITY_SCHEMA,
    FUNCTIONS,
    PING,
    WEATHER,
    body_of,
    codes,
    encoded,
    golden,
    make_call,
    target_of,
)

from llm_tools.errors import ConfigurationError, UnsupportedOptionError
from llm_tools.spec import SUPPORT_OPTIONS

PIXEL = "iVBORw0KGgo="
TOOLS = [
    {"type": "function", "function": WEATHER},
    {"type": "function", "function": PING | {"parameters": {"type": "object", "properties": {}}}},
]

RICH = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Compare."},
            {"type": "text", "text": "Please."},
            {"type": "image", "data": PIXEL, "mediaType": "image/png"},
            {"type": "image", "url": f"data:image/png;base64,{PIXEL}"},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {
                "type": "reasoning",
                "text": "Two cities.",
                "providerMetadata": {"ollama": {"thinking": True}},
            },
            {"type": "reasoning", "text": "Elsewhere.", "providerMetadata": {"google": {}}},
            {"type": "text", "text": "Check"},
            {"type": "text", "text": "ing."},
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Oslo", "n": 2},
                "functionId": "c_1",
            },
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_2"},
        ],
    },
    {"role": "function", "name": "get_weather", "functionId": "c_1", "content": {"t": 3}},
    {
        "role": "function",
        "name": "ping",
        "functionId": "c_2",
        "content": [
            {"type": "text", "text": "gone"},
            {"type": "image", "data": PIXEL, "mediaType": "image/png"},
        ],
        "isError": True,
    },
    {"role": "system", "content": "Be kind, too."},
    {"role": "user", "content": "Which?"},
]


def test_the_smallest_body() -> None:
    """`stream` is always said, since the server's default is to stream."""
    message = {"role": "user", "content": "Hi"}
    assert body_of("ollama", "qwen3") == {"model": "qwen3", "stream": False, "messages": [message]}
    assert body_of("ollama", "qwen3", stream=True)["stream"] is True


def test_a_rich_history() -> None:
    """Images, own thinking, calls, an error, a late system message: one golden body."""
    encoding = encoded("ollama", "qwen3", RICH, functions=FUNCTIONS)
    assert json.loads(msgspec.json.encode(encoding.body)) == golden("ollama_rich")
    assert codes(encoding) == ["reasoning_left_out", "image_moved"]


@pytest.mark.parametrize("choice", [None, "auto"])
def test_auto_is_tools_alone(choice: str | None) -> None:
    """Offering functions is all the wire can say; parameters always have properties."""
    encoding = encoded("ollama", "qwen3", functions=FUNCTIONS, function_call=choice)
    assert json.loads(msgspec.json.encode(encoding.body["tools"])) == TOOLS
    assert "format" not in encoding.body
    assert codes(encoding) == []


@pytest.mark.parametrize("history", ["Hi", RICH[:-2]])
def test_none_leaves_the_tools_out(history: Any) -> None:
    """Without tools no call can come; nothing is lost, so nothing is warned of."""
    encoding = encoded("ollama", "qwen3", history, functions=FUNCTIONS, function_call="none")
    assert "tools" not in encoding.body
    assert "format" not in encoding.body
    assert "function_call_emulated" not in codes(encoding)


def _form(function: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": [function["name"]]},
            "arguments": function.get("parameters", {"type": "object", "properties": {}}),
        },
        "required": ["name", "arguments"],
    }


@pytest.mark.parametrize(
    ("choice", "form", "told"),
    [
        ("any", {"anyOf": [_form(WEATHER), _form(PING)]}, ["get_weather", "ping"]),
        ("ping", _form(PING), ["ping"]),
        ({"name": "get_weather"}, _form(WEATHER), ["get_weather"]),
        (
            {"names": ["ping", "get_weather"]},
            {"anyOf": [_form(PING), _form(WEATHER)]},
            ["ping", "get_weather"],
        ),
    ],
)
def test_a_forced_call_is_bound_by_format(choice: Any, form: Any, told: list[str]) -> None:
    """The answer must be a call as JSON; the functions stand in a system text, with a warning."""
    encoding = encoded("ollama", "qwen3", functions=FUNCTIONS, function_call=choice)
    assert encoding.body["format"] == form
    assert "tools" not in encoding.body
    system, user = encoding.body["messages"]
    assert user == {"role": "user", "content": "Hi"}
    head, *described = system["content"].splitlines()
    assert (system["role"], head.startswith("Call exactly one")) == ("system", True)
    assert [json.loads(line)["name"] for line in described] == told
    assert encoding.plan.emulation == "function_call"
    assert codes(encoding) == ["function_call_emulated"]


def test_a_forced_call_after_a_system_message() -> None:
    """The instruction ends the first system message; the same call always goes out alike."""
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    body = body_of("ollama", "qwen3", messages, functions=FUNCTIONS, function_call="ping")
    assert body == golden("ollama_forced")


def test_a_function_without_a_description() -> None:
    """Nothing is said where there is nothing to say."""
    [tool] = body_of("ollama", "qwen3", functions=[{"name": "ping"}])["tools"]
    parameters = {"type": "object", "properties": {}}
    assert tool == {"type": "function", "function": {"name": "ping", "parameters": parameters}}


def test_a_subset_under_auto_is_filtered() -> None:
    """Only the named functions go out, and the warning says which."""
    choice = {"names": ["ping"], "mode": "auto"}
    encoding = encoded("ollama", "qwen3", functions=FUNCTIONS, function_call=choice)
    assert json.loads(msgspec.json.encode(encoding.body["tools"])) == TOOLS[1:]
    assert [(w.code, w.detail) for w in encoding.plan.warnings] == [
        (
            "subset_filtered",
            "Ollama has no choice among functions: only ping went out.",
        )
    ]


def test_a_schema_is_the_format() -> None:
    """Without functions on the wire, the answer is bound to the schema."""
    for options in ({}, {"functions": FUNCTIONS, "function_call": "none"}):
        encoding = encoded("ollama", "qwen3", json_schema=CITY_SCHEMA, **options)
        assert encoding.body["format"] == CITY_SCHEMA
        assert codes(encoding) == []
    numbers = {"type": "array", "items": {"type": "integer"}}
    assert body_of("ollama", "qwen3", json_schema=numbers)["format"] == numbers


def test_a_schema_beside_functions_is_in_the_prompt() -> None:
    """A format would rule calls out, so the schema is told instead, with a warning."""
    encoding = encoded("ollama", "qwen3", functions=FUNCTIONS, json_schema=CITY_SCHEMA)
    assert "format" not in encoding.body
    system = encoding.body["messages"][0]
    assert json.loads(system["content"].partition("\n")[2]) == CITY_SCHEMA
    assert codes(encoding) == ["json_schema_emulated"]
    assert encoding.plan.output is not None


def test_a_schema_beside_a_forced_call_has_nothing_to_say() -> None:
    """The call is the whole answer; that the schema stayed behind is a warning."""
    encoding = encoded(
        "ollama", "qwen3", functions=FUNCTIONS, function_call="any", json_schema=CITY_SCHEMA
    )
    assert "country" not in encoding.body["messages"][0]["content"]
    assert codes(encoding) == ["function_call_emulated", "json_schema_left_out"]


def test_all_parameters() -> None:
    """Each has its option; the caller's extras come on top."""
    body = body_of(
        "ollama",
        "qwen3",
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        max_tokens=100,
        stop_sequences=("END",),
        seed=7,
        effort="high",
        parallel_function_calls=True,
        extra_body={"keep_alive": "1h", "options": {"num_ctx": 8192, "seed": 8}},
    )
    assert body == golden("ollama_parameters")


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [
        ("qwen3", "none", False),
        ("qwen3", "low", "low"),
        ("qwen3", "max", "max"),
        ("gpt-oss:20b", "medium", "medium"),
    ],
)
def test_effort(model: str, effort: str, think: Any) -> None:
    """Thinking is off, or has a level."""
    assert body_of("ollama", model, effort=effort)["think"] == think


@pytest.mark.parametrize(
    ("model", "effort", "takes"),
    [
        ("qwen3", "minimal", "none, low, medium, high, max"),
        ("gpt-oss:20b", "none", "low, medium, high"),
        ("library/gpt-oss", "max", "low, medium, high"),
    ],
)
def test_an_effort_the_model_lacks_is_refused(model: str, effort: str, takes: str) -> None:
    """The error names the effort and those there are."""
    with pytest.raises(UnsupportedOptionError) as error:
        encoded("ollama", model, effort=effort)
    assert str(error.value) == (
        f"{model} at ollama cannot take effort={effort!r}; it takes {takes}."
    )


def test_one_call_at_a_time_is_refused() -> None:
    """Ollama has no such switch, and says so before any I/O."""
    with pytest.raises(UnsupportedOptionError, match="parallel_function_calls=False"):
        encoded("ollama", "qwen3", functions=FUNCTIONS, parallel_function_calls=False)


def test_an_image_url_is_refused() -> None:
    """The server fetches nothing; the error says what to pass instead."""
    image = {"type": "image", "url": "https://example.org/a.png"}
    with pytest.raises(UnsupportedOptionError, match="base64 as data="):
        encoded("ollama", "qwen3", [{"role": "user", "content": [image]}])


@pytest.mark.parametrize(
    ("content", "is_error", "text"),
    [
        ("plain", False, "plain"),
        ("", False, ""),
        (None, False, "null"),
        ({"a": 1}, False, '{"a":1}'),
        ([1, 2], False, "[1,2]"),
        ("boom", True, "Error: boom"),
        ("", True, "Error: the function failed"),
    ],
)
def test_a_result_is_always_text(content: Any, is_error: bool, text: str) -> None:
    """JSON goes out as JSON text, and a failure says that it is one."""
    use = {"type": "function_use", "name": "ping", "input": {}, "functionId": "c"}
    result = {"role": "function", "name": "ping", "functionId": "c"}
    messages = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [use]},
        result | {"content": content, "isError": is_error},
    ]
    assert body_of("ollama", "qwen3", messages)["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "function": {"name": "ping", "arguments": {}}}],
        },
        {"role": "tool", "tool_name": "ping", "tool_call_id": "c", "content": text},
    ]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [('{"city":"Os', {}), ('{"city":"Oslo"}', {"city": "Oslo"})],
)
def test_a_call_that_could_not_run_goes_back_as_an_object(raw: str, arguments: Any) -> None:
    """Arguments are an object on this wire, whatever the model had written."""
    use = {
        "type": "function_use",
        "name": "get_weather",
        "input": {},
        "functionId": "c",
        "rawInput": raw,
        "inputError": "broken",
    }
    messages = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": [use]}]
    [_, assistant, _] = body_of("ollama", "qwen3", messages)["messages"]
    assert assistant["tool_calls"][0]["function"]["arguments"] == arguments


def test_empty_turns_are_left_out() -> None:
    """An assistant without a word and a blank system message say nothing."""
    messages = [
        {"role": "system", "content": " "},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "refusal", "text": "No."}]},
    ]
    assert body_of("ollama", "qwen3", messages)["messages"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "No."},
    ]


def test_a_warning_is_given_once() -> None:
    """However many turns it holds for."""
    foreign = {"role": "assistant", "content": [{"type": "reasoning", "text": "Elsewhere."}]}
    user = {"role": "user", "content": "Hi"}
    encoding = encoded("ollama", "qwen3", [user, foreign, user, foreign, user])
    assert codes(encoding) == ["reasoning_left_out"]
    assert [message["role"] for message in encoding.body["messages"]] == ["user", "user", "user"]


def test_nothing_to_send_is_an_error() -> None:
    """A conversation without a message is refused before any I/O."""
    with pytest.raises(ConfigurationError, match="nothing to send"):
        encoded("ollama", "qwen3", [])


def test_encoding_changes_nothing_of_the_call() -> None:
    """Two encodings of one call are alike, and the messages are as before."""
    target = target_of("ollama", "qwen3")
    call = make_call(RICH, functions=FUNCTIONS, function_call="any")
    before = msgspec.json.encode(call.messages)
    first = msgspec.json.encode(target.dialect.encode(target, call).body)
    assert msgspec.json.encode(target.dialect.encode(target, call).body) == first
    assert msgspec.json.encode(call.messages) == before


def test_support_is_told_for_every_option() -> None:
    """Whatever forces or limits calls is emulated."""
    target = target_of("ollama", "qwen3")
    emulated = dict.fromkeys(("any", "named", "subset", "strict"), "emulated")
    assert target.dialect.support(target) == (
        dict.fromkeys(SUPPORT_OPTIONS, "native") | emulated | {"parallel_off": "refused"}
    )
