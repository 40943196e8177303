"""Calls as bodies of a Responses request: functions, choice, schema, parameters."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from dialects.responses_cases import (
    DIALECT,
    FUNCTIONS,
    PING,
    WEATHER,
    body_of,
    call_of,
    codes_of,
    encoded_of,
    golden,
    target_of,
)

from llm_tools.errors import ConfigurationError, UnsupportedOptionError
from llm_tools.spec import SUPPORT_OPTIONS

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "note": {"type": "string"}},
    "required": ["city"],
}


def test_plain_call() -> None:
    """A lone message goes out stateless, and asks for the reasoning it will need again."""
    assert body_of("Hi") == {
        "model": "gpt-5.6",
        "input": [{"role": "user", "content": "Hi"}],
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def test_everything_at_once() -> None:
    """Functions, a forced choice, a schema and parameters have their places in one body."""
    body = body_of(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Oslo?"}],
        functions=FUNCTIONS,
        function_call="any",
        strict=True,
        json_schema=SCHEMA,
        stream=True,
        effort="low",
        max_tokens=400,
        parallel_function_calls=False,
    )
    assert body == golden("everything")


def test_functions_without_strict_say_so() -> None:
    """`strict` is an explicit false: left out, the server would try strict by itself."""
    tools = body_of(functions=FUNCTIONS)["tools"]
    assert tools == [
        {"type": "function", **WEATHER, "strict": False},
        {
            "type": "function",
            "name": "ping",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    ]


@pytest.mark.parametrize(
    ("function_call", "tool_choice"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("ping", {"type": "function", "name": "ping"}),
        ({"name": "ping"}, {"type": "function", "name": "ping"}),
        ({"names": ["ping"]}, {"type": "function", "name": "ping"}),
        (
            {"names": ["get_weather", "ping"]},
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [
                    {"type": "function", "name": "get_weather"},
                    {"type": "function", "name": "ping"},
                ],
            },
        ),
        (
            {"names": ["ping"], "mode": "auto"},
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "ping"}],
            },
        ),
    ],
)
def test_choices(function_call: Any, tool_choice: Any) -> None:
    """Every mode is native, and all functions stay on the wire under each."""
    body = body_of(functions=FUNCTIONS, function_call=function_call)
    assert body["tool_choice"] == tool_choice
    assert [tool["name"] for tool in body["tools"]] == ["get_weather", "ping"]
    assert codes_of(functions=FUNCTIONS, function_call=function_call) == []


def test_no_choice_and_no_functions() -> None:
    """Where nothing was asked nothing is said; without functions a choice is not sent."""
    assert "tool_choice" not in body_of(functions=FUNCTIONS)
    for mode in ("auto", "none"):
        body = body_of(function_call=mode, parallel_function_calls=False)
        assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(body)


def test_subset_where_the_wire_has_none() -> None:
    """A host without `allowed_tools` gets the named functions alone, with a warning."""
    target = target_of("grok-4.3", "xai", allowed_tools=False)
    names = {"names": ["ping"], "mode": "auto"}
    encoded = encoded_of(target=target, functions=FUNCTIONS, function_call=names)
    body = json.loads(msgspec.json.encode(encoded.body))
    assert [tool["name"] for tool in body["tools"]] == ["ping"]
    assert body["tool_choice"] == "auto"
    assert [warning.code for warning in encoded.plan.warnings] == ["subset_filtered"]
    both = {"names": ["ping", "get_weather"]}
    assert (
        body_of(target=target, functions=FUNCTIONS, function_call=both)["tool_choice"] == "required"
    )


def test_illegal_names_are_the_same_everywhere() -> None:
    """A name this wire cannot hold is renamed alike in functions, choice and history."""
    name = "get weather.now"
    history = [
        {"role": "user", "content": "Oslo?"},
        {
            "role": "assistant",
            "content": [{"type": "function_use", "name": name, "input": {}, "functionId": "c1"}],
        },
        {"role": "function", "name": name, "functionId": "c1", "content": "3 °C"},
    ]
    functions = [{"name": name}, {"name": "ping"}]
    body = body_of(history, functions=functions, function_call={"names": [name, "ping"]})
    sent = body["tools"][0]["name"]
    assert sent != name
    assert body["tool_choice"]["tools"][0]["name"] == sent
    assert body["input"][1]["name"] == sent


def test_strict_is_validated_here_where_the_wire_ignores_it() -> None:
    """On a host without strict the schema goes out as it is, and input is validated here."""
    target = target_of("grok-4.3", "xai", strict=False)
    encoded = encoded_of(target=target, functions=[WEATHER], strict=True)
    tool = json.loads(msgspec.json.encode(encoded.body))["tools"][0]
    assert tool["strict"] is False
    assert tool["parameters"] == WEATHER["parameters"]
    assert encoded.plan.functions is not None
    assert encoded.plan.functions.items[0].validate


def test_output_schema_goes_out_strict() -> None:
    """A schema for the text is native: closed, all required, optional ones nullable."""
    text = body_of(json_schema=SCHEMA)["text"]
    assert text["format"]["type"] == "json_schema"
    assert text["format"]["strict"] is True
    assert text["format"]["schema"]["additionalProperties"] is False
    assert text["format"]["schema"]["required"] == ["city", "note"]


def test_parameters() -> None:
    """Parameters have this wire's names."""
    target = target_of("gpt-4o", reasoning="never")
    body = body_of(target=target, temperature=0.2, top_p=0.9, max_tokens=16)
    assert body["temperature"] == 0.2
    assert body["top_p"] == 0.9
    assert body["max_output_tokens"] == 16
    assert "include" not in body
    assert body_of(effort="high")["reasoning"] == {"effort": "high"}
    with_functions = body_of(functions=[PING], parallel_function_calls=True)
    assert with_functions["parallel_tool_calls"] is True


