"""Conversations as instructions and input items."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.responses_cases import (
    DIALECT,
    FUNCTIONS,
    PIXEL,
    answer,
    body_of,
    call_of,
    codes_of,
    decode,
    function_call,
    golden,
    input_of,
    message,
    reasoning,
    target_of,
)

from llm_tools.content import (
    Message,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultText,
)
from llm_tools.errors import ConfigurationError, UnsupportedOptionError

ASK = Message(role="user", content="Oslo?")
RICH: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "system", "content": "Use °C."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Compare."},
            {"type": "image", "data": PIXEL, "mediaType": "image/png"},
            {"type": "image", "url": "https://example.org/a.webp?size=2"},
            {"type": "text", "text": "  "},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Two cities.", "providerMetadata": {"anthropic": {}}},
            {"type": "text", "text": "Checking "},
            {"type": "text", "text": "both."},
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Ålesund", "days": 2},
                "functionId": "toolu_1",
            },
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Lima"},
                "functionId": "functions.get_weather:0",
            },
        ],
    },
    {
        "role": "function",
        "name": "get_weather",
        "functionId": "functions.get_weather:0",
        "content": {"temperature": 21.5},
    },
    {
        "role": "function",
        "name": "get_weather",
        "functionId": "toolu_1",
        "content": "no such station",
        "isError": True,
    },
    {"role": "system", "content": "Hurry."},
    {"role": "assistant", "content": "Lima is warm."},
    {"role": "user", "content": "And here?"},
]


def test_rich_history() -> None:
    """A foreign history goes out whole and legal: order, ids, arguments as text, errors told."""
    body = body_of(RICH, functions=FUNCTIONS)
    assert {"instructions": body["instructions"], "input": body["input"]} == golden("rich_history")
    assert codes_of(RICH, functions=FUNCTIONS) == ["reasoning_left_out"]


def test_system_messages_alone() -> None:
    """Of system messages alone the last becomes the user's, with a warning."""
    messages = [{"role": "system", "content": "A."}, {"role": "system", "content": "B."}]
    body = body_of(messages)
    assert body["instructions"] == "A."
    assert body["input"] == [{"role": "user", "content": "B."}]
    assert codes_of(messages) == ["system_as_user"]


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": ""}]])
def test_nothing_to_say(messages: Any) -> None:
    """A request without any input is refused before it is sent."""
    call = call_of("x")
    call = type(call)(messages=tuple(Message(**item) for item in messages))
    with pytest.raises(ConfigurationError, match="nothing to send"):
        DIALECT.encode(target_of(), call)


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("3 °C", "3 °C"),
        ("", ""),
        (None, "null"),
        (0, "0"),
        (False, "false"),
        ([1, {"a": "ø"}], '[1,{"a":"ø"}]'),
        ((OutputResultText(text="a"), OutputResultText(text="b")), "a\nb"),
    ],
)
def test_results_are_text(content: Any, output: str) -> None:
    """A result of any JSON is text on this wire, never null and never an object."""
    assert _result(content) == output


def test_failed_results_say_so() -> None:
    """The wire has no flag for errors: the text says it, once, and is never blank."""
    assert _result("no such row", is_error=True) == "Error: no such row"
    assert _result("Error: gone", is_error=True) == "Error: gone"
    assert _result("", is_error=True) == "Error: the function failed"


def test_results_hold_images() -> None:
    """Text and images of a result stay together, in order."""
    parts = [
        {"type": "text", "text": "before"},
        {"type": "image", "data": PIXEL, "mediaType": "image/png"},
        {"type": "text", "text": "after"},
    ]
    image = {
        "type": "input_image",
        "image_url": f"data:image/png;base64,{PIXEL}",
        "detail": "auto",
    }
    before = {"type": "input_text", "text": "before"}
    after = {"type": "input_text", "text": "after"}
    assert _dict_result(parts) == [before, image, after]
    marked = {"type": "input_text", "text": "Error: before\nafter"}
    assert _dict_result(parts, is_error=True) == [marked, image]


def test_models_that_see_no_images() -> None:
    """Images are refused where the user sent them, and left out of results with a warning."""
    target = target_of("deepseek-v4-flash", "deepseek", images=False)
    picture = {"type": "image", "data": PIXEL, "mediaType": "image/png"}
    with pytest.raises(UnsupportedOptionError, match="images"):
        body_of([{"role": "user", "content": [picture]}], target=target)
    history = _history([{"type": "text", "text": "a chart"}, picture])
    assert input_of(history, target=target)[-1]["output"] == "a chart"
    assert codes_of(history, target=target) == ["image_left_out"]


