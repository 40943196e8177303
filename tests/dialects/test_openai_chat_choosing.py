"""Functions and the choice among them, host by host."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.openai_chat_cases import (
    FUNCTIONS,
    PING,
    WEATHER,
    body_of,
    codes,
    encoded,
    plan_of,
    quirky,
    target_of,
)
from dialects.test_openai_chat_bodies import DETAILS, own_history

from llm_tools.errors import ConfigurationError, UnsupportedOptionError
from llm_tools.functions.definitions import normalize_functions
from llm_tools.registry import list_endpoints, make_target
from llm_tools.spec import SUPPORT_OPTIONS, Call, Endpoint

NAMED = {"type": "function", "function": {"name": "ping"}}
CHAT = [info.key for info in list_endpoints() if info.dialect == "openai_chat"]
WITH_OBJECTS = [
    *["openai", "azure", "xai", "deepseek", "mistral", "groq", "openrouter", "vllm", "llamacpp"],
    *["together", "fireworks", "nvidia", "huggingface", "github", "sambanova", "litellm", "local"],
]


@pytest.mark.parametrize("key", WITH_OBJECTS)
def test_four_modes_are_words_of_the_wire(key: str) -> None:
    """Hosts with the whole vocabulary get it, with every function beside it."""
    said = [
        body_of(target_of(key), functions=FUNCTIONS, function_call=mode)
        for mode in ("auto", "none", "any", {"name": "ping"})
    ]
    assert [body["tool_choice"] for body in said] == ["auto", "none", "required", NAMED]
    assert all(len(body["tools"]) == 2 for body in said)


def test_a_function_called_none_can_be_named() -> None:
    """The dict form reaches a function whose name is a mode."""
    body = body_of(
        target_of("openai"), functions=[{"name": "none"}], function_call={"name": "none"}
    )
    assert body["tool_choice"] == {"type": "function", "function": {"name": "none"}}


def test_modes_without_functions_send_nothing() -> None:
    """`auto` and `none` without functions leave no trace."""
    for mode in ("auto", "none"):
        assert set(body_of(target_of("openai"), function_call=mode)) == {"model", "messages"}


@pytest.mark.parametrize("key", ["zai", "minimax", "ollama:openai"])
def test_none_leaves_the_functions_out_where_there_is_no_choice(key: str) -> None:
    """Without a word for `none`, no functions are as good."""
    request = encoded(target_of(key), functions=FUNCTIONS, function_call="none")
    assert not {"tools", "tool_choice"} & set(request.body)
    assert codes(request) == []


@pytest.mark.parametrize("key", ["zai", "minimax", "ollama:openai"])
def test_forced_calls_are_asked_for_as_text_where_there_is_no_choice(key: str) -> None:
    """A forced call is emulated: no functions on the wire, the answer stands for the call."""
    request = encoded(target_of(key), functions=FUNCTIONS, function_call="ping")
    assert request.plan.emulation == "function_call"
    assert not {"tools", "tool_choice"} & set(request.body)
    assert codes(request) == ["function_call_emulated"]
    told = request.body["messages"][0]["content"]
    assert "ping" in told
    assert "get_weather" not in told
    assert "json" in told


def test_stand_in_keeps_references_whole() -> None:
    """A schema with `$ref` is found again beneath the stand-in's own schema."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    function = {
        "name": "grow",
        "parameters": {
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/Node"}, "again": {"$ref": "#"}},
            "$defs": {"Node": node},
        },
    }
    target = quirky(choice="absent")
    body = body_of(target, functions=[function, PING], function_call="any")
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["anyOf"][0]["properties"]["arguments"] == {"$ref": "#/$defs/grow"}
    moved = schema["$defs"]["grow"]
    assert moved["properties"] == {
        "root": {"$ref": "#/$defs/grow/$defs/Node"},
        "again": {"$ref": "#/$defs/grow"},
    }
    assert moved["$defs"]["Node"]["properties"]["next"] == {"$ref": "#/$defs/grow/$defs/Node"}
    assert "$ref" not in str(schema["anyOf"][1])


