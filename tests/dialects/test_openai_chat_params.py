"""Parameters, reasoning and the shape of the answer, host by host and model by model."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.openai_chat_cases import (
    CITY,
    FUNCTIONS,
    body_of,
    codes,
    encoded,
    quirky,
    target_of,
)
from dialects.test_openai_chat_bodies import own_history

from llm_tools.errors import ConfigurationError, UnsupportedOptionError


def rest(body: dict[str, Any]) -> dict[str, Any]:
    """A body without model and messages."""
    return {key: value for key, value in body.items() if key not in ("model", "messages")}


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("openai", "max_completion_tokens"),
        ("azure", "max_completion_tokens"),
        ("xai", "max_completion_tokens"),
        ("groq", "max_completion_tokens"),
        ("deepseek", "max_tokens"),
        ("mistral", "max_tokens"),
        ("openrouter", "max_tokens"),
        ("vllm", "max_tokens"),
        ("local", "max_tokens"),
    ],
)
def test_max_tokens(key: str, field: str) -> None:
    """The limit has one of two names, never both."""
    assert rest(body_of(target_of(key), max_tokens=7)) == {field: 7}


@pytest.mark.parametrize(
    "key", ["openai", "azure", "xai", "groq", "deepseek", "mistral", "cerebras"]
)
def test_top_k_is_refused_by_name(key: str) -> None:
    """A parameter the host has no word for is an error that names it."""
    with pytest.raises(ConfigurationError, match=r"top_k.*extra_body"):
        encoded(target_of(key), top_k=4)


@pytest.mark.parametrize("key", ["llamacpp", "vllm", "together", "fireworks", "openrouter"])
def test_top_k_goes_where_it_is_taken(key: str) -> None:
    """Hosts with `top_k` get it."""
    assert rest(body_of(target_of(key), top_k=4)) == {"top_k": 4}


def test_seed_has_another_name_at_mistral() -> None:
    """`random_seed` there, `seed` elsewhere, refused where there is none."""
    assert rest(body_of(target_of("mistral"), seed=3)) == {"random_seed": 3}
    assert rest(body_of(target_of("groq"), seed=3)) == {"seed": 3}
    with pytest.raises(ConfigurationError, match="seed"):
        encoded(target_of("deepseek"), seed=3)


def test_falsy_values_are_values() -> None:
    """Zero goes out."""
    assert rest(body_of(target_of("openai"), temperature=0.0, top_p=0.0, seed=0)) == {
        "temperature": 0.0,
        "top_p": 0.0,
        "seed": 0,
    }


@pytest.mark.parametrize("model", ["o3", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5.6", "gpt-6-sol"])
@pytest.mark.parametrize("name", ["temperature", "top_p"])
def test_reasoning_models_take_no_sampling(model: str, name: str) -> None:
    """Models that reason unless told otherwise refuse sampling parameters."""
    with pytest.raises(ConfigurationError, match=rf"{name} while it reasons"):
        encoded(target_of("openai", model), **{name: 0.5})


def test_sampling_follows_the_effort() -> None:
    """gpt-5.1 to 5.4 take it until an effort is set, newer ones only at effort `none`."""
    assert "temperature" in encoded(target_of("openai", "gpt-5.2"), temperature=1.0).body
    with pytest.raises(ConfigurationError):
        encoded(target_of("openai", "gpt-5.2"), temperature=1.0, effort="low")
    body = encoded(target_of("openai", "gpt-5.6"), temperature=1.0, effort="none").body
    assert body["temperature"] == 1.0
    assert "temperature" in encoded(target_of("openai", "gpt-5-chat-latest"), temperature=1.0).body


@pytest.mark.parametrize(
    ("model", "role"),
    [
        ("gpt-4.1", "system"),
        ("gpt-5-chat-latest", "system"),
        ("o3", "developer"),
        ("gpt-5.2", "developer"),
    ],
)
def test_system_role(model: str, role: str) -> None:
    """Reasoning models have developers, others a system."""
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert encoded(target_of("openai", model), messages).body["messages"][0]["role"] == role


def test_stop_is_refused_by_models_without_it() -> None:
    """o3, o4-mini and xAI's reasoning models have no stop sequences."""
    for key, model in (("openai", "o3"), ("openai", "o4-mini"), ("xai", "grok-4")):
        with pytest.raises(ConfigurationError, match="stop_sequences"):
            encoded(target_of(key, model), stop_sequences=("END",))
    for key, model in (("openai", "o1"), ("xai", "grok-3"), ("xai", "grok-4-fast-non-reasoning")):
        assert encoded(target_of(key, model), stop_sequences=("END",)).body["stop"] == ["END"]