def test_ids_reused_in_another_turn() -> None:
    """An id used in two turns is told apart, and each result stays with its call."""
    turn = [*_history("one")[1:], *_history("two")[1:]]
    items = input_of([{"role": "user", "content": "Hi"}, *turn])
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = {
        item["call_id"]: item["output"]
        for item in items
        if item.get("type") == "function_call_output"
    }
    assert calls[0] == "c1"
    assert len(set(calls)) == 2
    assert [results[call] for call in calls] == ["one", "two"]


def test_own_items_are_replayed_verbatim() -> None:
    """What the provider made goes back to it as it came, in order."""
    items = [
        reasoning("**Looking**", status="completed"),
        message("I look it up.", phase="commentary"),
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"q": "x"}},
        function_call('{ "city": "\\u00c5lesund" }', namespace="tools"),
        function_call('{"city":"Lima"}', id="fc_2", call_id="call_2"),
    ]
    assert _replayed(items) == items


def test_several_parts_of_one_message_stay_one() -> None:
    """Texts, citations and parts unknown here are put together into the message they came in."""
    content = [
        {"type": "output_text", "text": "One [1].", "annotations": [{"type": "url_citation"}]},
        {"type": "output_text", "text": "", "annotations": []},
        {"type": "hologram", "data": "…"},
        {"type": "output_text", "text": "Two.", "annotations": [], "logprobs": []},
    ]
    items = [message("", content=content)]
    result = decode(answer(*items))
    assert result.text == "One [1].Two."
    assert _replayed(items) == items


def test_messages_without_content() -> None:
    """A message that says nothing, and an item of a type unknown here, come back as they were."""
    items = [reasoning(), message("", content=[]), {"type": "telepathy", "id": "tp_1"}]
    assert _replayed(items) == items


def test_refusal_after_reasoning() -> None:
    """A refusal's message follows its reasoning again, or the server would take neither."""
    content = [{"type": "refusal", "refusal": "I can't."}]
    items = [reasoning(), message("", content=content)]
    assert _replayed(items) == items


def test_refusal_alone() -> None:
    """Without reasoning a refusal is just words of the assistant's."""
    content = [{"type": "refusal", "refusal": "I can't."}]
    replayed = _replayed([message("", content=content)])
    assert replayed == [{"role": "assistant", "content": "I can't."}]


def test_image_the_model_made() -> None:
    """An image goes back as the item it came in; to others it is left out with a warning."""
    item = {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": PIXEL,
        "output_format": "webp",
    }
    assert _replayed([item]) == [item]
    assert _replayed([item, message("Here.")], target=target_of(key="azure")) == [
        {"role": "assistant", "content": "Here."}
    ]


def test_to_another_provider() -> None:
    """Seals and ids are not shown to a host that did not make them."""
    items = [reasoning("Hm."), message("Wait.", phase="commentary"), function_call()]
    assert _replayed(items, target=target_of(key="azure")) == [
        {"role": "assistant", "content": "Wait."},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "get_weather",
            "arguments": '{"city":"Oslo"}',
        },
    ]


def test_reasoning_that_led_to_nothing() -> None:
    """Reasoning without the item it led to is left out: the server refuses it alone."""
    items = [reasoning(), message("Hm.", id="msg_1"), reasoning(id="rs_2")]
    result = decode(answer(*items))
    assert _input(result, target=target_of()) == items[:2]
    assert _codes(result) == ["reasoning_left_out"]


def test_ids_without_their_reasoning() -> None:
    """Where the reasoning is gone, ids go too, and what else marks the items stays."""
    items = [
        reasoning(),
        message("Wait.", phase="commentary"),
        function_call(namespace="tools"),
    ]
    result = decode(answer(*items))
    kept = tuple(part for part in result.content if not isinstance(part, OutputResultReasoning))
    called = function_call(namespace="tools")
    del called["id"]
    assert _input_of_parts(kept) == [
        {"role": "assistant", "content": "Wait.", "phase": "commentary"},
        called,
    ]


def test_model_that_never_reasons() -> None:
    """A model of the same host that does not reason is spared the reasoning of another."""
    items = [reasoning(), message("Yes.")]
    target = target_of("gpt-4o", reasoning="never")
    assert _replayed(items, target=target) == [{"role": "assistant", "content": "Yes."}]


