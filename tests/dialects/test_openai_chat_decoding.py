"""Whole answers, in every shape hosts give them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.openai_chat_cases import (
    CITY,
    FUNCTIONS,
    PIXEL,
    answer,
    calling,
    decode,
    encoded,
    plan_of,
    quirky,
    target_of,
)
from hypothesis import given, settings, strategies as st

from llm_tools.content import (
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    Usage,
)
from llm_tools.errors import ProviderError, ResponseDecodeError, ServerError


def text(message: Any, **fields: Any) -> OutputResult:
    """The result of a message."""
    return decode(answer(message, **fields))


def warned(result: OutputResult) -> list[str]:
    """The codes of its warnings."""
    return [warning.code for warning in result.warnings]


# ---------------------------------------------------------------- text and the rest


def test_a_text() -> None:
    """The fields of an answer."""
    result = decode(answer({"role": "assistant", "content": "Hi"}), x_request_id="req_1")
    assert result == OutputResult(
        id="c-1",
        name="m",
        created=7,
        usage=None,
        stop_reason="stop",
        provider_stop_reason="stop",
        content=(OutputResultText(text="Hi"),),
        request_id="req_1",
    )


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Done."},
        {"content": "Done.", "tool_calls": None},
        {"content": "Done.", "tool_calls": [], "refusal": None, "annotations": None, "audio": None},
        {"content": ["Done."]},
        {"content": [{"type": "text", "text": "Done."}]},
        {"content": [{"type": "output_text", "text": "Do"}, {"type": "text", "text": "ne."}]},
        {"content": "Done.", "refusal": "", "function_call": {"name": "", "arguments": ""}},
        {"content": "Done.", "reasoning": None, "reasoning_content": "", "reasoning_details": []},
        {"content": "Done.", "role": 5, "refusal": 7, "images": {}, "tool_calls": "none"},
    ],
)
def test_text_in_many_forms(message: Any) -> None:
    """Text comes as a string or in chunks, among fields that are empty, null or misshapen."""
    result = text(message)
    assert result.text == "Done."
    assert {type(item) for item in result.content} == {OutputResultText}


def test_empty_text_is_no_item() -> None:
    """An answer without text or call has no content, and says so."""
    for message in ({"content": ""}, {"content": None}, {}, None):
        result = text(message)
        assert result.content == ()
        assert warned(result) == ["empty_answer"]


def test_a_refusal() -> None:
    """The words come in `refusal`, the reason is ours."""
    result = text({"content": None, "refusal": "I won't."})
    assert result.content == (OutputResultRefusal(text="I won't."),)
    assert result.stop_reason == "refusal"


@pytest.mark.parametrize(
    ("fields", "thought", "kept"),
    [
        ({"reasoning_content": "T"}, "T", {"field": "reasoning_content"}),
        ({"reasoning": "T"}, "T", {"field": "reasoning"}),
        ({"reasoning": "T", "reasoning_content": "T"}, "T", {"field": "reasoning_content"}),
        (
            {"reasoning": "T", "reasoning_details": [{"text": "T", "signature": "s"}]},
            "T",
            {"details": [{"text": "T", "signature": "s"}]},
        ),
        (
            {"reasoning_details": [{"text": "T"}, {"summary": "U"}, {"data": "x"}, 5]},
            "TU",
            {"details": [{"text": "T"}, {"summary": "U"}, {"data": "x"}, 5]},
        ),
    ],
)
def test_reasoning(fields: Any, thought: str, kept: Any) -> None:
    """It comes before the text, and keeps what its host wants to see again."""
    result = text({"content": "A", **fields})
    assert result.content == (
        OutputResultReasoning(text=thought, provider_metadata={"openai": kept}),
        OutputResultText(text="A"),
    )


def test_mistral_chunks() -> None:
    """Thinking, text, images and what is unknown, in their order."""
    thinking = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "T"}, {"type": "reference"}, {"text": "U"}],
        "signature": "s",
    }
    plain = {"type": "thinking", "thinking": "V"}
    reference = {"type": "reference", "reference_ids": [1]}
    image = {"type": "image_url", "image_url": f"data:image/png;base64,{PIXEL}"}
    chunks = [thinking, plain, {"type": "text", "text": "A"}, reference, image]
    refusal = {"type": "refusal", "refusal": "No."}
    result = decode(answer({"content": [*chunks, refusal]}), plan_of(target_of("mistral")))
    assert result.content == (
        OutputResultReasoning(text="TU", provider_metadata={"mistral": {"chunk": thinking}}),
        OutputResultReasoning(text="V", provider_metadata={"mistral": {"chunk": plain}}),
        OutputResultText(text="A"),
        OutputResultReasoning(provider_metadata={"mistral": {"chunk": reference}}),
        OutputResultImage(
            data=PIXEL, media_type="image/png", provider_metadata={"mistral": {"image": image}}
        ),
        OutputResultRefusal(text="No."),
    )


def test_images() -> None:
    """Images the model made, inline or by URL; what is none is kept for replay."""
    inline = {"type": "image_url", "image_url": {"url": f"data:image/webp;base64,{PIXEL}"}}
    linked = {"image_url": {"url": "https://example.org/a,b.png"}}
    untyped = {"image_url": {"url": f"data:;base64,{PIXEL}"}}
    result = text({"content": "A", "images": [inline, linked, untyped, "broken", {"image_url": 3}]})
    assert result.content[1:] == (
        OutputResultImage(
            data=PIXEL, media_type="image/webp", provider_metadata={"openai": {"image": inline}}
        ),
        OutputResultImage(
            url="https://example.org/a,b.png", provider_metadata={"openai": {"image": linked}}
        ),
        OutputResultImage(data=PIXEL, provider_metadata={"openai": {"image": untyped}}),
        OutputResultReasoning(provider_metadata={"openai": {"image": "broken"}}),
        OutputResultReasoning(provider_metadata={"openai": {"image": {"image_url": 3}}}),
    )


def test_citations() -> None:
    """Annotations of the message, else what Perplexity puts beside the choices."""
    note = {"type": "url_citation", "url_citation": {"url": "https://example.org"}}
    said = text({"content": "A", "annotations": [note]})
    assert said.content == (OutputResultText(text="A", citations=(note,)),)
    beside = decode(answer({"content": "A"}, citations=["https://example.org"]))
    assert beside.content == (OutputResultText(text="A", citations=("https://example.org",)),)
    found = [{"title": "T", "url": "https://example.org"}]
    results = decode(answer({"content": "A"}, citations=["u"], search_results=found))
    assert results.content == (OutputResultText(text="A", citations=(found[0],)),)


def test_signature_of_a_message() -> None:
    """Gemini's compatible endpoint may sign the message as a whole."""
    extra = {"google": {"thought_signature": "c2ln"}}
    result = decode(
        answer({"content": "A", "extra_content": extra}), plan_of(target_of("google:openai"))
    )
    assert result.content[1] == OutputResultReasoning(
        provider_metadata={"google:openai": {"extra_content": extra}}
    )


