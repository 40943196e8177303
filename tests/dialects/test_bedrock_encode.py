"""Bodies of Converse: the conversation, parameters by family, and what shapes the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.anthropic_and_bedrock import (
    CITY_SCHEMA,
    FUNCTIONS,
    PNG,
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
from llm_tools.spec import Call

NOVA = "amazon.nova-lite-v1:0"
LLAMA = "us.meta.llama3-3-70b-instruct-v1:0"
MISTRAL = "mistral.mistral-large-2407-v1:0"
PALMYRA = "writer.palmyra-x5-v1:0"
GPT_OSS = "openai.gpt-oss-120b-1:0"

LOOP: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Oslo and Lima?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Checking."},
            {"type": "function_use", "name": "get_weather", "input": {"city": "Oslo"}, "functionId": "c_1"},
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_2"},
        ],
    },
    {"role": "function", "name": "get_weather", "functionId": "c_1", "content": {"t": 3}},
    {"role": "function", "name": "ping", "functionId": "c_2", "content": "gone", "isError": True},
    {"role": "user", "content": "Which is warmer?"},
]  # fmt: skip
PICTURE: list[dict[str, Any]] = [
    {"role": "user", "content": "Show it"},
    {"role": "assistant", "content": [
        {"type": "function_use", "name": "show", "input": {}, "functionId": "c_1"},
    ]},
    {"role": "function", "name": "show", "functionId": "c_1", "content": [
        {"type": "text", "text": "here"},
        {"type": "image", "data": PNG, "mediaType": "image/png"},
    ]},
]  # fmt: skip
IMAGE = {"image": {"format": "png", "source": {"bytes": PNG}}}


def amazon(model: str) -> Any:
    """A target behind Converse."""
    return target_of("amazon", model)


def messages_of(body: Any) -> list[tuple[str, Any]]:
    """Roles and contents."""
    return [(message["role"], message["content"]) for message in body["messages"]]


def encode_messages(*messages: Message, model: str = NOVA) -> Any:
    """A request of messages that no mending touches."""
    target = amazon(model)
    return target.dialect.encode(target, Call(messages=messages))


def test_smallest_body() -> None:
    """Nothing is sent that was not asked for; the model stands in the address."""
    request = encoded("amazon", "Hi")
    assert sent(request) == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    assert request.headers == {}
    assert codes(request) == []


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "bedrock_loop_claude"),
        (LLAMA, "bedrock_loop_llama"),
        (PALMYRA, "bedrock_loop_palmyra"),
    ],
)
def test_loop_of_two_calls(model: str, name: str) -> None:
    """Results together and first; alone, or without a status, where the family wants so."""
    assert body_of(amazon(model), LOOP, functions=FUNCTIONS) == golden(name)


def test_results_that_stand_alone_are_told() -> None:
    """The assistant turn in between is ours."""
    assert codes(encoded(amazon(LLAMA), LOOP, functions=FUNCTIONS)) == ["results_parted"]
    assert codes(encoded(amazon(LLAMA), LOOP[:-1], functions=FUNCTIONS)) == []
    assert codes(encoded(amazon(NOVA), LOOP, functions=FUNCTIONS)) == []


def test_blank_text_nowhere() -> None:
    """A result without output gets visible words; an error without any, too."""
    history = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [
            {"type": "text", "text": " \t"},
            {"type": "function_use", "name": "run", "input": {}, "functionId": "c_1"},
            {"type": "function_use", "name": "run", "input": {}, "functionId": "c_2"},
            {"type": "function_use", "name": "run", "input": {}, "functionId": "c_3"},
        ]},
        {"role": "function", "name": "run", "functionId": "c_1", "content": "  "},
        {"role": "function", "name": "run", "functionId": "c_2", "content": "", "isError": True},
        {"role": "function", "name": "run", "functionId": "c_3", "content": [{"type": "text", "text": ""}]},
    ]  # fmt: skip
    _, (_, assistant), (_, user) = messages_of(body_of("amazon", history))
    assert [list(block) for block in assistant] == [["toolUse"]] * 3
    assert [(block["toolResult"]["content"], block["toolResult"]["status"]) for block in user] == [
        ([{"text": "(no output)"}], "success"),
        ([{"text": "Error: the function failed"}], "error"),
        ([{"text": "(no output)"}], "success"),
    ]


@pytest.mark.parametrize(
    ("content", "is_error", "text"),
    [("no row", True, "Error: no row"), ("", True, "Error: the function failed"), ("ok", False, "ok")],
)  # fmt: skip
def test_error_without_a_flag_is_said_in_words(content: str, is_error: bool, text: str) -> None:
    """Palmyra refuses `status`."""
    history = [*LOOP[:2], {"role": "assistant", "content": [
        {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_1"}
    ]}, {"role": "function", "name": "ping", "functionId": "c_1", "content": content, "isError": is_error}]  # fmt: skip
    block = messages_of(body_of(amazon(PALMYRA), history))[-1][1][0]
    assert block == {"toolResult": {"toolUseId": "c_1", "content": [{"text": text}]}}


def test_ids_of_this_wire_are_kept_and_others_made_legal() -> None:
    """Dots and colons are legal here; more than 64 characters are not."""
    for given, kept in (("functions.ping:0", True), ("x" * 65, False)):
        history = [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [
                {"type": "function_use", "name": "ping", "input": {}, "functionId": given}
            ]},
            {"role": "function", "name": "ping", "functionId": given, "content": "pong"},
        ]  # fmt: skip
        _, (_, assistant), (_, user) = messages_of(body_of("amazon", history))
        sent_id = assistant[0]["toolUse"]["toolUseId"]
        assert user[0]["toolResult"]["toolUseId"] == sent_id
        assert (sent_id == given) is kept
        assert 1 <= len(sent_id) <= 64


def test_conversation_without_user_turn() -> None:
    """The last system message goes out as the user's."""
    request = encoded("amazon", [{"role": "system", "content": "A"}])
    assert sent(request) == {"messages": [{"role": "user", "content": [{"text": "A"}]}]}
    assert codes(request) == ["system_as_user"]
    with pytest.raises(ConfigurationError, match="at least one user message"):
        encoded("amazon", [])