@pytest.mark.parametrize(
    ("name", "value"), [("stop_sequences", ("x",)), ("top_k", 5), ("seed", 7), ("max_tokens", 15)]
)
def test_parameters_not_on_this_wire(name: str, value: Any) -> None:
    """What the wire cannot take is refused by name, before anything is sent."""
    with pytest.raises(UnsupportedOptionError, match=name):
        body_of(**{name: value})


def test_smallest_output_is_named() -> None:
    """The error says which number would do."""
    with pytest.raises(ConfigurationError, match="at least 16"):
        body_of(max_tokens=10)
    assert body_of(target=target_of(min_output_tokens=1), max_tokens=10)["max_output_tokens"] == 10


@pytest.mark.parametrize(
    ("reasoning", "effort", "refused"),
    [
        ("unknown", None, False),
        ("unknown", "high", False),
        ("never", None, False),
        ("on_request", None, False),
        ("on_request", "none", False),
        ("on_request", "low", True),
        ("by_default", None, True),
        ("by_default", "low", True),
        ("by_default", "none", False),
        ("always", None, True),
    ],
)
@pytest.mark.parametrize("name", ["temperature", "top_p"])
def test_sampling_beside_reasoning(
    name: str, reasoning: str, effort: str | None, refused: bool
) -> None:
    """A model that reasons in this call takes no sampling parameter."""
    target = target_of(reasoning=reasoning)
    if refused:
        with pytest.raises(UnsupportedOptionError, match=name):
            body_of(target=target, effort=effort, **{name: 0.5})
    else:
        assert body_of(target=target, effort=effort, **{name: 0.5})[name] == 0.5


def test_efforts_a_model_has_no_use_for() -> None:
    """An effort is refused where the model never reasons, takes none, or cannot stop."""
    for target, effort in (
        (target_of(reasoning="never"), "low"),
        (target_of(effort=False), "low"),
        (target_of(reasoning="always"), "none"),
    ):
        with pytest.raises(UnsupportedOptionError, match="effort"):
            body_of(target=target, effort=effort)


def test_forced_call_switches_reasoning_off() -> None:
    """Where a forced call and reasoning exclude each other, reasoning goes, with a warning."""
    target = target_of("deepseek-v4-pro", "deepseek", forced_call_stops_reasoning=True)
    forced = {"target": target, "functions": [PING], "function_call": "any"}
    assert body_of(**forced)["reasoning"] == {"effort": "none"}
    assert codes_of(**forced) == ["thinking_switched_off"]
    assert body_of(**forced, effort="none")["reasoning"] == {"effort": "none"}
    assert codes_of(**forced, effort="none") == []
    assert "reasoning" not in body_of(target=target, functions=[PING], function_call="auto")


@pytest.mark.parametrize(
    "asked", [{"effort": "high"}, {"extra_body": {"reasoning": {"effort": "high"}}}]
)
def test_forced_call_against_asked_reasoning(asked: dict[str, Any]) -> None:
    """Both asked for at once is refused, naming the way out."""
    target = target_of("deepseek-v4-pro", "deepseek", forced_call_stops_reasoning=True)
    with pytest.raises(UnsupportedOptionError, match="auto"):
        body_of(target=target, functions=[PING], function_call="any", **asked)


def test_parallel_calls_where_they_cannot_be_off() -> None:
    """A host that cannot hold the model to one call refuses the wish, not its opposite."""
    target = target_of(parallel_off=False)
    with pytest.raises(UnsupportedOptionError, match="parallel_function_calls"):
        body_of(target=target, functions=[PING], parallel_function_calls=False)
    body = body_of(target=target, functions=[PING], parallel_function_calls=True)
    assert body["parallel_tool_calls"] is True


def test_extra_body_has_the_last_word() -> None:
    """`extra_body` is merged at any depth, over everything."""
    body = body_of(
        effort="low",
        extra_body={"reasoning": {"summary": "auto"}, "store": True, "metadata": {"a": "b"}},
    )
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["store"] is True
    assert body["metadata"] == {"a": "b"}


def test_encoding_changes_nothing_of_the_callers() -> None:
    """A call is only read: the same call encodes alike twice, and its parts stay equal."""
    functions = json.loads(json.dumps(FUNCTIONS))
    extra = {"reasoning": {"summary": "auto"}}
    call = call_of("Hi", functions=functions, strict=True, effort="low", extra_body=extra)
    first = msgspec.json.encode(DIALECT.encode(target_of(), call).body)
    assert msgspec.json.encode(DIALECT.encode(target_of(), call).body) == first
    assert functions == FUNCTIONS
    assert extra == {"reasoning": {"summary": "auto"}}


@pytest.mark.parametrize(
    ("quirks", "changed"),
    [
        ({}, {}),
        ({"allowed_tools": False}, {"subset": "emulated"}),
        ({"strict": False}, {"strict": "emulated"}),
        ({"parallel_off": False}, {"parallel_off": "refused"}),
        ({"images": False}, {"image": "refused"}),
        ({"reasoning": "never"}, {"effort": "refused"}),
        ({"effort": False}, {"effort": "refused"}),
    ],
)
def test_support(quirks: dict[str, Any], changed: dict[str, str]) -> None:
    """The support table says of every option what encoding does."""
    support = DIALECT.support(target_of(**quirks))
    assert tuple(support) == SUPPORT_OPTIONS
    native = dict.fromkeys(SUPPORT_OPTIONS, "native") | {"seed": "refused"}
    assert support == native | changed
