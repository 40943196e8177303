"""What single models and hosts refuse, want beside an option, or have another address for."""

from __future__ import annotations

from typing import Any

import pytest
from matrix.saying import read
from matrix.scenes import ENDPOINTS, FRESH, FUNCTIONS, LOOP, Aim, Cell

from llm_tools import Request, UnsupportedOptionError, use_llm

SONNET_5 = Aim("amazon:anthropic.chat.v1", "us.anthropic.claude-sonnet-5-20260601-v1:0")
SONNET_5_CONVERSE = Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-5-20260601-v1:0")
DEEPSEEK = Aim("deepseek.chat.v1", "deepseek-v4-pro")
OPUS = Aim("anthropic.chat.v1", "claude-opus-4-6")
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2000}}


def codes(request: Request) -> list[str]:
    """The codes of its warnings, in order."""
    return [warning.code for warning in request.warnings]


# ---------------------------------------------------------------- functions at all


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("gpt-5.6", {}),
        ("gpt-5.6", {"effort": "low"}),
        ("gpt-5.5-mini", {}),
        ("gpt-5.4", {"effort": "low"}),
        ("gpt-6-astra", {}),
        ("gpt-6-astra", {"effort": "none"}),
        ("gpt-7", {}),
    ],
)
def test_chat_that_refuses_functions_names_responses(model: str, options: Any) -> None:
    """The error says where this model takes functions."""
    with pytest.raises(UnsupportedOptionError, match=r"openai\.responses\.v1"):
        Cell("auto").ask(Aim("openai.chat.v1", model), **options)


@pytest.mark.parametrize(
    ("model", "options"),
    [("gpt-5.6", {"effort": "none"}), ("gpt-5.4", {}), ("gpt-5.4", {"effort": "none"})],
)
def test_chat_takes_functions_where_the_model_does_not_reason(model: str, options: Any) -> None:
    """What the error proposes works."""
    body = Cell("any").ask(Aim("openai.chat.v1", model), **options).body
    assert body["tool_choice"] == "required"
    assert body.get("reasoning_effort") == options.get("effort")


@pytest.mark.parametrize(
    ("key", "options", "path"),
    [
        ("openai.gpt-4o-mini", {}, "/chat/completions"),
        ("openai.gpt-5.6", {}, "/responses"),
        ("openai.gpt-5.6", {"effort": "none"}, "/responses"),
        ("openai.gpt-5.4", {}, "/chat/completions"),
        ("openai.gpt-5.4", {"effort": "low"}, "/responses"),
        ("openai.gpt-6-astra", {}, "/responses"),
        ("openai.o3-pro", {}, "/responses"),
        ("openai.gpt-9-unheard-of", {}, "/responses"),
        ("openai.my-fine-tune", {}, "/chat/completions"),
    ],
)
def test_openai_models_go_where_functions_are_taken(key: str, options: Any, path: str) -> None:
    """`openai.<model>` is Responses where Chat refuses function tools, Chat otherwise."""
    request = use_llm(key, **options).build_request("Hi", functions=FUNCTIONS)
    assert request.url == f"https://api.openai.com/v1{path}"


def test_a_changed_effort_changes_the_protocol() -> None:
    """The choice follows the options in force."""
    llm = use_llm("openai.gpt-5.4")
    assert llm.build_request("Hi").url.endswith("/chat/completions")
    assert llm.with_options(effort="high").build_request("Hi").url.endswith("/responses")


# ---------------------------------------------------------------- forced calls and thinking

FORCED = ["any", "name", "dict", "one_of_one", "subset_any"]


@pytest.mark.parametrize("mode", FORCED)
@pytest.mark.parametrize(
    ("aim", "options"),
    [
        (OPUS, {"extra_body": THINKING}),
        (Aim("vertex:anthropic.chat.v1", "claude-haiku-4-5"), {"extra_body": THINKING}),
        (
            Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            {"extra_body": {"additionalModelRequestFields": THINKING}},
        ),
        (SONNET_5, {"effort": "low"}),
        (SONNET_5, {"extra_body": {"thinking": {"type": "adaptive"}}}),
        (SONNET_5_CONVERSE, {"effort": "low"}),
        (DEEPSEEK, {"effort": "high"}),
        (DEEPSEEK, {"extra_body": {"thinking": {"type": "enabled"}}}),
        (Aim("deepseek.responses.v1", "deepseek-v4-flash"), {"effort": "low"}),
        (Aim("moonshot.chat.v1", "kimi-k2.5"), {"effort": "high"}),
    ],
    ids=str,
)
def test_a_forced_call_is_refused_beside_thinking_the_caller_asked_for(
    aim: Aim, options: Any, mode: str
) -> None:
    """Both were asked for, and they exclude each other: the caller must choose."""
    with pytest.raises(UnsupportedOptionError, match="function_call='auto'"):
        Cell(mode).ask(aim, **options)