def test_last_assistant_turn() -> None:
    """New Claude models refuse a prefill; other families take it."""
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well"}]
    assert messages_of(body_of(amazon(NOVA), history))[-1] == ("assistant", [{"text": "Well"}])
    with pytest.raises(UnsupportedOptionError, match="does not continue an assistant turn"):
        encoded(amazon("us.anthropic.claude-opus-4-6-v1"), history)


# ---------------------------------------------------------------- replay


def left(block: Any, model: str = NOVA) -> dict[str, Any]:
    """What the decoder leaves on a part."""
    return {"amazon": {"block": block, "model": model}}


def test_own_blocks_go_back_verbatim_and_in_order() -> None:
    """Signed and redacted reasoning, citations, tools of the host, images."""
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eHg="}},
        {"citationsContent": {"content": [{"text": "See "}, {"text": "[1]."}], "citations": [{"title": "T"}]}},
        {"toolUse": {"toolUseId": "t_1", "name": "nova_code_interpreter", "input": {}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t_1", "content": [{"json": {"a": 1}}], "type": "nova_code_interpreter_result"}},
        IMAGE,
    ]  # fmt: skip
    parts = (
        OutputResultReasoning(text="Hm.", provider_metadata=left(blocks[0])),
        OutputResultReasoning(provider_metadata=left(blocks[1])),
        OutputResultText(text="See [1].", provider_metadata=left(blocks[2])),
        OutputResultReasoning(provider_metadata=left(blocks[3])),
        OutputResultReasoning(provider_metadata=left(blocks[4])),
        OutputResultImage(data=PNG, media_type="image/png", provider_metadata=left(blocks[5])),
        OutputResultFunctionUse(name="ping", input={"a": 1}, function_id="t_2"),
    )
    request = encode_messages(
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="function", name="ping", function_id="t_2", content="pong"),
    )
    use = {"toolUse": {"toolUseId": "t_2", "name": "ping", "input": {"a": 1}}}
    assert messages_of(sent(request))[1] == ("assistant", [*blocks, use])


