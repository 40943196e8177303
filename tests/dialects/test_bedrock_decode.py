"""Answers of Converse: every block, stop reason and count, and what is no answer."""

from __future__ import annotations

from typing import Any

import pytest
from dialects.anthropic_and_bedrock import FUNCTIONS, codes, decoded, plan_of, sent, target_of
from hypothesis import given, strategies as st

from llm_tools.content import (
    Message,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultText,
    Usage,
)
from llm_tools.errors import LlmToolsError, ProviderError, ResponseDecodeError
from llm_tools.spec import Call

MODEL = "us.anthropic.claude-haiku-4-5-20251001-v1:0"


def answer(*content: Any, **changes: Any) -> dict[str, Any]:
    """A whole answer with these blocks."""
    return {
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12},
        "metrics": {"latencyMs": 100},
        **changes,
    }


def left(block: Any) -> dict[str, Any]:
    """What stays on a part for replay."""
    return {"amazon": {"block": block, "model": MODEL}}


def test_text_answer() -> None:
    """Everything an answer says of itself; the id is the request's, the model ours."""
    headers = {"x-amzn-requestid": "r-1", "date": "Tue, 17 Mar 2026 01:10:41 GMT"}
    assert decoded(plan_of("amazon"), answer({"text": "Hello"}), headers) == OutputResult(
        id="r-1",
        name=MODEL,
        created=1773709841,
        usage=Usage(input_tokens=5, output_tokens=7),
        stop_reason="stop",
        provider_stop_reason="end_turn",
        content=(OutputResultText(text="Hello"),),
        request_id="r-1",
    )


BLOCKS = [
    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
    {"reasoningContent": {"redactedContent": "eHg="}},
    {"text": "Look:"},
    {"citationsContent": {"content": [{"text": "See "}, {"text": "[1]."}], "citations": [{"title": "T"}]}},
    {"toolUse": {"toolUseId": "t_1", "name": "nova_code_interpreter", "input": {"a": 1}, "type": "server_tool_use"}},
    {"toolResult": {"toolUseId": "t_1", "content": [{"json": {}}], "type": "nova_code_interpreter_result"}},
    {"image": {"format": "png", "source": {"bytes": "aWk="}}},
    {"toolUse": {"toolUseId": "t_2", "name": "get_weather", "input": {"city": "Oslo"}}},
    {"surprise": {"x": 1}},
]  # fmt: skip


def test_blocks_in_order() -> None:
    """Reasoning, text, citations, images, calls, and what is neither."""
    plan = plan_of("amazon", functions=FUNCTIONS)
    result = decoded(plan, answer(*BLOCKS, stopReason="tool_use"))
    assert result.content == (
        OutputResultReasoning(text="Hm.", provider_metadata=left(BLOCKS[0])),
        OutputResultReasoning(provider_metadata=left(BLOCKS[1])),
        OutputResultText(text="Look:"),
        OutputResultText(
            text="See [1].", citations=({"title": "T"},), provider_metadata=left(BLOCKS[3])
        ),
        OutputResultReasoning(provider_metadata=left(BLOCKS[4])),
        OutputResultReasoning(provider_metadata=left(BLOCKS[5])),
        OutputResultImage(data="aWk=", media_type="image/png", provider_metadata=left(BLOCKS[6])),
        OutputResultFunctionUse(name="get_weather", input={"city": "Oslo"}, function_id="t_2"),
        OutputResultReasoning(provider_metadata=left(BLOCKS[8])),
    )
    assert result.stop_reason == "function_use"


def test_parts_go_back_as_they_came() -> None:
    """Decoding and encoding are inverse for what the host made."""
    result = decoded(plan_of("amazon", functions=FUNCTIONS), answer(*BLOCKS))
    history = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content=result.content),
        Message(role="function", name="get_weather", function_id="t_2", content="3"),
    )
    target = target_of("amazon")
    body = sent(target.dialect.encode(target, Call(messages=history)))
    assert body["messages"][1]["content"] == BLOCKS


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("malformed_model_output", "error"),
        ("malformed_tool_use", "error"),
        ("something_new", "other"),
        (None, "stop"),
    ],
)
def test_stop_reasons(wire: str | None, expected: str) -> None:
    """Normalised, with the provider's word beside it."""
    result = decoded(plan_of("amazon"), answer({"text": "x"}, stopReason=wire))
    assert result.stop_reason == expected
    assert result.provider_stop_reason == wire