def test_further_choices() -> None:
    """The first choice is the content, others are options."""
    body = answer({"content": "A"})
    body["choices"] += [
        {"index": 1, "message": calling(("c1", "ping", "{}")), "finish_reason": "tool_calls"},
        {"index": 2, "message": {"content": "C"}},
    ]
    result = decode(body)
    assert result.text == "A"
    use = OutputResultFunctionUse(name="ping", input={}, function_id="c1")
    assert result.options == ((use,), (OutputResultText(text="C"),))


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize("arguments", ["", "  ", "{}", None, {}, "null"])
def test_no_arguments(arguments: Any) -> None:
    """Nothing, in any spelling, is an empty object."""
    result = text(calling(("c1", "ping", arguments)), finish_reason="tool_calls")
    assert result.function_calls == [
        OutputResultFunctionUse(name="ping", input={}, function_id="c1")
    ]
    assert result.stop_reason == "function_use"


def test_a_function_without_an_arguments_key() -> None:
    """Some hosts leave the key out."""
    result = text({"tool_calls": [{"id": "c1", "function": {"name": "ping"}}]})
    assert result.function_calls[0].input == {}


@pytest.mark.parametrize(
    "arguments", ['{"city":"Oslo"}', {"city": "Oslo"}, ' \n{"city": "Oslo"}\n']
)
def test_arguments_as_text_or_object(arguments: Any) -> None:
    """Mistral sends objects now and then."""
    result = text(calling(("c1", "get_weather", arguments)))
    assert result.function_calls[0].input == {"city": "Oslo"}


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "tool_call", "function_call", "", None])
def test_calls_count_whatever_the_reason_says(reason: Any) -> None:
    """What is in the message decides."""
    result = text(calling(("c1", "ping", "{}"), content="One moment."), finish_reason=reason)
    assert result.stop_reason == "function_use"
    assert result.provider_stop_reason == (reason or None)
    assert [type(item) for item in result.content] == [OutputResultText, OutputResultFunctionUse]