def test_text_the_caller_changed_wins_over_what_was_left_on_it() -> None:
    """Cited text goes back only with its own words."""
    block = {"citationsContent": {"content": [{"text": "old"}, {"web": 1}], "citations": []}}
    other = {"unknown": 1}
    parts = (
        OutputResultText(text="new", provider_metadata=left(block)),
        OutputResultText(text="more", provider_metadata=left(other)),
        OutputResultRefusal(text="No."),
    )
    request = encode_messages(
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="user", content="And?"),
    )
    assert messages_of(sent(request))[1] == (
        "assistant",
        [{"text": "new"}, {"text": "more"}, {"text": "No."}],
    )


@pytest.mark.parametrize(
    ("model", "of_model", "signed", "kept"),
    [
        (NOVA, NOVA, False, False),
        ("us.deepseek.r1-v1:0", NOVA, False, True),
        ("us.anthropic.claude-opus-5-v1", NOVA, True, True),
        ("us.anthropic.claude-opus-5-5-v1", NOVA, True, False),
        ("us.anthropic.claude-opus-5-5-v1", "us.anthropic.claude-opus-5-5-v1", True, True),
    ],
)
def test_reasoning_goes_back_where_it_may(
    model: str, of_model: str, signed: bool, kept: bool
) -> None:
    """Signed, or to the family that wants it; never another model's where it is bound."""
    text = {"text": "Hm.", "signature": "c2ln"} if signed else {"text": "Hm."}
    block = {"reasoningContent": {"reasoningText": text}}
    parts = (
        OutputResultReasoning(text="Hm.", provider_metadata=left(block, of_model)),
        OutputResultText(text="Hello"),
    )
    request = encode_messages(
        Message(role="user", content="Hi"),
        Message(role="assistant", content=parts),
        Message(role="user", content="And?"),
        model=model,
    )
    content = messages_of(sent(request))[1][1]
    assert content == ([block] if kept else []) + [{"text": "Hello"}]
    assert codes(request) == ([] if kept else ["reasoning_left_out"])


@pytest.mark.parametrize("metadata", [{"amazon": "x"}, {"amazon": {"block": 1}}, {"amazon": {}}])
def test_metadata_of_another_shape_is_no_block(metadata: Any) -> None:
    """A saved dialogue may have been edited."""
    request = encode_messages(
        Message(role="user", content="Hi"),
        Message(
            role="assistant",
            content=(OutputResultText(text="Hello", provider_metadata=metadata),),
        ),
        Message(role="user", content="And?"),
    )
    assert messages_of(sent(request))[1] == ("assistant", [{"text": "Hello"}])


# ---------------------------------------------------------------- images


