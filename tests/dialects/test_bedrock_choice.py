"""Every function-call mode on Converse, family by family."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.anthropic_and_bedrock import (
    FUNCTIONS,
    codes,
    decoded,
    encoded,
    sent,
    target_of,
)

from llm_tools.content import Message, OutputResultReasoning, OutputResultText
from llm_tools.errors import UnmetFunctionCallError, UnsupportedOptionError
from llm_tools.functions.choice import FunctionChoice
from llm_tools.functions.definitions import normalize_functions
from llm_tools.reply import check_answer
from llm_tools.spec import Call

CLAUDE = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
NOVA = "amazon.nova-lite-v1:0"
MISTRAL = "mistral.mistral-large-2407-v1:0"
LLAMA = "us.meta.llama3-3-70b-instruct-v1:0"
CALLED = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [
        {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_1"}
    ]},
    {"role": "function", "name": "ping", "functionId": "c_1", "content": "pong"},
]  # fmt: skip


def ask(model: str, mode: Any, messages: Any = "Hi", **options: Any) -> Any:
    """A request in this mode."""
    options = {"functions": FUNCTIONS, **options}
    return encoded(target_of("amazon", model), messages, function_call=mode, **options)


def names(body: Any) -> list[str]:
    """The functions that went out."""
    return [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]]


@pytest.mark.parametrize("model", [CLAUDE, NOVA, "some.future-model-v1:0"])
@pytest.mark.parametrize(
    ("mode", "choice"),
    [
        (None, None),
        ("auto", {"auto": {}}),
        ("any", {"any": {}}),
        ("ping", {"tool": {"name": "ping"}}),
        ({"names": ["ping"]}, {"tool": {"name": "ping"}}),
    ],
)
def test_native_modes(model: str, mode: Any, choice: Any) -> None:
    """`toolChoice` has exactly one member, and all functions stay."""
    request = ask(model, mode)
    body = sent(request)
    assert body["toolConfig"].get("toolChoice") == choice
    assert names(body) == ["get_weather", "ping"]
    assert codes(request) == []


@pytest.mark.parametrize("model", [CLAUDE, LLAMA])
def test_none_withholds_functions_where_no_call_was_made(model: str) -> None:
    """As good as native; a call that comes anyway is mapped back and marked."""
    request = ask(model, "none")
    assert sent(request) == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    assert codes(request) == []
    use = {"toolUse": {"toolUseId": "t", "name": "ping", "input": {}}}
    body = {"output": {"message": {"content": [use]}}, "stopReason": "tool_use"}
    assert "forbidden_call" in codes(decoded(request.plan, body))


@pytest.mark.parametrize("functions", [FUNCTIONS, None])
def test_none_after_calls_is_claudes_own(functions: Any) -> None:
    """Tool blocks need `toolConfig`; Claude takes its own `tool_choice` beside it."""
    body = sent(ask(CLAUDE, "none", CALLED, functions=functions))
    assert body["toolConfig"].keys() == {"tools"}
    assert body["additionalModelRequestFields"] == {"tool_choice": {"type": "none"}}


def test_none_after_calls_elsewhere_keeps_functions_with_a_warning() -> None:
    """The wire cannot say it."""
    request = ask(NOVA, "none", CALLED)
    assert names(sent(request)) == ["get_weather", "ping"]
    assert "toolChoice" not in sent(request)["toolConfig"]
    assert codes(request) == ["none_not_enforced"]


@pytest.mark.parametrize("mode", [None, "auto", "none"])
def test_functions_of_the_history_are_declared_again(mode: Any) -> None:
    """And a call that comes anyway is marked."""
    request = ask(NOVA, mode, CALLED, functions=None)
    assert names(sent(request)) == ["ping"]
    assert codes(request) == ["functions_rebuilt", "none_not_enforced"]
    assert request.plan.call.choice == FunctionChoice("none")


@pytest.mark.parametrize("mode", [None, "auto", "none"])
def test_no_functions_send_nothing(mode: Any) -> None:
    """`auto` and `none` mean nothing without functions."""
    assert sent(ask(NOVA, mode, functions=None)).keys() == {"messages"}


@pytest.mark.parametrize("mode", ["any", "auto"])
def test_subset_goes_out_alone_with_a_warning(mode: str) -> None:
    """The wire cannot say a subset."""
    functions = [*FUNCTIONS, {"name": "third"}]
    request = ask(CLAUDE, {"names": ["ping", "third"], "mode": mode}, functions=functions)
    body = sent(request)
    assert names(body) == ["ping", "third"]
    assert body["toolConfig"]["toolChoice"] == {mode: {}}
    assert codes(request) == ["subset_filtered"]


@pytest.mark.parametrize(
    "reasoning",
    [
        {"redactedContent": "eHg="},
        {"reasoningText": {"text": "", "signature": "c2ln"}},
    ],
)
def test_subset_keeps_all_functions_where_reasoning_is_signed_over_them(reasoning: Any) -> None:
    """Taking functions away would break the signature; the reply is checked instead."""
    left = {"amazon": {"block": {"reasoningContent": reasoning}, "model": CLAUDE}}
    parts = (OutputResultReasoning(provider_metadata=left), OutputResultText(text="Hello"))
    messages = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="user", content="Go on"),
    )
    target = target_of("amazon", CLAUDE)
    functions = normalize_functions([*FUNCTIONS, {"name": "third"}])
    choice = FunctionChoice("any", ("ping", "third"))
    call = Call(messages=messages, functions=functions, choice=choice)
    request = target.dialect.encode(target, call)
    body = sent(request)
    assert names(body) == ["get_weather", "ping", "third"]
    assert body["toolConfig"]["toolChoice"] == {"any": {}}
    assert codes(request) == ["subset_checked"]


def test_named_call_where_only_any_exists() -> None:
    """The one function alone, and `any`."""
    request = ask(MISTRAL, "ping")
    body = sent(request)
    assert names(body) == ["ping"]
    assert body["toolConfig"]["toolChoice"] == {"any": {}}
    assert codes(request) == ["subset_filtered"]
    assert sent(ask(MISTRAL, "any"))["toolConfig"]["toolChoice"] == {"any": {}}


@pytest.mark.parametrize(
    ("mode", "offered", "asked", "warned"),
    [
        ("any", ["get_weather", "ping"], "one of the tool get_weather, the tool ping", []),
        ("ping", ["ping"], "calling the tool ping;", ["subset_filtered"]),
    ],
)
def test_forced_call_is_asked_for_and_checked_where_there_is_no_choice(
    mode: str, offered: list[str], asked: str, warned: list[str]
) -> None:
    """A reply without the call does not pass for an answer."""
    request = ask(LLAMA, mode)
    body = sent(request)
    assert names(body) == offered
    assert "toolChoice" not in body["toolConfig"]
    assert asked in body["system"][0]["text"]
    assert codes(request) == [*warned, "function_call_emulated"]
    text = {"output": {"message": {"content": [{"text": "No."}]}}, "stopReason": "end_turn"}
    error = check_answer(request.plan, decoded(request.plan, text))
    assert isinstance(error, UnmetFunctionCallError)


def test_auto_goes_unsaid_where_there_is_no_choice() -> None:
    """`toolChoice` is refused by these families; auto is what they do."""
    assert "toolChoice" not in sent(ask(LLAMA, "auto"))["toolConfig"]


def test_forced_call_is_refused_where_the_model_refuses_it() -> None:
    """Before any I/O, saying what to do."""
    with pytest.raises(UnsupportedOptionError, match="use function_call='auto'"):
        ask("us.anthropic.claude-opus-5-5-v1", "any")
    thinking = {
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    }
    with pytest.raises(UnsupportedOptionError, match="while thinking is enabled"):
        ask(CLAUDE, "any", extra_body=thinking)
    assert sent(ask(CLAUDE, "auto", extra_body=thinking))["toolConfig"]["toolChoice"] == {
        "auto": {}
    }


def test_forced_call_switches_thinking_off_where_that_is_the_only_way() -> None:
    """Sonnet 5; refused if the caller asked for thinking."""
    model = "us.anthropic.claude-sonnet-5-v1"
    request = ask(model, "any")
    assert sent(request)["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}
    assert codes(request) == ["thinking_switched_off"]
    adaptive = {"additionalModelRequestFields": {"thinking": {"type": "adaptive"}}}
    for asked in ({"effort": "high"}, {"extra_body": adaptive}):
        with pytest.raises(UnsupportedOptionError, match="while it thinks"):
            ask(model, "any", **asked)
    off = {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}
    assert codes(ask(model, "any", extra_body=off)) == []


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (CLAUDE, ("native", "native", "emulated", "native", "refused")),
        (NOVA, ("native", "native", "emulated", "emulated", "refused")),
        (MISTRAL, ("native", "emulated", "emulated", "emulated", "refused")),
        (LLAMA, ("emulated", "emulated", "emulated", "emulated", "refused")),
        ("us.anthropic.claude-opus-5-5-v1", ("refused", "refused", "refused", "native", "native")),
    ],
)
def test_support_says_so(model: str, expected: tuple[str, ...]) -> None:
    """The table has what the code does."""
    target = target_of("amazon", model)
    support = target.dialect.support(target)
    assert (
        tuple(support[name] for name in ("any", "named", "subset", "strict", "effort")) == expected
    )
    assert support["json_schema"] == support["strict"]
    assert support["auto"] == support["none"] == support["image"] == "native"
    assert support["parallel_off"] == support["seed"] == "refused"
