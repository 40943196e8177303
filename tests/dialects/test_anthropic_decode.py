"""Answers of the Messages API: every block, stop reason and count, and what is no answer."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.anthropic_and_bedrock import (
    FUNCTIONS,
    codes,
    decoded,
    plan_of,
    target_of,
)
from hypothesis import given, strategies as st

from llm_tools.content import (
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    Usage,
)
from llm_tools.errors import (
    LlmToolsError,
    OverloadedError,
    ProviderError,
    ResponseDecodeError,
)


def answer(*content: Any, **changes: Any) -> dict[str, Any]:
    """A whole answer with these blocks."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 7},
        **changes,
    }


def left(block: Any) -> dict[str, Any]:
    """What stays on a part for replay."""
    return {"anthropic": {"block": block, "model": "claude-haiku-4-5"}}


def test_text_answer() -> None:
    """Everything an answer says of itself, and the time from the header."""
    headers = {"request-id": "req_1", "date": "Tue, 17 Mar 2026 01:10:41 GMT"}
    result = decoded(plan_of("anthropic"), answer({"type": "text", "text": "Hello"}), headers)
    assert result == OutputResult(
        id="msg_1",
        name="claude-haiku-4-5-20251001",
        created=1773709841,
        usage=Usage(input_tokens=5, output_tokens=7),
        stop_reason="stop",
        provider_stop_reason="end_turn",
        content=(OutputResultText(text="Hello"),),
        request_id="req_1",
    )


@pytest.mark.parametrize("name", ["x-amzn-requestid", "apim-request-id"])
def test_request_id_of_other_hosts(name: str) -> None:
    """Each host has its own header."""
    assert decoded(plan_of("anthropic"), answer(), {name: "r"}).request_id == "r"


def test_blocks_in_order() -> None:
    """Thinking, text with citations, calls, and what is neither, all in the provider's order."""
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "thinking", "thinking": "", "signature": "ZQ=="},
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "text", "text": "", "citations": None},
        {"type": "text", "text": "See [1].", "citations": [{"url": "https://example.org"}]},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "tool_use", "id": "toolu_1", "name": "ping", "input": {}, "toolset_name": None},
        {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Oslo"},
         "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}},
        {"type": "surprise", "x": 1},
    ]  # fmt: skip
    plan = plan_of("anthropic", functions=FUNCTIONS)
    result = decoded(plan, answer(*blocks, stop_reason="tool_use"))
    caller = {"caller": blocks[8]["caller"]}
    assert result.content == (
        OutputResultReasoning(text="Hm.", provider_metadata=left(blocks[0])),
        OutputResultReasoning(provider_metadata=left(blocks[1])),
        OutputResultReasoning(provider_metadata=left(blocks[2])),
        OutputResultText(
            text="See [1].",
            citations=({"url": "https://example.org"},),
            provider_metadata=left(blocks[4]),
        ),
        OutputResultReasoning(provider_metadata=left(blocks[5])),
        OutputResultReasoning(provider_metadata=left(blocks[6])),
        OutputResultFunctionUse(name="ping", input={}, function_id="toolu_1"),
        OutputResultFunctionUse(
            name="get_weather",
            input={"city": "Oslo"},
            function_id="toolu_2",
            provider_metadata=left(caller),
        ),
        OutputResultReasoning(provider_metadata=left(blocks[9])),
    )
    assert result.stop_reason == "function_use"


def test_parts_go_back_as_they_came() -> None:
    """Decoding and encoding are inverse for what the host made."""
    from dialects.anthropic_and_bedrock import sent

    from llm_tools.content import Message
    from llm_tools.spec import Call

    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "See.", "citations": [{"url": "https://example.org"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "ping", "input": {}, "caller": {"type": "direct"}},
    ]  # fmt: skip
    result = decoded(plan_of("anthropic", functions=FUNCTIONS), answer(*blocks))
    history = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=result.content),
        Message(role="function", name="ping", function_id="toolu_1", content="pong"),
    )
    target = target_of("anthropic")
    body = sent(target.dialect.encode(target, Call(messages=history)))
    assert body["messages"][1]["content"] == blocks


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("something_new", "other"),
        (None, "stop"),
    ],
)
def test_stop_reasons(wire: str | None, expected: str) -> None:
    """Normalised, with the provider's word beside it; calls decide, not the word `tool_use`."""
    result = decoded(plan_of("anthropic"), answer({"type": "text", "text": "x"}, stop_reason=wire))
    assert result.stop_reason == expected
    assert result.provider_stop_reason == wire


def test_refusal_with_its_explanation() -> None:
    """The words are a refusal part, the category a warning."""
    details = {"type": "refusal", "category": "cyber", "explanation": "I cannot help with that."}
    result = decoded(plan_of("anthropic"), answer(stop_reason="refusal", stop_details=details))
    assert result.stop_reason == "refusal"
    assert result.content == (OutputResultRefusal(text="I cannot help with that."),)
    assert codes(result) == ["refusal_category"]


def test_refusal_without_words() -> None:
    """An empty refusal is told by its stop reason alone."""
    details = {"type": "refusal", "category": None, "explanation": None}
    result = decoded(plan_of("anthropic"), answer(stop_reason="refusal", stop_details=details))
    assert result.stop_reason == "refusal"
    assert result.content == ()
    assert codes(result) == ["empty_answer"]