def test_images() -> None:
    """By bytes, or by their place in S3; nothing is fetched."""
    parts = [
        {"type": "image", "data": PNG, "mediaType": "image/png"},
        {"type": "image", "data": "/9j/AAAA", "mediaType": "image/jpg"},
        {"type": "image", "url": "s3://bucket/a.webp"},
        {"type": "image", "url": "s3://bucket/b", "mediaType": "image/gif"},
        {"type": "image", "url": "s3://bucket/c"},
    ]
    ((_, blocks),) = messages_of(body_of(amazon(NOVA), [{"role": "user", "content": parts}]))
    assert blocks == [
        IMAGE,
        {"image": {"format": "jpeg", "source": {"bytes": "/9j/AAAA"}}},
        {"image": {"format": "webp", "source": {"s3Location": {"uri": "s3://bucket/a.webp"}}}},
        {"image": {"format": "gif", "source": {"s3Location": {"uri": "s3://bucket/b"}}}},
        {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/c"}}}},
    ]


@pytest.mark.parametrize(
    ("image", "complaint"),
    [
        ({"url": "https://example.org/a.png"}, "fetches no such image URL"),
        ({"url": "s3://bucket/a.png"}, "fetches no such image URL"),
        ({"data": "AAAA", "mediaType": "image/tiff"}, "takes no image/tiff"),
    ],
)
def test_images_it_cannot_take(image: Any, complaint: str) -> None:
    """A typed error says what to do."""
    with pytest.raises(UnsupportedOptionError, match=complaint):
        encoded("amazon", [{"role": "user", "content": [{"type": "image", **image}]}])


def test_image_in_a_result() -> None:
    """Inside, where the family takes it; else as the user's, apart from the results."""
    text = {"text": "here"}
    inside = messages_of(body_of("amazon", PICTURE))[-1][1]
    assert inside == [
        {"toolResult": {"toolUseId": "c_1", "content": [text, IMAGE], "status": "success"}}
    ]
    request = encoded(amazon("mistral.pixtral-large-2502-v1:0"), PICTURE)
    assert messages_of(sent(request))[2:] == [
        ("user", [{"toolResult": {"toolUseId": "c_1", "content": [text], "status": "success"}}]),
        ("assistant", [{"text": "."}]),
        ("user", [IMAGE]),
    ]
    assert codes(request) == [
        "image_moved",
        "results_parted",
        "functions_rebuilt",
        "none_not_enforced",
    ]
    request = encoded(amazon("moonshot.kimi-k2-thinking"), PICTURE)
    assert messages_of(sent(request))[-1][1][1:] == [IMAGE]


# ---------------------------------------------------------------- parameters


def test_parameters() -> None:
    """`inferenceConfig`, and extra_body last."""
    body = body_of(
        "amazon",
        temperature=0.2,
        top_p=0.9,
        max_tokens=100,
        stop_sequences=("x",),
        top_k=5,
        extra_body={"serviceTier": {"type": "flex"}, "inferenceConfig": {"maxTokens": 50}},
    )
    assert body == {
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "inferenceConfig": {"maxTokens": 50, "temperature": 0.2, "topP": 0.9, "stopSequences": ["x"]},
        "additionalModelRequestFields": {"top_k": 5},
        "serviceTier": {"type": "flex"},
    }  # fmt: skip


def test_top_k_by_family() -> None:
    """Unknown keys are a 400 there, so a family without it is refused."""
    fields = body_of(amazon(NOVA), top_k=5)["additionalModelRequestFields"]
    assert fields == {"inferenceConfig": {"topK": 5}}
    with pytest.raises(UnsupportedOptionError, match="takes no top_k"):
        encoded(amazon(LLAMA), top_k=5)


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
def test_sampling_is_refused_by_new_claude_models(name: str) -> None:
    """As on Anthropic's own wire."""
    with pytest.raises(UnsupportedOptionError, match=f"takes no {name}"):
        encoded(amazon("us.anthropic.claude-opus-4-7-v1"), **{name: 1})


def test_seed_and_one_call_at_a_time_are_refused() -> None:
    """The wire has neither."""
    with pytest.raises(UnsupportedOptionError, match="takes no seed"):
        encoded("amazon", seed=1)
    with pytest.raises(UnsupportedOptionError, match="amazon:anthropic"):
        encoded("amazon", functions=FUNCTIONS, parallel_function_calls=False)
    assert "toolConfig" in body_of("amazon", functions=FUNCTIONS, parallel_function_calls=True)


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("us.anthropic.claude-opus-5-v1", "xhigh", {"outputConfig": {"effort": "xhigh"}}),
        (
            "us.anthropic.claude-opus-5-v1",
            "none",
            {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}},
        ),
        (GPT_OSS, "low", {"additionalModelRequestFields": {"reasoning_effort": "low"}}),
        ("qwen.qwen3-32b-v1:0", "high", {"additionalModelRequestFields": {"reasoning_config": "high"}}),
        (
            "us.amazon.nova-2-lite-v1:0",
            "medium",
            {
                "additionalModelRequestFields": {
                    "reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}
                }
            },
        ),
        (GPT_OSS, "none", "use one of low, medium, high"),
        (NOVA, "low", "leave it out"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "low", "leave it out"),
    ],
)  # fmt: skip
def test_effort_by_family(model: str, effort: str, expected: Any) -> None:
    """Each family has its own spelling, or none."""
    if isinstance(expected, str):
        with pytest.raises(UnsupportedOptionError, match=expected):
            encoded(amazon(model), effort=effort)
    else:
        body = body_of(amazon(model), effort=effort)
        assert {key: body[key] for key in expected} == expected