def test_edited_parts_say_what_they_say_now() -> None:
    """A part the caller changed goes out changed; what the provider wrote does not come back."""
    result = decode(answer(message("The secret is 42."), function_call('{"city": "Secret"}')))
    text, use = result.content
    assert isinstance(text, OutputResultText)
    assert isinstance(use, OutputResultFunctionUse)
    edited = (
        OutputResultText(text="[redacted]", provider_metadata=text.provider_metadata),
        OutputResultFunctionUse(
            name="get_weather",
            input={"city": "[redacted]"},
            function_id=use.function_id,
            provider_metadata=use.provider_metadata,
        ),
    )
    said, called = _input_of_parts(edited)
    assert said["content"][0]["text"] == "[redacted]"
    assert called["arguments"] == '{"city":"[redacted]"}'


def test_strict_nulls_are_replayed() -> None:
    """Nulls the strict schema made the model write are its own words: they go back."""
    item = function_call('{"city": "Oslo", "days": null}')
    options: dict[str, Any] = {"functions": FUNCTIONS, "strict": True}
    result = decode(answer(item), **options)
    assert result.function_calls[0].input == {"city": "Oslo"}
    assert _input(result, target=target_of(), **options) == [item]


@pytest.mark.parametrize("arguments", ['{"city":', "[1]", "", None, "null"])
def test_unusable_arguments_go_back_as_an_object(arguments: Any) -> None:
    """The history stays sendable: arguments on the wire are always the text of an object."""
    result = decode(answer(function_call(arguments)))
    (item,) = _input(result, target=target_of())
    assert item["arguments"] == "{}"


def test_mended_arguments_go_back_mended() -> None:
    """Arguments that had to be mended are sent as what they were read as."""
    result = decode(answer(function_call('```json\n{"city": "Oslo"}\n```')))
    assert result.function_calls[0].input == {"city": "Oslo"}
    (item,) = _input(result, target=target_of())
    assert item["arguments"] == '{"city":"Oslo"}'


def test_calls_last() -> None:
    """A host that wants the calls of a turn last gets them so."""
    items = [reasoning(), function_call(), message("Meanwhile."), function_call(call_id="call_2")]
    order = [item["type"] for item in _replayed(items, target=target_of(calls_last=True))]
    assert order == ["reasoning", "message", "function_call", "function_call"]


def test_chat_metadata_of_the_same_host_is_no_item() -> None:
    """What the host's other wire left on a part means nothing here."""
    part = OutputResultText(text="Hi.", provider_metadata={"openai": {"reasoning": "x"}})
    odd = OutputResultText(text=" Ho.", provider_metadata={"openai": "x"})
    empty = OutputResultReasoning()
    items = _input_of_parts((part, odd, empty, OutputResultText(text=" ")))
    assert items == [{"role": "assistant", "content": "Hi. Ho."}]


def _history(content: Any) -> list[dict[str, Any]]:
    use = {"type": "function_use", "name": "get_weather", "input": {}, "functionId": "c1"}
    return [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [use]},
        {"role": "function", "name": "get_weather", "functionId": "c1", "content": content},
    ]


def _dict_result(content: Any, *, is_error: bool = False) -> Any:
    history = _history(content)
    history[-1]["isError"] = is_error
    return input_of(history)[-1]["output"]


def _result(content: Any, *, is_error: bool = False) -> Any:
    use = OutputResultFunctionUse(name="f", input={}, function_id="c1")
    result = Message(
        role="function", name="f", function_id="c1", content=content, is_error=is_error
    )
    call = type(call_of())(messages=(ASK, Message(role="assistant", content=(use,)), result))
    return DIALECT.encode(target_of(), call).body["input"][-1]["output"]


def _replayed(items: list[dict[str, Any]], *, target: Any = None) -> list[dict[str, Any]]:
    return _input(decode(answer(*items)), target=target or target_of())


def _input(result: OutputResult, *, target: Any, **options: Any) -> list[dict[str, Any]]:
    return _input_of_parts(result.content, target=target, **options)


def _input_of_parts(parts: Any, *, target: Any = None, **options: Any) -> Any:
    """The items between the user's message and the end."""
    call = call_of(**options)
    messages = (ASK, Message(role="assistant", content=parts))
    fields = {name: getattr(call, name) for name in call.__struct_fields__}
    call = type(call)(**(fields | {"messages": messages}))
    return DIALECT.encode(target or target_of(), call).body["input"][1:]


def _codes(result: OutputResult) -> list[str]:
    messages = (ASK, Message(role="assistant", content=result.content))
    encoded = DIALECT.encode(target_of(), type(call_of())(messages=messages))
    return [warning.code for warning in encoded.plan.warnings]