def test_a_reason_of_calls_without_calls_is_a_stop() -> None:
    """The wire's word does not make a call."""
    assert (
        text({"content": "Done.", "tool_calls": []}, finish_reason="tool_calls").stop_reason
        == "stop"
    )


@pytest.mark.parametrize(
    "ids", [("c", "c"), ("", ""), (None, None), ("null", "null"), (5, 6), ("a", "a")]
)
def test_ids_are_unique_and_never_empty(ids: tuple[Any, Any]) -> None:
    """Both calls are there, each with an id of its own; a good one is kept."""
    message = calling((ids[0], "search", '{"q":"x"}'), (ids[1], "search", '{"q":"y"}'))
    calls = text(message).function_calls
    assert [call.input for call in calls] == [{"q": "x"}, {"q": "y"}]
    assert len({call.function_id for call in calls}) == 2
    assert all(call.function_id for call in calls)
    if ids[0] in ("a", "c"):
        assert calls[0].function_id == ids[0]


def test_the_older_function_call() -> None:
    """`function_call` counts where there are no `tool_calls`; a dummy does not."""
    legacy = {"name": "ping", "arguments": '{"a":1}'}
    result = text({"content": None, "function_call": legacy}, finish_reason="function_call")
    assert [(call.name, call.input) for call in result.function_calls] == [("ping", {"a": 1})]
    assert result.function_calls[0].function_id
    both = text({**calling(("c1", "ping", "{}")), "function_call": legacy})
    assert [call.function_id for call in both.function_calls] == ["c1"]


def test_calls_of_tools_that_are_no_functions_are_kept_not_run() -> None:
    """A custom tool's call is metadata; a host's empty `custom` is nothing."""
    custom = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    dummy = {"id": "c2", "type": "function", "custom": {"name": "", "input": ""},
             "function": {"name": "ping", "arguments": "{}"}}  # fmt: skip
    empty: dict[str, Any] = {"type": "function", "function": {"name": "", "arguments": ""}}
    result = text({"tool_calls": [custom, dummy, empty, {"id": "c3"}]})
    assert result.content == (
        OutputResultReasoning(provider_metadata={"openai": {"custom_call": custom}}),
        OutputResultFunctionUse(name="ping", input={}, function_id="c2"),
    )


def test_a_call_that_says_nothing_under_function() -> None:
    """Its name and arguments stand beside the id."""
    call = {"id": "c1", "name": "ping", "arguments": {"a": 1}}
    result = text({"tool_calls": [call, {"id": "c2", "arguments": "{}"}]})
    assert [(use.name, use.input, use.function_id) for use in result.function_calls] == [
        ("ping", {"a": 1}, "c1"),
        ("", {}, "c2"),
    ]
    assert result.stop_reason == "function_use"


def test_a_call_without_a_name_is_still_a_call() -> None:
    """An id promises one: it is kept, for its error result to be sent back."""
    result = text({"tool_calls": [{"id": "c1", "function": {"name": "", "arguments": ""}}]})
    assert result.function_calls == [OutputResultFunctionUse(name="", input={}, function_id="c1")]


def test_signatures_of_calls() -> None:
    """`extra_content` of a call stays with it."""
    extra = {"google": {"thought_signature": "c2ln"}}
    call = {"id": "c1", "function": {"name": "ping"}, "extra_content": extra}
    result = decode(answer({"tool_calls": [call]}), plan_of(target_of("google:openai")))
    assert result.function_calls[0].provider_metadata == {"google:openai": {"extra_content": extra}}


