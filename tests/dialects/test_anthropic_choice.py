"""Every function-call mode on the Messages API: native, emulated with a warning, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.anthropic_and_bedrock import (
    FUNCTIONS,
    body_of,
    codes,
    encoded,
    sent,
    target_of,
)

from llm_tools.content import Message, OutputResultReasoning, OutputResultText
from llm_tools.errors import UnsupportedOptionError
from llm_tools.functions.choice import FunctionChoice
from llm_tools.functions.definitions import normalize_functions
from llm_tools.spec import Call

CALLED = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [
        {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_1"}
    ]},
    {"role": "function", "name": "ping", "functionId": "c_1", "content": "pong"},
]  # fmt: skip
NO_FORCED = [
    "claude-opus-5-5",
    "claude-sonnet-5-5-20261001",
    "claude-fable-5-1",
    "claude-mythos-5-2",
]


@pytest.mark.parametrize("endpoint", ["anthropic", "azure:anthropic", "amazon:anthropic"])
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, None),
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("any", {"type": "any"}),
        ("ping", {"type": "tool", "name": "ping"}),
        ({"name": "ping"}, {"type": "tool", "name": "ping"}),
        ({"names": ["ping"]}, {"type": "tool", "name": "ping"}),
    ],
)
def test_native_modes_keep_all_functions(endpoint: str, mode: Any, expected: Any) -> None:
    """Prompt caches and signatures survive a change of mode."""
    request = encoded(endpoint, functions=FUNCTIONS, function_call=mode)
    body = sent(request)
    assert body.get("tool_choice") == expected
    assert [tool["name"] for tool in body["tools"]] == ["get_weather", "ping"]
    assert codes(request) == []


@pytest.mark.parametrize("mode", ["any", "auto"])
def test_subset_goes_out_alone_with_a_warning(mode: str) -> None:
    """The wire cannot say a subset."""
    functions = [*FUNCTIONS, {"name": "third"}]
    wanted = {"names": ["ping", "third"], "mode": mode}
    request = encoded("anthropic", functions=functions, function_call=wanted)
    body = sent(request)
    assert [tool["name"] for tool in body["tools"]] == ["ping", "third"]
    assert body["tool_choice"] == {"type": mode}
    assert codes(request) == ["subset_filtered"]
    assert request.plan.functions is not None
    assert set(request.plan.functions.by_name) == {"get_weather", "ping", "third"}


def test_the_functions_of_a_subset_are_rendered_once() -> None:
    """A second call with the same functions reuses the first one's bytes."""
    functions = normalize_functions([*FUNCTIONS, {"name": "third"}])
    target = target_of("anthropic")
    choice = FunctionChoice("auto", ("ping", "third"))
    call = Call(messages=(Message(role="user", content="Hi"),), functions=functions, choice=choice)
    first, second = (target.dialect.encode(target, call).body["tools"] for _ in range(2))
    assert first is second


@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking"])
def test_subset_keeps_all_functions_where_thinking_is_signed_over_them(kind: str) -> None:
    """Taking functions away would break the signature; the reply is checked instead."""
    block = {"type": kind, "thinking": "", "signature": "c2ln"}
    left = {"anthropic": {"block": block, "model": "claude-haiku-4-5"}}
    history = (
        Message(role="user", content="Hi"),
        Message(
            role="assistant",
            content=(
                OutputResultReasoning(provider_metadata=left),
                OutputResultText(text="Hello"),
            ),
        ),
        Message(role="user", content="Go on"),
    )
    functions = normalize_functions([*FUNCTIONS, {"name": "third"}])
    choice = FunctionChoice("any", ("ping", "third"))
    target = target_of("anthropic")
    request = target.dialect.encode(
        target, Call(messages=history, functions=functions, choice=choice)
    )
    body = sent(request)
    assert [tool["name"] for tool in body["tools"]] == ["get_weather", "ping", "third"]
    assert body["tool_choice"] == {"type": "any"}
    assert codes(request) == ["subset_checked"]


@pytest.mark.parametrize("model", NO_FORCED)
@pytest.mark.parametrize("mode", ["any", "ping", {"names": ["ping", "get_weather"]}])
def test_forced_call_is_refused_on_models_that_refuse_it(model: str, mode: Any) -> None:
    """Before any I/O, saying what to do."""
    with pytest.raises(UnsupportedOptionError, match="use function_call='auto'"):
        encoded(target_of("anthropic", model), functions=FUNCTIONS, function_call=mode)