# ---------------------------------------------------------------- the shape of the answer


def test_json_schema_is_a_string_of_json() -> None:
    """Beside effort, in `outputConfig`."""
    target = amazon("us.anthropic.claude-opus-4-6-v1")
    config = body_of(target, json_schema=CITY_SCHEMA, effort="low")["outputConfig"]
    definition = config["textFormat"]["structure"]["jsonSchema"]
    assert config["effort"] == "low"
    assert config["textFormat"]["type"] == "json_schema"
    assert definition["name"]
    assert json.loads(definition["schema"])["additionalProperties"] is False


@pytest.mark.parametrize("schema", [CITY_SCHEMA])
def test_json_schema_is_asked_for_where_it_is_not_native(schema: Any) -> None:
    """With a warning, and the text is checked."""
    request = encoded(amazon(NOVA), json_schema=schema)
    body = sent(request)
    assert "outputConfig" not in body
    assert '"country"' in body["system"][0]["text"]
    assert codes(request) == ["json_schema_emulated"]
    assert request.plan.output is not None


TREE = {
    "type": "object",
    "properties": {"value": {"type": "string"}, "next": {"$ref": "#"}},
    "required": ["value"],
}


@pytest.mark.parametrize("endpoint", ["amazon", "anthropic"])
def test_schema_that_cannot_be_strict_is_asked_for(endpoint: str) -> None:
    """Neither wire takes recursion."""
    request = encoded(endpoint, json_schema=TREE)
    body = sent(request)
    assert "outputConfig" not in body
    assert "output_config" not in body
    assert "system" in body
    assert codes(request) == ["json_schema_emulated"]


def test_strict_functions_by_model() -> None:
    """Where the model can be held to a schema; else the input is checked here."""
    tools = body_of("amazon", functions=FUNCTIONS, strict=True)["toolConfig"]["tools"]
    assert [tool["toolSpec"].get("strict") for tool in tools] == [True, True]
    assert tools[0]["toolSpec"]["inputSchema"]["json"]["additionalProperties"] is False
    plain = encoded(amazon(NOVA), functions=FUNCTIONS, strict=True)
    tools = sent(plain)["toolConfig"]["tools"]
    assert [tool["toolSpec"].get("strict") for tool in tools] == [None, None]
    assert plain.plan.functions is not None
    assert plain.plan.functions.by_name["get_weather"].validate


def test_functions_without_description_or_parameters() -> None:
    """An empty description is refused, a missing schema too."""
    functions = [{"name": "a", "description": ""}, {"name": "b", "parameters": {}}]
    tools = body_of("amazon", functions=functions)["toolConfig"]["tools"]
    assert [tool["toolSpec"].keys() for tool in tools] == [{"name", "inputSchema"}] * 2
    assert [tool["toolSpec"]["inputSchema"]["json"]["type"] for tool in tools] == ["object"] * 2


@pytest.mark.parametrize("endpoint", ["amazon", "anthropic"])
def test_property_names_illegal_for_claude_are_renamed_and_mapped_back(endpoint: str) -> None:
    """In the definition and in replayed calls."""
    functions = [
        {
            "name": "f",
            "parameters": {"type": "object", "properties": {"größe": {"type": "integer"}}},
        }
    ]
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [
            {"type": "function_use", "name": "f", "input": {"größe": 1}, "functionId": "c_1"}
        ]},
        {"role": "function", "name": "f", "functionId": "c_1", "content": "ok"},
    ]  # fmt: skip
    body = body_of(endpoint, history, functions=functions)
    if endpoint == "amazon":
        schema = body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]
        value = body["messages"][1]["content"][0]["toolUse"]["input"]
    else:
        schema = body["tools"][0]["input_schema"]
        value = body["messages"][1]["content"][0]["input"]
    (name,) = schema["properties"]
    assert name.isascii()
    assert value == {name: 1}