@pytest.mark.parametrize("mode", FORCED)
@pytest.mark.parametrize(
    ("aim", "said"),
    [
        (DEEPSEEK, {"thinking": {"type": "disabled"}}),
        (Aim("deepseek.responses.v1", "deepseek-v4-flash"), {"reasoning": {"effort": "none"}}),
        (Aim("moonshot.chat.v1", "kimi-k2.5"), {"thinking": {"type": "disabled"}}),
        (SONNET_5, {"thinking": {"type": "disabled"}}),
        (
            SONNET_5_CONVERSE,
            {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}},
        ),
    ],
    ids=str,
)
def test_a_forced_call_switches_off_thinking_nobody_asked_for(
    aim: Aim, said: dict[str, Any], mode: str
) -> None:
    """Thinking goes, with a warning; `auto` leaves it alone."""
    request = Cell(mode).ask(aim)
    assert {key: request.body.get(key) for key in said} == said
    assert "thinking_switched_off" in codes(request)
    free = Cell("auto").ask(aim)
    assert not said.keys() & free.body.keys()
    assert codes(free) == []


def test_thinking_the_caller_switched_off_needs_no_warning() -> None:
    """What was asked for is no loss."""
    for aim in (DEEPSEEK, SONNET_5, Aim("deepseek.responses.v1", "deepseek-v4-flash")):
        assert codes(Cell("any").ask(aim, effort="none")) == []


@pytest.mark.parametrize("mode", FORCED)
def test_adaptive_thinking_goes_with_a_forced_call(mode: str) -> None:
    """On Claude's own API and on Vertex this is taken."""
    for aim in (OPUS, Aim("vertex:anthropic.chat.v1", "claude-sonnet-5")):
        body = Cell(mode).ask(aim, extra_body={"thinking": {"type": "adaptive"}}).body
        assert body["thinking"] == {"type": "adaptive"}
        assert body["tool_choice"]["type"] in ("any", "tool")


# ---------------------------------------------------------------- a subset beside signed thoughts


def thought(key: str, kept: dict[str, Any]) -> list[dict[str, Any]]:
    """The loop, with thinking of this host's own in front of its calls."""
    part = {"type": "reasoning", "text": "Hm.", "providerMetadata": {key: kept}}
    turn = {**LOOP[2], "content": [part, *LOOP[2]["content"]]}
    return [*LOOP[:2], turn, *LOOP[3:]]


SIGNED = [
    (
        OPUS,
        thought("anthropic", {"block": {"type": "thinking", "thinking": "Hm.", "signature": "s"}}),
    ),
    (
        Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        thought(
            "amazon",
            {"block": {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}},
        ),
    ),
    (
        Aim("openrouter.chat.v1", "anthropic/claude-opus-4.6"),
        thought(
            "openrouter",
            {"details": [{"type": "reasoning.text", "text": "Hm.", "signature": "s"}]},
        ),
    ),
]


@pytest.mark.parametrize("mode", ["subset_any", "subset_auto"])
@pytest.mark.parametrize(("aim", "history"), SIGNED, ids=lambda value: str(value)[:40])
def test_a_subset_leaves_signed_thoughts_whole(aim: Aim, history: Any, mode: str) -> None:
    """All functions go out where thinking is bound to them; the warning says who checks."""
    names = {"names": ["get_weather", "ping"], "mode": mode.removeprefix("subset_")}
    llm = aim.llm()
    request = llm.build_request(history, functions=FUNCTIONS, function_call=names)
    said = read(llm.target.dialect.key, request.body)
    assert said.functions == ("get_weather", "get_time", "ping")
    assert codes(request) == ["subset_checked"]
    assert "Hm." in str(request.body)