def test_renamed_functions_come_back_under_the_callers_name() -> None:
    """The plan knows the way back."""
    request = encoded(target_of("openai"), functions=[{"name": "fs.read file"}])
    assert request.plan.functions is not None
    wire_name = request.plan.functions.wire_name("fs.read file")
    result = decode(answer(calling(("c1", wire_name, "{}"))), request.plan)
    assert [call.name for call in result.function_calls] == ["fs.read file"]


def test_invented_nulls_vanish() -> None:
    """What strict made nullable is optional again."""
    plan = plan_of(target_of("openai"), functions=FUNCTIONS, strict=True)
    result = decode(answer(calling(("c1", "get_weather", '{"city":"Oslo","days":null}'))), plan)
    assert result.function_calls[0].input == {"city": "Oslo"}
    shaped = plan_of(target_of("openai"), json_schema=CITY)
    told = decode(answer({"content": '{"city":"Oslo","population":null}'}), shaped)
    assert json.loads(told.text) == {"city": "Oslo"}


def test_cut_off_calls_are_never_usable() -> None:
    """The last call of a `length` answer is cut, whole as it may look."""
    message = calling(("c1", "ping", '{"a":1}'), ("c2", "ping", '{"b":2}'))
    first, last = text(message, finish_reason="length").function_calls
    assert (first.input, first.input_error) == ({"a": 1}, None)
    assert last.input == {}
    assert last.input_error is not None
    assert last.raw_input == '{"b":2}'


def test_calls_of_a_failed_answer_are_never_usable() -> None:
    """Where the provider broke off or reports a malformed call, none may run."""
    message = calling(("c1", "ping", '{"a":1}'))
    for reason in ("error", "insufficient_system_resource", "abort", "MALFORMED_FUNCTION_CALL"):
        result = text(message, finish_reason=reason)
        assert result.stop_reason == "error"
        assert reason in str(result.function_calls[0].input_error)
    body = answer(message, "stop")
    body["choices"][0]["native_finish_reason"] = "MALFORMED_FUNCTION_CALL"
    assert decode(body).function_calls[0].input_error is not None
    body = answer(message, "tool_calls")
    body["choices"][0]["error"] = {"code": 502, "message": "Malformed call"}
    failed = decode(body)
    assert failed.stop_reason == "error"
    assert "Malformed call" in str(failed.function_calls[0].input_error)
    body["choices"][0]["error"] = "broken"
    assert "tool_calls" in str(decode(body).function_calls[0].input_error)


# ---------------------------------------------------------------- reasons and usage


@pytest.mark.parametrize(
    ("wire", "neutral"),
    [
        ("stop", "stop"),
        ("eos_token", "stop"),
        ("length", "length"),
        ("model_length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("sensitive", "content_filter"),
        ("SAFETY", "content_filter"),
        ("error", "error"),
        ("network_error", "error"),
        ("insufficient_system_resource", "error"),
        ("something_new", "other"),
        ("", "stop"),
        (None, "stop"),
        (7, "stop"),
    ],
)
def test_stop_reasons(wire: Any, neutral: str) -> None:
    """Every host's word is one of ours; the word itself is kept."""
    result = text({"content": "A"}, finish_reason=wire)
    assert result.stop_reason == neutral
    assert result.provider_stop_reason == (wire if isinstance(wire, str) and wire else None)


def usage(**fields: Any) -> Usage | None:
    """The usage of an answer."""
    return decode(answer({"content": "A"}, usage=fields)).usage


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(
                input_tokens=10,
                output_tokens=5,
                cached_input_tokens=4,
                cache_write_tokens=2,
                reasoning_tokens=3,
            ),
        ),
        # xAI counts reasoning beside the answer, within the total.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 35,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(input_tokens=10, output_tokens=25, reasoning_tokens=20),
        ),
        # DeepSeek, Mistral, Moonshot
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            Usage(input_tokens=10, output_tokens=5, cached_input_tokens=4),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "num_cached_tokens": 4},
            Usage(input_tokens=10, output_tokens=5, cached_input_tokens=4),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "cached_tokens": 4,
                "reasoning_tokens": 1,
            },
            Usage(input_tokens=10, output_tokens=5, cached_input_tokens=4, reasoning_tokens=1),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": None, "prompt_tokens_details": None},
            Usage(input_tokens=9),
        ),
        (
            {"prompt_tokens": "9", "completion_tokens": 2.0, "prompt_tokens_details": []},
            Usage(input_tokens=9, output_tokens=2),
        ),
        ({}, None),
        ({"prompt_tokens": None}, None),
    ],
)
def test_usage(sent: Any, read: Usage | None) -> None:
    """The same meaning from every host; None where it sent none."""
    assert usage(**sent) == read