@pytest.mark.parametrize(
    "model", ["claude-fable-5", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5-5"]
)
def test_forced_call_is_native_on_their_neighbours(model: str) -> None:
    """Only the models that refuse are refused."""
    body = body_of(target_of("anthropic", model), functions=FUNCTIONS, function_call="any")
    assert body["tool_choice"] == {"type": "any"}


def test_forced_call_with_thinking_enabled_is_refused() -> None:
    """The provider answers 400; adaptive thinking is allowed."""
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
    with pytest.raises(UnsupportedOptionError, match="while thinking is enabled"):
        encoded("anthropic", functions=FUNCTIONS, function_call="any", extra_body=thinking)
    allowed = {"thinking": {"type": "adaptive"}}
    target = target_of("anthropic", "claude-opus-4-6")
    body = body_of(target, functions=FUNCTIONS, function_call="any", extra_body=allowed)
    assert body["thinking"] == {"type": "adaptive"}
    assert body["tool_choice"] == {"type": "any"}


def test_forced_call_switches_thinking_off_where_that_is_the_only_way() -> None:
    """Sonnet 5 on Bedrock; refused if the caller asked for thinking."""
    target = target_of("amazon:anthropic", "us.anthropic.claude-sonnet-5-v1:0")
    request = encoded(target, functions=FUNCTIONS, function_call="ping")
    assert sent(request)["thinking"] == {"type": "disabled"}
    assert codes(request) == ["thinking_switched_off"]
    for asked in ({"effort": "high"}, {"extra_body": {"thinking": {"type": "adaptive"}}}):
        with pytest.raises(UnsupportedOptionError, match="while it thinks"):
            encoded(target, functions=FUNCTIONS, function_call="ping", **asked)
    off = {"thinking": {"type": "disabled"}}
    request = encoded(target, functions=FUNCTIONS, function_call="ping", extra_body=off)
    assert sent(request)["thinking"] == {"type": "disabled"}
    assert codes(request) == []


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, {"type": "auto", "disable_parallel_tool_use": True}),
        ("auto", {"type": "auto", "disable_parallel_tool_use": True}),
        ("any", {"type": "any", "disable_parallel_tool_use": True}),
        ("ping", {"type": "tool", "name": "ping", "disable_parallel_tool_use": True}),
        ("none", {"type": "none"}),
    ],
)
def test_one_call_at_a_time(mode: Any, expected: Any) -> None:
    """A switch beside every choice but `none`."""
    body = body_of(
        "anthropic", functions=FUNCTIONS, function_call=mode, parallel_function_calls=False
    )
    assert body["tool_choice"] == expected


def test_parallel_calls_are_the_default() -> None:
    """So nothing is said."""
    body = body_of("anthropic", functions=FUNCTIONS, parallel_function_calls=True)
    assert "tool_choice" not in body


@pytest.mark.parametrize("mode", [None, "auto", "none"])
def test_no_functions_send_nothing(mode: Any) -> None:
    """`auto` and `none` mean nothing without functions."""
    assert body_of("anthropic", function_call=mode).keys() == {"model", "max_tokens", "messages"}


def test_functions_of_the_history_are_declared_again() -> None:
    """Tool blocks need tools beside them, though nothing may be called."""
    request = encoded("anthropic", CALLED)
    body = sent(request)
    assert [tool["name"] for tool in body["tools"]] == ["ping"]
    assert body["tools"][0]["input_schema"]["type"] == "object"
    assert body["tool_choice"] == {"type": "none"}
    assert codes(request) == ["functions_rebuilt"]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-haiku-4-5", ("native", "emulated", "native", "native", "refused")),
        ("claude-opus-5-5", ("refused", "refused", "native", "native", "native")),
        ("claude-3-haiku-20240307", ("native", "emulated", "emulated", "emulated", "refused")),
    ],
)
def test_support_says_so(model: str, expected: tuple[str, ...]) -> None:
    """The table has what the code does."""
    target = target_of("anthropic", model)
    support = target.dialect.support(target)
    assert (
        tuple(support[name] for name in ("any", "subset", "strict", "json_schema", "effort"))
        == expected
    )
    assert support["named"] == support["any"]
    assert (
        support["auto"]
        == support["none"]
        == support["parallel_off"]
        == support["image"]
        == "native"
    )
    assert support["seed"] == "refused"