# ---------------------------------------------------------------- calls in the history alone

REBUILT = {
    "anthropic.chat.v1",
    "azure:anthropic.chat.v1",
    "vertex:anthropic.chat.v1",
    "amazon:anthropic.chat.v1",
    "amazon:messages.chat.v1",
    "amazon:mantle.chat.v1",
    "amazon.converse.v1",
    "openrouter.chat.v1",
    "litellm.chat.v1",
}


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_calls_in_the_history_without_functions(aim: Aim) -> None:
    """Where the wire demands definitions, they are rebuilt from the history, with a warning."""
    llm = aim.llm()
    for function_call in (None, "auto", "none"):
        request = llm.build_request(LOOP, function_call=function_call)
        said = read(llm.target.dialect.key, request.body)
        if aim.key in REBUILT:
            assert said.functions == ("get_weather", "ping")
            assert "functions_rebuilt" in codes(request)
        else:
            assert said.functions == ()
            assert "functions_rebuilt" not in codes(request)
    assert read(llm.target.dialect.key, llm.build_request(FRESH).body).functions == ()


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_no_functions_is_an_empty_list(aim: Aim) -> None:
    """An empty list offers as little as None does."""
    assert aim.llm().build_request(FRESH, functions=[]) == aim.llm().build_request(FRESH)


# ---------------------------------------------------------------- addresses


def test_deepseek_holds_functions_to_schemas_at_its_beta_address() -> None:
    """Strict calls go to `/beta`, others do not; a gateway's address is left as it is."""
    beta = Cell("auto", strict=True).ask(DEEPSEEK)
    assert beta.url == "https://api.deepseek.com/beta/chat/completions"
    assert all(tool["function"]["strict"] for tool in beta.body["tools"])
    assert Cell("auto").ask(DEEPSEEK).url == "https://api.deepseek.com/chat/completions"
    gateway = Cell("auto", strict=True).ask(DEEPSEEK, base_url="https://gateway.example/v1")
    assert gateway.url == "https://gateway.example/v1/chat/completions"
    assert codes(gateway) == ["strict_emulated"]


@pytest.mark.parametrize(
    ("aim", "options", "still", "streamed"),
    [
        (
            Aim("google.chat.v1", "gemini-3-pro"),
            {},
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
        (
            Aim("vertex.chat.v1", "gemini-3-pro"),
            {"location": "europe-west4"},
            "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/ours/locations/europe-west4/publishers/google/models/gemini-3-pro:generateContent",
            "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/ours/locations/europe-west4/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
        (
            Aim("vertex:anthropic.chat.v1", "claude-opus-4-6"),
            {},
            "https://aiplatform.googleapis.com/v1/projects/ours/locations/global/publishers/anthropic/models/claude-opus-4-6:rawPredict",
            "https://aiplatform.googleapis.com/v1/projects/ours/locations/global/publishers/anthropic/models/claude-opus-4-6:streamRawPredict",
        ),
        (
            Aim("amazon.converse.v1", "nova-pro-v1:0"),
            {},
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1:0/converse",
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1:0/converse-stream",
        ),
        (
            Aim(
                "amazon:anthropic.chat.v1",
                "arn:aws:bedrock:us-east-1:1:inference-profile/x.claude-opus-4-6",
            ),
            {},
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn:aws:bedrock:us-east-1:1:inference-profile%2Fx.claude-opus-4-6/invoke",
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn:aws:bedrock:us-east-1:1:inference-profile%2Fx.claude-opus-4-6/invoke-with-response-stream",
        ),
        (
            Aim("azure.chat.v1", "mine"),
            {"api_version": "2024-10-21"},
            "https://ours.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
            "https://ours.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
        ),
        (
            Aim("azure.responses.v1", "mine"),
            {},
            "https://ours.openai.azure.com/openai/v1/responses",
            "https://ours.openai.azure.com/openai/v1/responses",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_where_requests_go(aim: Aim, options: Any, still: str, streamed: str) -> None:
    """The whole address, of a call and of a stream."""
    llm = aim.llm(**options)
    assert llm.build_request("Hi").url == still
    assert llm.build_request("Hi", stream=True).url == streamed
