"""Bodies of the Messages API: the conversation, parameters, and what shapes the answer."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.anthropic_and_bedrock import (
    CITY_SCHEMA,
    FUNCTIONS,
    PING,
    PNG,
    WEATHER,
    body_of,
    codes,
    encoded,
    golden,
    sent,
    target_of,
)

from llm_tools.content import (
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from llm_tools.errors import ConfigurationError, UnsupportedOptionError

LOOP: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Oslo and Lima?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Checking."},
            {"type": "function_use", "name": "get_weather", "input": {"city": "Oslo"}, "functionId": "c_1"},
            {"type": "function_use", "name": "get_weather", "input": {"city": "Lima"}, "functionId": "c_2"},
        ],
    },
    {"role": "function", "name": "get_weather", "functionId": "c_1", "content": {"t": 3}},
    {"role": "function", "name": "get_weather", "functionId": "c_2", "content": "no such city", "isError": True},
    {"role": "user", "content": "Which is warmer?"},
]  # fmt: skip


def messages_of(body: Any) -> list[tuple[str, Any]]:
    """Roles and contents."""
    return [(message["role"], message["content"]) for message in body["messages"]]


def test_smallest_body() -> None:
    """A string becomes one user message; max_tokens is always sent."""
    request = encoded("anthropic", "Hi")
    assert sent(request) == {
        "model": "claude-haiku-4-5",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert request.headers == {"anthropic-version": "2026-10-21"}
    assert codes(request) == []


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        ("anthropic", "anthropic_loop"),
        ("vertex:anthropic", "anthropic_loop_vertex"),
        ("amazon:anthropic", "anthropic_loop_invoke"),
    ],
)
def test_loop_of_two_calls(endpoint: str, name: str) -> None:
    """Results of one turn go out in one message, first; hosts differ in model, stream, version."""
    assert body_of(endpoint, LOOP, functions=FUNCTIONS, stream=True) == golden(name)


def test_endpoint_headers_say_the_version() -> None:
    """Only hosts that read the header get it, and the setting of that name changes it."""
    older = target_of("anthropic", api_version="2023-06-01")
    assert encoded(older).headers == {"anthropic-version": "2023-06-01"}
    assert encoded("azure:anthropic").headers == {"anthropic-version": "2026-10-21"}
    assert encoded("amazon:messages").headers == {"anthropic-version": "2026-10-21"}
    assert encoded("vertex:anthropic").headers == {}
    assert encoded("amazon:anthropic").headers == {}


def test_results_come_first_and_in_the_order_of_the_calls() -> None:
    """Whatever the order they came in, also after a user's text."""
    history = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "a"},
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "b"},
        ]},
        {"role": "user", "content": "(also: hurry)"},
        {"role": "function", "name": "ping", "functionId": "b", "content": "2"},
        {"role": "function", "name": "ping", "functionId": "a", "content": "1"},
    ]  # fmt: skip
    assert messages_of(body_of("anthropic", history))[-1] == (
        "user",
        [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            {"type": "text", "text": "(also: hurry)"},
        ],
    )


def _call(messages: tuple[Message, ...]) -> Any:
    from llm_tools.spec import Call

    return Call(messages=messages)


def test_blank_text_is_left_out_and_roles_alternate() -> None:
    """No blank text at any depth, no empty message, every call and result kept."""
    history = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [
            {"type": "text", "text": ""},
            {"type": "function_use", "name": "run", "input": {}, "functionId": "c_1"},
        ]},
        {"role": "function", "name": "run", "functionId": "c_1", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": "\n"}]},
        {"role": "user", "content": "Next"},
        {"role": "assistant", "content": [
            {"type": "text", "text": " \t"},
            {"type": "function_use", "name": "run", "input": {}, "functionId": "c_2"},
        ]},
        {"role": "function", "name": "run", "functionId": "c_2", "content": "  "},
    ]  # fmt: skip
    assert messages_of(body_of("anthropic", history)) == [
        ("user", "Go"),
        ("assistant", [{"type": "tool_use", "id": "c_1", "name": "run", "input": {}}]),
        ("user", [{"type": "tool_result", "tool_use_id": "c_1"}, {"type": "text", "text": "Next"}]),
        ("assistant", [{"type": "tool_use", "id": "c_2", "name": "run", "input": {}}]),
        ("user", [{"type": "tool_result", "tool_use_id": "c_2"}]),
    ]