def test_any_of_one_function_is_named_where_required_is_missing() -> None:
    """DashScope has names but no `required`: one name is native, several are not."""
    target = target_of("dashscope")
    one = encoded(target, functions=FUNCTIONS, function_call={"names": ["ping"]})
    assert one.body["tool_choice"] == NAMED
    several = encoded(target, functions=FUNCTIONS, function_call="any")
    assert several.plan.emulation == "function_call"


def test_a_named_call_is_the_only_function_where_choices_are_words() -> None:
    """LM Studio takes strings alone: the one function goes out, with `required`."""
    request = encoded(target_of("lmstudio"), functions=FUNCTIONS, function_call="ping")
    body = body_of(target_of("lmstudio"), functions=FUNCTIONS, function_call="ping")
    assert body["tool_choice"] == "required"
    assert [tool["function"]["name"] for tool in body["tools"]] == ["ping"]
    assert codes(request) == ["subset_filtered"]


@pytest.mark.parametrize(("mode", "word"), [("any", "required"), ("auto", "auto")])
def test_subset_filtered(mode: str, word: str) -> None:
    """Where the wire cannot name a subset, only those functions go out, with a warning."""
    choice = {"names": ["ping", "c"], "mode": mode}
    functions = [*FUNCTIONS, {"name": "c"}]
    request = encoded(target_of("groq"), functions=functions, function_call=choice)
    body = body_of(target_of("groq"), functions=functions, function_call=choice)
    assert body["tool_choice"] == word
    assert [tool["function"]["name"] for tool in body["tools"]] == ["ping", "c"]
    assert codes(request) == ["subset_filtered"]
    assert request.plan.functions is not None
    assert set(request.plan.functions.by_name) == {"get_weather", "ping", "c"}


@pytest.mark.parametrize(
    ("key", "kept", "code"),
    [
        ("openrouter", {"details": DETAILS}, "subset_checked"),
        ("openrouter", {"details": [{"type": "reasoning.text", "text": "x"}]}, "subset_filtered"),
        (
            "mistral",
            {"chunk": {"type": "thinking", "thinking": [], "signature": "s"}},
            "subset_checked",
        ),
        ("mistral", {"chunk": {"type": "thinking", "thinking": []}}, "subset_filtered"),
    ],
)
def test_signed_reasoning_keeps_all_functions(key: str, kept: dict[str, Any], code: str) -> None:
    """Reasoning signed over the functions would break if they were filtered: the answer is checked."""
    messages = own_history(key, kept, "Hm.")
    call = {"functions": FUNCTIONS, "function_call": {"names": ["ping"], "mode": "auto"}}
    assert codes(encoded(target_of(key), messages, **call)) == [code]
    sent = len(body_of(target_of(key), messages, **call)["tools"])
    assert sent == (2 if code == "subset_checked" else 1)


def test_foreign_signatures_do_not_count() -> None:
    """Another provider's signed reasoning is not sent, so a subset may be filtered."""
    messages = own_history("other", {"details": DETAILS}, "Hm.")
    choice = {"names": ["ping"], "mode": "auto"}
    request = encoded(target_of("openrouter"), messages, functions=FUNCTIONS, function_call=choice)
    assert codes(request) == ["subset_filtered", "reasoning_left_out"]


def test_functions_are_encoded_once() -> None:
    """The same functions give the same bytes object; so does the same subset of them."""
    functions = normalize_functions(FUNCTIONS)
    target = target_of("xai")
    messages = target_of("xai").endpoint.key
    plain = [encode_with(target, functions, messages, None) for _ in range(2)]
    assert plain[0]["tools"] is plain[1]["tools"]
    subset = [encode_with(target, functions, messages, ("ping", "get_weather")) for _ in range(2)]
    assert subset[0]["tools"] is subset[1]["tools"]


def encode_with(target: Any, functions: Any, text: str, names: tuple[str, ...] | None) -> Any:
    """The body of a call with functions already normalised."""
    from llm_tools.content import Message
    from llm_tools.functions.choice import FunctionChoice

    call = Call(
        messages=(Message(role="user", content=text),),
        functions=functions,
        choice=FunctionChoice("auto", names) if names else None,
    )
    return target.dialect.encode(target, call).body