def test_usage_in_groqs_own_place() -> None:
    """Older Groq streams and answers keep it under `x_groq`."""
    body = answer({"content": "A"}, x_groq={"usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    assert decode(body).usage == Usage(input_tokens=3, output_tokens=4)


@pytest.mark.parametrize(
    "header",
    ["x_request_id", "request_id", "apim_request_id", "mistral_correlation_id", "x_generation_id"],
)
def test_request_ids(header: str) -> None:
    """Whatever header the host puts it in."""
    assert decode(answer({"content": "A"}), **{header: "r1"}).request_id == "r1"


# ---------------------------------------------------------------- stand-ins


@pytest.mark.parametrize(
    "said",
    [
        '{"name":"ping","arguments":{"a":1}}',
        ' \n{"arguments":{"a":1},"name":"ping"}\n',
        '```json\n{"name":"ping","arguments":{"a":1}}\n```',
        '<think>{"name":"other"}</think>\n{"name":"ping","arguments":{"a":1}}',
        '{"name":"ping","arguments":"{\\"a\\":1}"}',
        '{"name":"ping","parameters":{"a":1}}',
    ],
)
def test_a_stand_in_becomes_a_call(said: str) -> None:
    """Text that was asked for in place of a call is one."""
    plan = plan_of(target_of("zai"), functions=FUNCTIONS, function_call="any")
    result = decode(answer({"content": said}), plan)
    assert [(call.name, call.input) for call in result.function_calls] == [("ping", {"a": 1})]
    assert result.text == ""
    assert result.stop_reason == "function_use"
    assert warned(result)[0] == "function_call_emulated"


def test_a_stand_in_that_is_none_stays_text() -> None:
    """Text that holds no call stays text; a true call needs no stand-in."""
    plan = plan_of(target_of("zai"), functions=FUNCTIONS, function_call="any")
    for said in ("I would rather not.", '{"answer": 5}', "{broken}"):
        assert decode(answer({"content": said}), plan).text == said
    both = decode(answer(calling(("c1", "ping", "{}"), content='{"name":"ping"}')), plan)
    assert both.text == '{"name":"ping"}'
    assert [call.function_id for call in both.function_calls] == ["c1"]


def test_calls_in_ordinary_text_stay_text() -> None:
    """Without a stand-in nothing is read out of text."""
    for said in ('{"name":"ping","arguments":{}}', "<think>x</think>y", "<tool_call></tool_call>"):
        assert decode(answer({"content": said}), plan_of(functions=FUNCTIONS)).text == said


# ---------------------------------------------------------------- errors and damage


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Upstream is down", "code": 502}},
        {"error": {"message": "Upstream is down", "code": 502}, "choices": None, "id": None},
        {"error": {"message": "Upstream is down", "code": 502}, "choices": []},
        {
            "choices": [
                {
                    "message": {"content": "par"},
                    "error": {"code": 502, "message": "Upstream is down"},
                }
            ]
        },
    ],
)
def test_an_error_in_a_200(body: Any) -> None:
    """The class its code names."""
    with pytest.raises(ServerError, match="Upstream is down") as raised:
        decode(body, plan_of(target_of("openrouter")))
    assert raised.value.status == 502
    assert raised.value.endpoint == "openrouter"


def test_an_error_in_a_choice_keeps_what_was_said() -> None:
    """The partial answer is on the error."""
    body = {"choices": [{"message": {"content": "par"}, "error": {"code": 502, "message": "x"}}]}
    with pytest.raises(ProviderError) as raised:
        decode(body)
    assert isinstance(raised.value.result, OutputResult)
    assert raised.value.result.text == "par"
    assert raised.value.result.stop_reason == "error"
    body["choices"][0]["error"] = [1]  # type: ignore[assignment]
    with pytest.raises(ProviderError):
        decode(body)