def test_blank_user_turn_gets_a_visible_stand_in() -> None:
    """An empty user message cannot be sent, and must not vanish unsaid."""
    request = encoded("anthropic", "  ")
    assert messages_of(sent(request)) == [("user", "(no text)")]
    assert codes(request) == ["empty_user_turn"]


def test_consecutive_messages_of_one_role_become_one() -> None:
    """Roles alternate."""
    history = [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "c"},
        {"role": "assistant", "content": "d"},
        {"role": "user", "content": "e"},
    ]
    assert messages_of(body_of("anthropic", history)) == [
        ("user", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ("assistant", [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]),
        ("user", "e"),
    ]


def test_several_system_messages_become_blocks_and_late_ones_a_warning() -> None:
    """All system texts stand before the conversation."""
    history = [
        {"role": "system", "content": "One."},
        {"role": "user", "content": "a"},
        {"role": "system", "content": "Two."},
        {"role": "system", "content": "  "},
    ]
    request = encoded("anthropic", history)
    assert sent(request)["system"] == [
        {"type": "text", "text": "One."},
        {"type": "text", "text": "Two."},
    ]
    assert codes(request) == ["system_hoisted"]


def test_conversation_without_user_turn_sends_the_last_system_message_as_user() -> None:
    """With a warning; the other system messages stay what they are."""
    request = encoded(
        "anthropic", [{"role": "system", "content": "A"}, {"role": "system", "content": "B"}]
    )
    assert sent(request)["system"] == "A"
    assert messages_of(sent(request)) == [("user", "B")]
    assert codes(request) == ["system_as_user"]


def test_history_cut_at_the_front_gets_a_user_turn() -> None:
    """The first message must be the user's."""
    history = [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "hi"}]
    request = encoded("anthropic", history)
    assert messages_of(sent(request)) == [
        ("user", "(earlier turns are left out)"),
        ("assistant", "hello"),
        ("user", "hi"),
    ]
    assert codes(request) == ["user_turn_added"]


def test_nothing_to_send_is_refused() -> None:
    """Before any I/O."""
    with pytest.raises(ConfigurationError, match="at least one user message"):
        encoded("anthropic", [])


def test_last_assistant_turn_is_refused_by_new_models_and_sent_to_old_ones() -> None:
    """A prefill is native until 4.5, and a clear error later."""
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well"}]
    assert messages_of(body_of("anthropic", history))[-1] == ("assistant", "Well")
    with pytest.raises(UnsupportedOptionError, match="does not continue an assistant turn"):
        encoded(target_of("anthropic", "claude-opus-4-6"), history)


@pytest.mark.parametrize("endpoint", ["anthropic", "amazon:anthropic", "amazon"])
def test_last_assistant_turn_ends_in_no_blank(endpoint: str) -> None:
    """A prefill that ends in blanks is refused; those within, and of earlier turns, stay."""
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Well \n"},
        {"role": "user", "content": "Go on "},
        {"role": "assistant", "content": [{"type": "text", "text": "It  is \n\t "}]},
    ]
    made = encoded(target_of(endpoint), history)
    texts = [
        turn["content"] if isinstance(turn["content"], str) else turn["content"][0]["text"]
        for turn in sent(made)["messages"]
    ]
    assert texts == ["Hi", "Well \n", "Go on ", "It  is"]
    assert codes(made) == ["end_trimmed"]
    assert codes(encoded(target_of(endpoint), history[:-1])) == []


def test_paused_turn_is_resent_as_it_is() -> None:
    """An assistant turn with a tool the provider runs may be the last."""
    block = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"q": "x"},
    }
    paused = OutputResultReasoning(provider_metadata={"anthropic": {"block": block}})
    history = (Message(role="user", content="Hi"), Message(role="assistant", content=(paused,)))
    target = target_of("anthropic", "claude-opus-5-5")
    body = sent(target.dialect.encode(target, _call(history)))
    assert messages_of(body)[-1] == ("assistant", [block])


# ---------------------------------------------------------------- replay