def test_definitions_are_rebuilt_from_the_history() -> None:
    """OpenRouter wants tools with every request: minimal ones, and no call."""
    messages = own_history("openrouter", {"field": "reasoning"}, "Own.")
    request = encoded(target_of("openrouter"), messages)
    assert codes(request) == ["functions_rebuilt"]
    assert request.body["tool_choice"] == "none"
    assert request.plan.functions is None
    assert "tools" not in encoded(target_of("openrouter"), "Hi").body
    assert "tools" not in encoded(target_of("openai"), messages).body


def test_illegal_names_go_out_legal_and_stay_so_in_the_history() -> None:
    """A renamed function has one wire name in definitions, choice and replayed calls."""
    functions = [{"name": "fs.read file"}, {"name": "fs_read_file"}]
    messages = [
        {"role": "user", "content": "Read."},
        {
            "role": "assistant",
            "content": [
                {"type": "function_use", "name": "fs.read file", "input": {}, "functionId": "c"},
                {"type": "function_use", "name": "gone.away", "input": {}, "functionId": "d"},
            ],
        },
        {"role": "function", "name": "fs.read file", "functionId": "c", "content": "x"},
        {"role": "function", "name": "gone.away", "functionId": "d", "content": "y"},
    ]
    body = body_of(
        target_of("mistral"), messages, functions=functions, function_call={"name": "fs.read file"}
    )
    names = [tool["function"]["name"] for tool in body["tools"]]
    calls = [call["function"]["name"] for call in body["messages"][1]["tool_calls"]]
    assert len(set(names)) == 2
    assert names[1] == "fs_read_file"
    assert calls[0] == names[0] == body["tool_choice"]["function"]["name"]
    assert body["messages"][2]["name"] == names[0]
    assert all(name.replace("_", "").isalnum() for name in (*names, *calls))


# ---------------------------------------------------------------- strict


def test_strict_is_a_word_only_where_it_has_an_effect() -> None:
    """Hosts without strict get none, and the input is validated here."""
    for key in ("xai", "llamacpp", "lmstudio", "ollama:openai"):
        request = encoded(target_of(key), functions=[WEATHER], strict=True)
        assert (
            "strict"
            not in body_of(target_of(key), functions=[WEATHER], strict=True)["tools"][0]["function"]
        )
        assert request.plan.functions is not None
        assert request.plan.functions.by_name["get_weather"].validate
    for key in ("openai", "azure", "mistral", "groq", "deepseek", "vllm", "openrouter"):
        body = body_of(target_of(key), functions=[WEATHER], strict=True)
        assert body["tools"][0]["function"]["strict"] is True


@pytest.mark.parametrize(
    ("base_url", "path", "strict"),
    [
        (None, "/beta/chat/completions", True),
        ("https://api.deepseek.com/", "/beta/chat/completions", True),
        ("https://api.deepseek.com/beta", None, True),
        ("https://proxy.example/v1", None, False),
    ],
)
def test_deepseek_is_strict_on_its_beta_address(
    base_url: str | None, path: str | None, strict: bool
) -> None:
    """Strict requests go to the beta base URL; behind another one the input is validated here."""
    settings = {} if base_url is None else {"base_url": base_url}
    target = target_of("deepseek", None, **settings)
    request = encoded(target, functions=FUNCTIONS, strict=True)
    assert request.path == path
    tools = body_of(target, functions=FUNCTIONS, strict=True)["tools"]
    assert all(tool["function"].get("strict", False) is strict for tool in tools)
    assert ("strict_emulated" in codes(request)) is not strict
    assert encoded(target, functions=FUNCTIONS).path is None