def test_an_error_as_a_string() -> None:
    """xAI's form: `{"code": …, "error": "…"}`."""
    with pytest.raises(ProviderError, match="not found"):
        decode({"code": "Some requested entity was not found", "error": "model not found"})


def test_an_error_in_minimax_words() -> None:
    """`base_resp` with a status that is not 0."""
    failed = {
        "choices": None,
        "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"},
    }
    with pytest.raises(ProviderError, match="insufficient balance"):
        decode(failed, plan_of(target_of("minimax")))
    fine = answer({"content": "A"}, base_resp={"status_code": 0, "status_msg": ""})
    assert decode(fine, plan_of(target_of("minimax"))).text == "A"
    for odd in ({"base_resp": {"status_code": 0}}, {"base_resp": 5}):
        with pytest.raises(ResponseDecodeError):
            decode(odd, plan_of(target_of("minimax")))


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": None}, {"choices": "x"}, {"id": "x"}]
)
def test_an_answer_without_choices(body: Any) -> None:
    """It is no answer, and its start is on the error."""
    with pytest.raises(ResponseDecodeError) as raised:
        decode(body)
    assert raised.value.body == json.dumps(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><title>Sign in</title></html>",
        b"null",
        b"[]",
        b"5",
        b'"x"',
        b'{"choices":',
        b"\xff\xfe",
        b"[" * 9999,
        b'{"created":1e400}',
    ],
)
def test_bytes_that_are_no_answer(body: bytes) -> None:
    """A typed error, never a crash; a web page comes again if asked again."""
    with pytest.raises(ResponseDecodeError) as raised:
        decode(body)
    assert raised.value.retryable is not body.startswith(b"<")


def test_half_a_surrogate_pair() -> None:
    """A lone escape becomes U+FFFD instead of spoiling the whole body."""
    body = b'{"choices":[{"message":{"content":"a\\ud800b \\ud83d\\ude00"}}]}'
    assert decode(body).text == "a\ufffdb \U0001f600"


def test_what_does_not_fit_is_left_out() -> None:
    """A field of a wrong type costs that field, not the answer."""
    message = {
        "content": "A",
        "refusal": {"no": "text"},
        "reasoning_content": 5,
        "tool_calls": [
            None,
            {"id": {}, "index": "x", "function": {"name": "ping", "arguments": "{}"}},
            {"id": "c2", "function": "broken"},
        ],
        "extra_content": "x",
    }
    body = answer(message, finish_reason=["stop"], usage="none", created="then", model=3)
    result = decode(body)
    assert result.text == "A"
    assert [call.name for call in result.function_calls] == ["ping"]
    assert (result.created, result.usage, result.name) == (0, None, "gpt-4o-mini")


def test_too_much_that_does_not_fit() -> None:
    """Beyond a bound it is no answer."""
    with pytest.raises(ResponseDecodeError):
        decode({"choices": [5] * 500})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "tool_calls", "function", "name", "arguments", "id",
             "error", "usage", "prompt_tokens", "type", "text", "thinking", "finish_reason",
             "reasoning_details", "images", "image_url", "url", "custom", "index"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(JSON_VALUES, st.booleans())
def test_any_json_is_an_answer_or_a_typed_error(value: Any, emulated: bool) -> None:
    """Whatever a host sends, the outcome is a result or one of our errors."""
    plan = (
        plan_of(quirky(choice="absent"), functions=FUNCTIONS, function_call="any")
        if emulated
        else plan_of()
    )
    bodies = [value, answer(value), answer({"content": "A", "tool_calls": value})]
    for body in bodies:
        try:
            result = decode(body, plan)
        except (ResponseDecodeError, ProviderError):
            continue
        assert isinstance(result, OutputResult)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_an_answer_or_a_typed_error(body: bytes) -> None:
    """The same for bytes that may be no JSON."""
    for data in (body, b'{"choices":[' + body + b"]}"):
        try:
            assert isinstance(decode(data), OutputResult)
        except (ResponseDecodeError, ProviderError):
            continue