def test_own_blocks_go_back_verbatim_and_in_order() -> None:
    """Thinking with its signature (also without text), redacted thinking, citations, caller."""
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "thinking", "thinking": "", "signature": "ZW1wdHk="},
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "text", "text": "See [1].", "citations": [{"type": "web_search_result_location", "url": "https://e.org"}]},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "unknown_thing", "x": [1, 2]},
    ]  # fmt: skip

    def left(block: Any) -> dict[str, Any]:
        return {"anthropic": {"block": block, "model": "claude-haiku-4-5"}}

    caller = {"caller": {"type": "direct"}}
    parts = (
        OutputResultReasoning(text="Hm.", provider_metadata=left(blocks[0])),
        OutputResultReasoning(provider_metadata=left(blocks[1])),
        OutputResultReasoning(provider_metadata=left(blocks[2])),
        OutputResultText(text="See [1].", provider_metadata=left(blocks[3])),
        OutputResultReasoning(provider_metadata=left(blocks[4])),
        OutputResultReasoning(provider_metadata=left(blocks[5])),
        OutputResultFunctionUse(
            name="ping", input={}, function_id="toolu_1", provider_metadata=left(caller)
        ),
    )
    history = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="function", name="ping", function_id="toolu_1", content="pong"),
    )
    target = target_of("anthropic")
    request = target.dialect.encode(target, _call(history))
    use = {"type": "tool_use", "id": "toolu_1", "name": "ping", "input": {}, **caller}
    assert messages_of(sent(request))[1] == ("assistant", [*blocks, use])
    assert "reasoning_left_out" not in codes(request)


def test_text_the_caller_changed_wins_over_what_was_left_on_it() -> None:
    """The block of a text goes back only with its own words."""
    left = {"anthropic": {"block": {"type": "text", "text": "old", "citations": []}}}
    part = OutputResultText(text="new", provider_metadata=left)
    history = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=(part,)),
        Message(role="user", content="And?"),
    )
    target = target_of("anthropic")
    body = sent(target.dialect.encode(target, _call(history)))
    assert messages_of(body)[1] == ("assistant", "new")


def test_foreign_reasoning_and_images_of_the_assistant_are_left_out_with_a_warning() -> None:
    """Another provider's reasoning cannot be read here; a refusal is text."""
    parts = (
        OutputResultReasoning(text="Hm.", provider_metadata={"openai": {"id": "rs_1"}}),
        OutputResultRefusal(text="I would rather not."),
        OutputResultImage(data=PNG, media_type="image/png"),
    )
    history = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="user", content="And?"),
    )
    target = target_of("anthropic")
    request = target.dialect.encode(target, _call(history))
    assert messages_of(sent(request))[1] == ("assistant", "I would rather not.")
    assert codes(request) == ["reasoning_left_out", "image_left_out"]


@pytest.mark.parametrize(
    ("model", "kept"),
    [("claude-fable-5-1", False), ("claude-opus-5", True)],
)
def test_thinking_of_another_model_is_left_out_where_it_is_bound(model: str, kept: bool) -> None:
    """Binding models answer 400 to it; the others pass it over."""
    block = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    left = {"anthropic": {"block": block, "model": "claude-sonnet-5"}}
    parts = (
        OutputResultReasoning(text="Hm.", provider_metadata=left),
        OutputResultText(text="Hello"),
    )
    history = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="user", content="And?"),
    )
    target = target_of("anthropic", model)
    request = target.dialect.encode(target, _call(history))
    hello = [block, {"type": "text", "text": "Hello"}] if kept else "Hello"
    assert messages_of(sent(request))[1][1] == hello
    assert codes(request) == ([] if kept else ["reasoning_left_out"])


def test_foreign_ids_are_made_legal_alike_in_call_and_result() -> None:
    """Ids another provider made may hold what this one refuses."""
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "functions.ping:0"}
        ]},
        {"role": "function", "name": "ping", "functionId": "functions.ping:0", "content": "pong"},
    ]  # fmt: skip
    _, (_, assistant), (_, user) = messages_of(body_of("anthropic", history))
    assert assistant[0]["id"] == user[0]["tool_use_id"]
    assert assistant[0]["id"].isalnum()


# ---------------------------------------------------------------- results and images