def test_deepseek_is_strict_with_all_functions_or_none() -> None:
    """One open map takes strictness, and the beta path, from all."""
    open_map = {
        "type": "object",
        "properties": {"m": {"type": "object", "additionalProperties": True}},
    }
    functions = [WEATHER, {"name": "set_all", "parameters": open_map}]
    request = encoded(target_of("deepseek"), functions=functions, strict=True)
    assert request.path is None
    body = body_of(target_of("deepseek"), functions=functions, strict=True)
    assert not any("strict" in tool["function"] for tool in body["tools"])
    assert "strict_unavailable" in codes(request)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "model", ["gpt-5.5", "gpt-5.6", "gpt-5.6-mini", "gpt-6-sol", "gpt-5.12", "gpt-7"]
)
def test_chat_refuses_functions_on_newer_models(model: str) -> None:
    """The way out is named: the Responses key, or effort `none`."""
    with pytest.raises(UnsupportedOptionError, match=r"openai\.responses\.v1.*effort='none'"):
        encoded(target_of("openai", model), functions=FUNCTIONS)
    assert "tools" in encoded(target_of("openai", model), functions=FUNCTIONS, effort="none").body
    assert "tools" not in encoded(target_of("openai", model)).body
    assert (
        "tools"
        not in encoded(target_of("openai", model), functions=FUNCTIONS, function_call="none").body
    )


def test_chat_refuses_functions_with_an_effort() -> None:
    """gpt-5.4 takes functions, but not beside an effort."""
    target = target_of("openai", "gpt-5.4")
    assert "tools" in encoded(target, functions=FUNCTIONS).body
    assert "tools" in encoded(target, functions=FUNCTIONS, effort="none").body
    with pytest.raises(UnsupportedOptionError, match=r"openai\.responses\.v1"):
        encoded(target, functions=FUNCTIONS, effort="low")


@pytest.mark.parametrize("model", ["gpt-6-astra", "gpt-6.1-sol", "gpt-5.6-pro"])
def test_chat_never_takes_functions_of_models_that_always_reason(model: str) -> None:
    """They refuse effort `none`, so it is no way out."""
    with pytest.raises(UnsupportedOptionError) as refused:
        encoded(target_of("azure", model), functions=FUNCTIONS, effort="none")
    assert "azure.responses.v1" in str(refused.value)
    assert "effort" not in str(refused.value)


@pytest.mark.parametrize("key", ["openai", "azure"])
@pytest.mark.parametrize(
    "model",
    [
        "gpt-5-pro", "o3-pro-2025-06-10", "gpt-5.1-codex-mini", "codex-mini-latest",
        "o4-mini-deep-research", "computer-use-preview",
    ],
)  # fmt: skip
def test_chat_takes_no_functions_of_models_it_does_not_serve(key: str, model: str) -> None:
    """The key that serves them is named; nothing is said of an effort, which would not help."""
    with pytest.raises(UnsupportedOptionError) as refused:
        encoded(target_of(key, model), functions=FUNCTIONS, effort="none")
    assert str(refused.value) == (
        f"{model} takes no functions on {key}.chat.v1: use {key}.responses.v1 with model={model!r}."
    )


@pytest.mark.parametrize("model", ["gpt-4o-probe", "gpt-5-mini", "o3", "my-pro", "o1-problems"])
def test_chat_takes_functions_of_names_that_only_look_like_those(model: str) -> None:
    """A deployment may have any name."""
    assert "tools" in encoded(target_of("azure", model), functions=FUNCTIONS).body


def test_perplexity_takes_no_functions() -> None:
    """The message says what does work."""
    with pytest.raises(UnsupportedOptionError, match="json_schema"):
        encoded(target_of("perplexity"), functions=FUNCTIONS)
    assert (
        "tools"
        not in encoded(target_of("perplexity"), functions=FUNCTIONS, function_call="none").body
    )


def test_a_model_that_always_thinks_takes_no_forced_call() -> None:
    """`auto` is the way out."""
    target = target_of("moonshot", "kimi-k3")
    with pytest.raises(UnsupportedOptionError, match="function_call='auto'"):
        encoded(target, functions=FUNCTIONS, function_call="any")
    assert encoded(target, functions=FUNCTIONS, function_call="auto").body["tool_choice"] == "auto"