@pytest.mark.parametrize(
    ("key", "model", "effort", "said"),
    [
        ("openai", "o3", "low", {"reasoning_effort": "low"}),
        ("openai", "gpt-5.2", "xhigh", {"reasoning_effort": "xhigh"}),
        ("xai", "grok-4.3", "none", {"reasoning_effort": "none"}),
        ("xai", "grok-3-mini", "high", {"reasoning_effort": "high"}),
        ("mistral", None, "high", {"reasoning_effort": "high"}),
        ("groq", "openai/gpt-oss-120b", "low", {"reasoning_effort": "low"}),
        ("openrouter", None, "xhigh", {"reasoning": {"effort": "xhigh"}}),
        ("llamacpp", None, "low", {"chat_template_kwargs": {"reasoning_effort": "low"}}),
        ("vllm", None, "low", {"reasoning_effort": "low"}),
        ("deepseek", None, "none", {"thinking": {"type": "disabled"}}),
        (
            "deepseek",
            None,
            "low",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
        ),
        ("zai", None, "none", {"thinking": {"type": "disabled"}}),
    ],
)
def test_effort(key: str, model: str | None, effort: str, said: Any) -> None:
    """Every host spells the effort its own way."""
    request = encoded(target_of(key, model), effort=effort)
    assert rest(request.body) == said
    assert codes(request) == []


@pytest.mark.parametrize(
    ("key", "model", "effort", "word"),
    [
        ("deepseek", None, "minimal", "low"),
        ("deepseek", None, "medium", "high"),
        ("deepseek", None, "xhigh", "high"),
        ("groq", "openai/gpt-oss-20b", "xhigh", "high"),
    ],
)
def test_effort_without_a_word(key: str, model: str | None, effort: str, word: str) -> None:
    """An effort the host has no word for becomes the nearest, with a warning."""
    request = encoded(target_of(key, model), effort=effort)
    assert request.body["reasoning_effort"] == word
    assert codes(request) == ["effort_mapped"]


@pytest.mark.parametrize(
    ("key", "model"),
    [
        ("openai", "gpt-4o-mini"),
        ("openai", "ft:gpt-4o:org::id"),
        ("xai", "grok-code-fast-1"),
        ("xai", "grok-3"),
        ("xai", "grok-4-fast-non-reasoning"),
        ("minimax", None),
        ("lmstudio", None),
    ],
)
def test_effort_is_refused_where_there_is_none(key: str, model: str | None) -> None:
    """Models without reasoning refuse it by name, before any I/O."""
    with pytest.raises(ConfigurationError, match="effort"):
        encoded(target_of(key, model), effort="low")


# ---------------------------------------------------------------- thinking and forced calls


@pytest.mark.parametrize("choice", ["any", "ping", {"names": ["ping", "get_weather"]}])
def test_a_forced_call_switches_thinking_off(choice: Any) -> None:
    """DeepSeek refuses forced calls while it thinks: thinking goes, and that is said."""
    request = encoded(target_of("deepseek"), functions=FUNCTIONS, function_call=choice)
    assert request.body["thinking"] == {"type": "disabled"}
    assert codes(request)[0] in ("thinking_switched_off", "subset_filtered")
    assert "thinking_switched_off" in codes(request)


@pytest.mark.parametrize(
    "asked", [{"effort": "low"}, {"extra_body": {"thinking": {"type": "enabled"}}}]
)
def test_a_forced_call_is_refused_where_thinking_was_asked_for(asked: Any) -> None:
    """The caller's own wish for thinking is not overruled."""
    with pytest.raises(UnsupportedOptionError, match="effort"):
        encoded(target_of("deepseek"), functions=FUNCTIONS, function_call="any", **asked)


@pytest.mark.parametrize(
    "off", [{"effort": "none"}, {"extra_body": {"thinking": {"type": "disabled"}}}]
)
def test_a_forced_call_goes_with_thinking_already_off(off: Any) -> None:
    """Nothing is switched, so nothing is said."""
    request = encoded(target_of("deepseek"), functions=FUNCTIONS, function_call="any", **off)
    assert request.body["thinking"] == {"type": "disabled"}
    assert codes(request) == []


def test_unforced_calls_leave_thinking_alone() -> None:
    """`auto`, `none` and a subset in mode auto are taken while DeepSeek thinks."""
    for choice in ("auto", "none", {"names": ["ping"], "mode": "auto"}):
        request = encoded(target_of("deepseek"), functions=FUNCTIONS, function_call=choice)
        assert "thinking" not in request.body


def test_a_model_without_thoughts_is_told_so_without_a_warning() -> None:
    """DeepSeek thinks by default; for its older name without thoughts nothing is lost."""
    chat = encoded(target_of("deepseek", "deepseek-chat"), functions=FUNCTIONS, function_call="any")
    assert chat.body["thinking"] == {"type": "disabled"}
    assert codes(chat) == []


def test_calls_without_their_thoughts_switch_thinking_off() -> None:
    """DeepSeek wants the thoughts of each turn with calls back; without them it must not think."""
    foreign = own_history("openrouter", {"field": "reasoning_content"}, "Foreign.")
    request = encoded(target_of("deepseek"), foreign, functions=FUNCTIONS)
    assert request.body["thinking"] == {"type": "disabled"}
    assert codes(request) == ["thinking_switched_off", "reasoning_left_out"]
    assert "reasoning_content" not in request.body["messages"][1]
    own = own_history("deepseek", {"field": "reasoning_content"}, "Own.")
    assert codes(encoded(target_of("deepseek"), own, functions=FUNCTIONS)) == []