@pytest.mark.parametrize(
    ("content", "is_error", "expected"),
    [
        ("plain", False, {"content": "plain"}),
        ({"a": 1}, False, {"content": '{"a":1}'}),
        ([1, 2], False, {"content": "[1,2]"}),
        (None, False, {"content": "null"}),
        (0, False, {"content": "0"}),
        ("", False, {}),
        ("no row", True, {"is_error": True, "content": "no row"}),
        ("", True, {"is_error": True, "content": "Error: the function failed"}),
        (
            [{"type": "text", "text": "see"}, {"type": "text", "text": " "}, {"type": "image", "data": PNG, "mediaType": "image/png"}],
            False,
            {
                "content": [
                    {"type": "text", "text": "see"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                ]
            },
        ),
        ([{"type": "text", "text": " "}], False, {}),
        ([{"type": "text", "text": ""}], True, {"is_error": True, "content": "Error: the function failed"}),
    ],
)  # fmt: skip
def test_any_result_becomes_content(content: Any, is_error: bool, expected: Any) -> None:
    """Strings, JSON, parts, nothing; an error is flagged and never without words."""
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_1"}
        ]},
        {"role": "function", "name": "ping", "functionId": "c_1", "content": content, "isError": is_error},
    ]  # fmt: skip
    result = messages_of(body_of("anthropic", history))[-1][1][0]
    assert result == {"type": "tool_result", "tool_use_id": "c_1", **expected}


def test_images_go_by_bytes_or_by_address() -> None:
    """A data URL is bytes; hosts that fetch nothing take bytes only."""
    parts = [
        {"type": "text", "text": "What is it?"},
        {"type": "image", "data": PNG, "mediaType": "image/png"},
        {"type": "image", "url": f"data:image/png;base64,{PNG}"},
        {"type": "image", "url": "https://example.org/a.png"},
    ]
    inline = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    assert messages_of(body_of("anthropic", [{"role": "user", "content": parts}])) == [
        (
            "user",
            [
                {"type": "text", "text": "What is it?"},
                inline,
                inline,
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            ],
        )
    ]
    for endpoint in ("amazon:anthropic", "amazon:messages", "amazon:mantle"):
        with pytest.raises(UnsupportedOptionError, match="fetches no image URLs"):
            encoded(endpoint, [{"role": "user", "content": parts}])


# ---------------------------------------------------------------- parameters


def test_parameters() -> None:
    """Under their names on the wire, and extra_body last."""
    older = target_of("anthropic", api_version="2023-06-01")
    body = body_of(
        older,
        temperature=0.2,
        top_p=0.9,
        top_k=5,
        max_tokens=100,
        stop_sequences=("x",),
        extra_body={"service_tier": "auto", "max_tokens": 50},
    )
    assert body == {
        "model": "claude-haiku-4-5",
        "max_tokens": 50,
        "temperature": 0.2,
        "top_p": 0.9,
        "top_k": 5,
        "stop_sequences": ["x"],
        "service_tier": "auto",
        "messages": [{"role": "user", "content": "Hi"}],
    }


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
def test_sampling_is_refused_by_version_and_by_model(name: str) -> None:
    """The error names the parameter and a way out."""
    with pytest.raises(UnsupportedOptionError, match=rf"{name} under api_version 2026-10-21.*2023"):
        encoded("anthropic", **{name: 1})
    older = target_of("anthropic", "claude-opus-4-7", api_version="2023-06-01")
    with pytest.raises(UnsupportedOptionError, match=rf"takes no {name}"):
        encoded(older, **{name: 1})
    assert body_of("amazon:anthropic", **{name: 1})[name] == 1
    assert body_of("vertex:anthropic", **{name: 1})[name] == 1