def test_usage_adds_cache_reads_and_writes() -> None:
    """`input_tokens` on the wire excludes both; a missing part counts as 0."""
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 4,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 5},
        "server_tool_use": {"web_search_requests": 1},
    }
    result = decoded(plan_of("anthropic"), answer(usage=usage))
    assert result.usage == Usage(
        input_tokens=17,
        output_tokens=20,
        cached_input_tokens=4,
        cache_write_tokens=3,
        reasoning_tokens=5,
    )
    nothing = {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens_details": None}
    assert decoded(plan_of("anthropic"), answer(usage=nothing)).usage == Usage()
    assert decoded(plan_of("anthropic"), answer(usage=None)).usage is None


def test_call_cut_off_by_the_limit_is_never_run() -> None:
    """Its input looks complete, but nothing says that it is."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Os"}}
    plan = plan_of("anthropic", functions=FUNCTIONS)
    result = decoded(plan, answer({"type": "text", "text": "So"}, use, stop_reason="max_tokens"))
    (call,) = result.function_calls
    assert result.stop_reason == "length"
    assert (call.input, call.raw_input) == ({}, '{"city":"Os"}')
    assert call.input_error is not None


def test_missing_and_repeated_ids_become_unique() -> None:
    """Calls are told apart by place, whatever the provider called them."""
    use = {"type": "tool_use", "name": "ping", "input": None}
    blocks = [use, {**use, "id": "a"}, {**use, "id": "a"}, {**use, "id": 7}]
    result = decoded(plan_of("anthropic", functions=FUNCTIONS), answer(*blocks))
    ids = [call.function_id for call in result.function_calls]
    assert ids[1] == "a"
    assert len(set(ids)) == 4
    assert all(ids)
    assert [call.input for call in result.function_calls] == [{}] * 4


def test_block_of_a_known_type_in_another_shape_is_carried() -> None:
    """Nothing is lost, nothing crashes."""
    blocks = [
        {"type": "text"},
        {"type": "tool_use", "id": "x"},
        {"type": "thinking", "thinking": 1},
    ]
    result = decoded(plan_of("anthropic"), answer(*blocks))
    assert result.content == tuple(
        OutputResultReasoning(provider_metadata=left(block)) for block in blocks
    )


def test_message_without_content() -> None:
    """A message that says nothing is an empty answer."""
    result = decoded(plan_of("anthropic"), answer(content=None))
    assert (result.content, result.stop_reason) == ((), "stop")
    assert [warning.code for warning in result.warnings] == ["empty_answer"]


def test_lone_surrogates_become_replacement_characters() -> None:
    """One bad escape must not cost the whole answer."""
    body = b'{"content": [{"type": "text", "text": "a\\ud83d b"}], "stop_reason": "end_turn"}'
    assert decoded(plan_of("anthropic"), body).text == "a\ufffd b"


def test_error_in_a_200_body() -> None:
    """It is the error it names."""
    body = {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": "req_9",
    }
    with pytest.raises(OverloadedError) as caught:
        decoded(plan_of("anthropic"), body)
    assert caught.value.request_id == "req_9"
    assert caught.value.retryable


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}},
        {"completion": " Hi", "stop_reason": "stop_sequence", "type": "completion"},
        {"error": None},
        {},
    ],
)
def test_answer_of_another_wire_names_the_way_out(body: Any) -> None:
    """InvokeModel speaks each family's own tongue; Converse speaks to all."""
    target = target_of("amazon:anthropic", "openai.gpt-oss-20b-1:0")
    with pytest.raises(ResponseDecodeError, match=r"amazon\.converse\.v1") as caught:
        decoded(plan_of(target), body)
    assert not caught.value.retryable
    assert caught.value.body
    with pytest.raises(ResponseDecodeError, match="Check base_url"):
        decoded(plan_of("anthropic"), body)


def test_names_are_mapped_back() -> None:
    """The caller sees its own names."""
    plan = plan_of("anthropic", functions=[{"name": "stock.find"}])
    assert plan.functions is not None
    wire = plan.functions.items[0].wire_name
    use = {"type": "tool_use", "id": "toolu_1", "name": wire, "input": {}}
    (call,) = decoded(plan, answer(use)).function_calls
    assert call.name == "stock.find"


def test_call_under_none_is_marked() -> None:
    """It is in the result, with a warning, and never run."""
    plan = plan_of("anthropic", functions=FUNCTIONS, function_call="none")
    use = {"type": "tool_use", "id": "toolu_1", "name": "ping", "input": {}}
    result = decoded(plan, answer(use, stop_reason="tool_use"))
    assert "forbidden_call" in codes(result)


def test_call_outside_a_subset_is_marked() -> None:
    """Where all functions had to stay, the model may still pick another."""
    subset = {"names": ["get_weather"], "mode": "auto"}
    plan = plan_of("anthropic", functions=FUNCTIONS, function_call=subset)
    use = {"type": "tool_use", "id": "toolu_1", "name": "ping", "input": {}}
    other = {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {}}
    result = decoded(plan, answer(use, other, stop_reason="tool_use"))
    assert codes(result) == ["subset_filtered", "forbidden_call"]
    assert "'ping'" in result.warnings[1].detail


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "input", "name", "id", "usage", "error",
                             "stop_reason", "stop_details", "thinking", "citations"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.binary(max_size=60))
def test_any_bytes_give_a_result_or_a_typed_error(body: bytes) -> None:
    """Never a KeyError, TypeError or RecursionError."""
    try:
        result = decoded(plan_of("anthropic"), body)
    except LlmToolsError:
        return
    assert isinstance(result, OutputResult)


@given(st.lists(JSON_VALUES, max_size=3), JSON_VALUES)
def test_any_json_gives_a_result_or_a_typed_error(content: list[Any], extra: Any) -> None:
    """Whatever a gateway makes of an answer."""
    blocks = [{"type": "tool_use", "name": "ping", "input": item} for item in content]
    for body in ({"content": content}, {"content": blocks, "usage": extra}, extra):
        try:
            result = decoded(plan_of("anthropic", functions=FUNCTIONS), body)
        except (ResponseDecodeError, ProviderError):
            continue
        assert isinstance(result, OutputResult)