@pytest.mark.parametrize("key", ["deepseek", "cerebras", "zai", "ollama:openai", "google:openai"])
def test_parallel_calls_cannot_be_switched_off_everywhere(key: str) -> None:
    """`False` is refused by name where the wire has no switch; `True` is how it is anyway."""
    with pytest.raises(ConfigurationError, match="parallel_function_calls"):
        encoded(target_of(key), functions=FUNCTIONS, parallel_function_calls=False)
    request = encoded(target_of(key), functions=FUNCTIONS, parallel_function_calls=True)
    assert "parallel_tool_calls" not in request.body


def test_parallel_switch() -> None:
    """It goes out as given, and only with functions."""
    for value in (True, False):
        request = encoded(target_of("llamacpp"), functions=FUNCTIONS, parallel_function_calls=value)
        assert request.body["parallel_tool_calls"] is value
        assert (
            "parallel_tool_calls"
            not in encoded(target_of("openai"), parallel_function_calls=value).body
        )


# ---------------------------------------------------------------- the table


CALLS: dict[str, dict[str, Any]] = {
    "auto": {"functions": FUNCTIONS, "function_call": "auto"},
    "none": {"functions": FUNCTIONS, "function_call": "none"},
    "any": {"functions": FUNCTIONS, "function_call": "any"},
    "named": {"functions": FUNCTIONS, "function_call": "ping"},
    "subset": {
        "functions": [*FUNCTIONS, {"name": "c"}],
        "function_call": {"names": ["ping", "c"]},
    },
    "strict": {"functions": FUNCTIONS, "strict": True},
    "json_schema": {"json_schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    "parallel_off": {"functions": FUNCTIONS, "parallel_function_calls": False},
    "image": {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image", "data": "iVBORw0KGgo=", "mediaType": "image/png"}],
            }
        ]
    },
    "effort": {"effort": "low"},
    "seed": {"seed": 1},
}
EMULATIONS = {
    "function_call_emulated",
    "subset_filtered",
    "strict_emulated",
    "json_schema_emulated",
}


@pytest.mark.parametrize("key", CHAT)
@pytest.mark.parametrize("option", SUPPORT_OPTIONS)
def test_support_is_what_encode_does(key: str, option: str) -> None:
    """Each cell of the table: refused raises, emulated warns, native does neither."""
    target = make_target(target_of(key).endpoint, "any-model", {})
    said = target.dialect.support(target)[option]
    if said == "refused":
        if option == "parallel_off" and target.quirks.functions == "refused":
            return
        with pytest.raises(ConfigurationError):
            encoded(target, **CALLS[option])
        return
    warned = EMULATIONS & set(codes(encoded(target, **CALLS[option])))
    assert bool(warned) == (said == "emulated")


@pytest.mark.parametrize(
    ("model", "auto"),
    [
        ("gpt-4o", "native"),
        ("gpt-5.4", "native"),
        ("gpt-5.6", "refused"),
        ("gpt-6-astra", "refused"),
    ],
)
def test_support_knows_the_model(model: str, auto: str) -> None:
    """The table is told for a model where its quirks matter."""
    target = target_of("openai", model)
    assert target.dialect.support(target)["auto"] == auto


def test_plan_knows_all_functions() -> None:
    """What the answer is read with: every function, whatever went out."""
    plan = plan_of(target_of("ollama:openai"), functions=FUNCTIONS, function_call="none")
    assert plan.functions is not None
    assert set(plan.functions.by_name) == {"get_weather", "ping"}
    assert plan_of(quirky()).functions is None


def test_endpoint_body_lies_beneath() -> None:
    """A record's constant body is overridden by what the call says, and merged with it."""
    endpoint = Endpoint(
        key="h", base_url="https://h", body={"a": 1, "reasoning": {"exclude": True}}
    )
    target = make_target(endpoint, "m", {})
    body = body_of(target, extra_body={"reasoning": {"effort": "low"}, "model": "other"})
    assert body["a"] == 1
    assert body["reasoning"] == {"exclude": True, "effort": "low"}
    assert body["model"] == "other"
    assert endpoint.body == {"a": 1, "reasoning": {"exclude": True}}