def test_malformed_call_is_never_run() -> None:
    """However its input looks."""
    use = {"toolUse": {"toolUseId": "t", "name": "ping", "input": {}}}
    plan = plan_of("amazon", functions=FUNCTIONS)
    (call,) = decoded(plan, answer(use, stopReason="malformed_tool_use")).function_calls
    assert call.input_error == "the model's output was malformed (malformed_tool_use)"


def test_usage_adds_cache_reads_and_writes() -> None:
    """`inputTokens` excludes both, as `totalTokens` shows."""
    usage = {
        "inputTokens": 433,
        "outputTokens": 16,
        "totalTokens": 3203,
        "cacheReadInputTokens": 2752,
        "cacheWriteInputTokens": 2,
    }
    result = decoded(plan_of("amazon"), answer(usage=usage))
    assert result.usage == Usage(
        input_tokens=3187, output_tokens=16, cached_input_tokens=2752, cache_write_tokens=2
    )
    assert result.usage.total_tokens == usage["totalTokens"]
    assert decoded(plan_of("amazon"), answer(usage=None)).usage is None
    assert decoded(plan_of("amazon"), answer(usage={})).usage == Usage()


def test_blocks_in_other_shapes() -> None:
    """Missing ids, no input, odd citations: nothing is lost, nothing crashes."""
    blocks = [
        {"toolUse": {"name": "ping"}},
        {"toolUse": {"name": "ping", "toolUseId": 7, "input": None}},
        {"toolUse": {"toolUseId": "x"}},
        {"citationsContent": {"content": [{"web": 1}, 7], "citations": 7}},
        {"text": None},
    ]
    result = decoded(plan_of("amazon", functions=FUNCTIONS), answer(*blocks))
    first, second, *carried = result.content
    assert isinstance(first, OutputResultFunctionUse)
    assert isinstance(second, OutputResultFunctionUse)
    assert (first.input, second.input) == ({}, {})
    assert first.function_id != second.function_id
    assert [part.provider_metadata for part in carried] == [left(block) for block in blocks[2:]]


def test_empty_answer() -> None:
    """It is told, not invented."""
    result = decoded(plan_of("amazon"), {"output": {"message": {"content": None}}})
    assert result.content == ()
    assert codes(result) == ["empty_answer"]


@pytest.mark.parametrize(
    "body",
    [
        {"Output": {"__type": "com.amazon.coral.service#UnknownOperationException"}},
        {"output": None},
        {"output": {}},
        {},
    ],
)
def test_no_answer(body: Any) -> None:
    """A 200 that is none of this wire."""
    with pytest.raises(ResponseDecodeError, match="no Converse message") as caught:
        decoded(plan_of("amazon"), body)
    assert not caught.value.retryable


def test_error_in_a_200_body() -> None:
    """A proxy's, in any form."""
    with pytest.raises(ProviderError, match="boom"):
        decoded(plan_of("amazon"), {"error": {"message": "boom"}})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "toolUse", "toolUseId", "name", "input", "output", "message",
                             "content", "reasoningContent", "reasoningText", "citationsContent",
                             "citations", "image", "format", "source", "usage", "stopReason"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSON_VALUES, max_size=3), JSON_VALUES, st.binary(max_size=40))
def test_anything_gives_a_result_or_a_typed_error(content: Any, extra: Any, raw: bytes) -> None:
    """Whatever comes."""
    for body in (answer(*content), extra, {"output": {"message": extra}}, raw):
        try:
            result = decoded(plan_of("amazon", functions=FUNCTIONS), body)
        except LlmToolsError:
            continue
        assert isinstance(result, OutputResult)