def test_calls_without_their_thoughts_get_a_stand_in_where_thinking_was_asked_for() -> None:
    """The caller asked for an effort: the missing thoughts are stood in for, and that is said."""
    foreign = own_history("openrouter", {"field": "reasoning_content"}, "Foreign.")
    request = encoded(target_of("deepseek"), foreign, functions=FUNCTIONS, effort="high")
    assert request.body["messages"][1]["reasoning_content"].strip()
    assert codes(request) == ["reasoning_left_out", "reasoning_stood_in"]


def test_sampling_is_ignored_while_deepseek_thinks() -> None:
    """What a host would drop in silence is said."""
    request = encoded(target_of("deepseek"), temperature=0.2, top_p=0.5)
    assert codes(request) == ["parameter_ignored"]
    assert "temperature and top_p" in request.plan.warnings[0].detail
    assert codes(encoded(target_of("deepseek"), temperature=0.2, effort="none")) == []


# ---------------------------------------------------------------- the answer's shape


def test_schema_as_words_stands_after_the_system_messages() -> None:
    """The instruction follows the caller's system messages and precedes the conversation."""
    messages = [
        {"role": "system", "content": "A"},
        {"role": "system", "content": "B"},
        {"role": "user", "content": "U"},
    ]
    request = encoded(target_of("deepseek"), messages, json_schema=CITY)
    said = [(message["role"], message["content"][:3]) for message in request.body["messages"]]
    assert said == [("system", "A"), ("system", "B"), ("system", "The"), ("user", "U")]
    assert "json" in request.body["messages"][2]["content"]
    assert '"population"' in request.body["messages"][2]["content"]
    alone = encoded(target_of("deepseek"), messages[:1], json_schema=CITY)
    assert [message["role"] for message in alone.body["messages"]] == ["system", "system"]


def test_schema_gives_way_to_functions_where_it_would_win_over_them() -> None:
    """Where `response_format` rules calls out, the schema goes out as words beside functions."""
    for key in ("groq", "llamacpp", "ollama:openai"):
        alone = encoded(target_of(key), json_schema=CITY)
        assert alone.body["response_format"]["type"] == "json_schema"
        assert codes(alone) == []
        beside = encoded(target_of(key), json_schema=CITY, functions=FUNCTIONS)
        assert "response_format" not in beside.body
        assert codes(beside) == ["json_schema_emulated"]
        without = encoded(
            target_of("ollama:openai"), json_schema=CITY, functions=FUNCTIONS, function_call="none"
        )
        assert "response_format" in without.body


def test_a_stand_in_for_a_call_comes_before_the_schema() -> None:
    """A forced call that is emulated takes the answer's shape."""
    request = encoded(
        target_of("ollama:openai"), functions=FUNCTIONS, function_call="any", json_schema=CITY
    )
    assert request.body["response_format"]["json_schema"]["name"] == "function_call"
    assert request.plan.output is None


def test_a_schema_that_cannot_be_strict_goes_out_plain() -> None:
    """An open map cannot be held strictly: `strict` is false, with a warning."""
    open_map = {"type": "object", "additionalProperties": {"type": "integer"}}
    request = encoded(target_of("openai"), json_schema=open_map)
    assert request.body["response_format"]["json_schema"]["strict"] is False
    assert codes(request) == ["strict_unavailable"]


def test_schema_without_strict() -> None:
    """Self-hosted servers get the schema as it is, and no word of strictness."""
    described = encoded(target_of("vllm"), json_schema=CITY).body["response_format"]["json_schema"]
    assert described == {"name": "output", "schema": CITY}


# ---------------------------------------------------------------- streams and the rest


def test_usage_of_a_stream_is_asked_for_where_it_can_be() -> None:
    """Mistral and Groq refuse `stream_options` and send the usage anyway."""
    assert rest(body_of(target_of("openai"), stream=True)) == {
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    for key in ("mistral", "groq"):
        assert rest(body_of(target_of(key), stream=True)) == {"stream": True}
    assert "stream" not in body_of(target_of("openai"))


def test_extra_body_is_merged_last() -> None:
    """It wins over everything, objects are merged at any depth, and it is not changed."""
    extra = {"reasoning": {"max_tokens": 5}, "temperature": 0.9, "provider": {"order": ["a"]}}
    before = {"reasoning": {"max_tokens": 5}, "temperature": 0.9, "provider": {"order": ["a"]}}
    body = body_of(target_of("openrouter"), effort="low", temperature=0.1, extra_body=extra)
    assert body["reasoning"] == {"effort": "low", "max_tokens": 5}
    assert body["temperature"] == 0.9
    assert body["provider"] == {"order": ["a"]}
    assert extra == before


def test_an_unknown_thinking_switch_says_nothing() -> None:
    """Only a switch with a type counts as a wish."""
    target = quirky(reasons=True, thinking=True, forced="without_thinking")
    request = encoded(
        target, functions=FUNCTIONS, function_call="any", extra_body={"thinking": {"budget": 1}}
    )
    assert codes(request) == ["thinking_switched_off"]