def test_seed_is_refused() -> None:
    """There is no such thing here."""
    with pytest.raises(UnsupportedOptionError, match="takes no seed"):
        encoded("anthropic", seed=1)


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("anthropic.claude-v2:1", 4096),
        ("claude-3-5-sonnet-20241022", 8192),
        ("claude-opus-5-5", 8192),
    ],
)
def test_max_tokens_is_the_model_limit_where_that_is_smaller(model: str, limit: int) -> None:
    """Where the caller gives none."""
    assert body_of(target_of("anthropic", model))["max_tokens"] == limit


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("claude-opus-5-5", "xhigh", {"output_config": {"effort": "xhigh"}}),
        ("claude-opus-4-5", "low", {"output_config": {"effort": "low"}}),
        ("claude-sonnet-4-6", "max", {"output_config": {"effort": "max"}}),
        ("claude-haiku-4-5", "none", {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", "none", {"thinking": {"type": "between_tools"}}),
        ("claude-opus-4-5", "max", "use one of low, medium, high"),
        ("claude-fable-5", "none", "use one of low, medium, high, xhigh, max"),
        ("claude-sonnet-4-5", "high", "budget_tokens"),
    ],
)
def test_effort_by_model(model: str, effort: str, expected: Any) -> None:
    """Native where the model has it, else an error that says what it does have."""
    target = target_of("anthropic", model)
    if isinstance(expected, str):
        with pytest.raises(UnsupportedOptionError, match=expected):
            encoded(target, effort=effort)
    else:
        body = body_of(target, effort=effort)
        assert {key: body[key] for key in expected} == expected


# ---------------------------------------------------------------- the shape of the answer


def test_json_schema_is_native_and_joins_effort() -> None:
    """`output_config` holds both."""
    body = body_of(target_of("anthropic", "claude-sonnet-5"), json_schema=CITY_SCHEMA, effort="low")
    config = body["output_config"]
    assert config["effort"] == "low"
    assert config["format"]["type"] == "json_schema"
    assert config["format"]["schema"]["additionalProperties"] is False
    assert config["format"]["schema"]["properties"].keys() == {"city", "country"}


def test_json_schema_is_asked_for_where_it_is_not_native() -> None:
    """Old models get the schema in the prompt, with a warning, and the text is checked."""
    request = encoded(
        target_of("anthropic", "claude-3-5-haiku-20241022"),
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Paris"}],
        json_schema=CITY_SCHEMA,
    )
    body = sent(request)
    assert "output_config" not in body
    assert body["system"][0] == {"type": "text", "text": "Be brief."}
    assert '"country"' in body["system"][1]["text"]
    assert codes(request) == ["json_schema_emulated"]
    assert request.plan.output is not None


# ---------------------------------------------------------------- functions


def test_functions_without_parameters_have_an_object_schema() -> None:
    """Three spellings, one form; descriptions that are empty are left out."""
    functions = [
        {"name": "a", "description": ""},
        {"name": "b", "parameters": {"type": "object", "properties": {}}},
        {"name": "c", "parameters": {}},
    ]
    tools = body_of("anthropic", functions=functions)["tools"]
    assert [tool["input_schema"]["type"] for tool in tools] == ["object"] * 3
    assert [tool.keys() - {"name", "input_schema"} for tool in tools] == [set()] * 3


def test_strict_functions() -> None:
    """Where the model can be held to a schema it is; else the input is checked here."""
    tools = body_of("anthropic", functions=FUNCTIONS, strict=True)["tools"]
    assert [tool.get("strict") for tool in tools] == [True, True]
    assert all(tool["input_schema"]["additionalProperties"] is False for tool in tools)
    old = encoded(
        target_of("anthropic", "claude-3-haiku-20240307"), functions=FUNCTIONS, strict=True
    )
    assert [tool.get("strict") for tool in sent(old)["tools"]] == [None, None]
    assert old.plan.functions is not None
    assert old.plan.functions.by_name["get_weather"].validate


def test_renamed_functions_have_one_name_everywhere() -> None:
    """In the definition, the choice and the history."""
    functions = [{**PING, "name": "stock.find"}, WEATHER]
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [
            {"type": "function_use", "name": "stock.find", "input": {}, "functionId": "c_1"}
        ]},
        {"role": "function", "name": "stock.find", "functionId": "c_1", "content": "1"},
    ]  # fmt: skip
    body = body_of("anthropic", history, functions=functions, function_call="stock.find")
    name = body["tools"][0]["name"]
    assert "." not in name
    assert body["tool_choice"] == {"type": "tool", "name": name}
    assert body["messages"][1]["content"][0]["name"] == name


def test_callers_objects_are_never_changed() -> None:
    """Encoding is pure."""
    import copy

    history, functions = copy.deepcopy(LOOP), copy.deepcopy(FUNCTIONS)
    extra = {"metadata": {"user_id": "u"}}
    body_of("anthropic", history, functions=functions, strict=True, extra_body=extra)
    assert (history, functions, extra) == (LOOP, FUNCTIONS, {"metadata": {"user_id": "u"}})
