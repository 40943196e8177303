"""Streams of Converse: the same events on every host, the same result as without."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.anthropic_and_bedrock import FUNCTIONS, decoded, plan_of, streamed
from hypothesis import given, strategies as st

from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultFunctionUse,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from llm_tools.errors import (
    BadRequestError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamError,
)
from llm_tools.spec import Frame, Plan

HEADERS = {"x-amzn-requestid": "r-1"}


def event(kind: str, **payload: Any) -> Frame:
    """One event; AWS pads payloads."""
    return Frame(kind, json.dumps({**payload, "p": "abcd"}).encode())


def start(index: int, **begun: Any) -> Frame:
    """A block begins."""
    return event("contentBlockStart", contentBlockIndex=index, start=begun)


def delta(index: int, **change: Any) -> Frame:
    """A block grows."""
    return event("contentBlockDelta", contentBlockIndex=index, delta=change)


def stop(index: int) -> Frame:
    """A block ends."""
    return event("contentBlockStop", contentBlockIndex=index)


def end(reason: str = "end_turn") -> list[Frame]:
    """The message ends; the counts follow."""
    usage = {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}
    return [
        event("messageStop", stopReason=reason),
        event("metadata", usage=usage, metrics={"latencyMs": 1}),
    ]


def use(index: int, name: str, *pieces: str) -> list[Frame]:
    """A call in pieces."""
    begun = {"toolUseId": f"t_{index}", "name": name}
    grown = [delta(index, toolUse={"input": piece}) for piece in pieces]
    return [start(index, toolUse=begun), *grown, stop(index)]


BEGIN = event("messageStart", role="assistant")


def plan() -> Plan:
    """A plan with functions."""
    return plan_of("amazon", functions=FUNCTIONS)


def test_events_and_result() -> None:
    """Blocks come with and without a start; the result is that of the whole answer."""
    frames = [
        BEGIN,
        delta(0, reasoningContent={"text": "H"}),
        delta(0, reasoningContent={"text": "m."}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        stop(0),
        delta(1, reasoningContent={"redactedContent": "eHg="}),
        stop(1),
        delta(2, text="Let me "),
        delta(2, text=""),
        delta(2, text="look."),
        stop(2),
        *use(3, "get_weather", "", '{"city":', ' "Oslo"}'),
        *use(4, "ping"),
        *end("tool_use"),
    ]
    events, result = streamed(plan(), frames, HEADERS)
    weather = OutputResultFunctionUse(name="get_weather", input={"city": "Oslo"}, function_id="t_3")
    ping = OutputResultFunctionUse(name="ping", input={}, function_id="t_4")
    assert events == [
        ReasoningDelta(text="H"),
        ReasoningDelta(text="m."),
        TextDelta(text="Let me "),
        TextDelta(text="look."),
        FunctionUseStart(index=0, name="get_weather", function_id="t_3"),
        FunctionInputDelta(index=0, partial_json='{"city":'),
        FunctionInputDelta(index=0, partial_json=' "Oslo"}'),
        FunctionUseDone(index=0, function_use=weather),
        FunctionUseStart(index=1, name="ping", function_id="t_4"),
        FunctionUseDone(index=1, function_use=ping),
    ]
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eHg="}},
        {"text": "Let me look."},
        {"toolUse": {"toolUseId": "t_3", "name": "get_weather", "input": {"city": "Oslo"}}},
        {"toolUse": {"toolUseId": "t_4", "name": "ping", "input": {}}},
    ]
    whole = {
        "output": {"message": {"content": content}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12},
    }
    assert result == decoded(plan(), whole, HEADERS)


def test_blocks_of_the_host_itself() -> None:
    """Its tools, their results, citations and images are put together and carried."""
    tool = {"toolUseId": "t_0", "name": "nova_code_interpreter", "type": "server_tool_use"}
    found = {"toolUseId": "t_0", "type": "nova_code_interpreter_result", "status": "success"}
    frames = [
        BEGIN,
        start(0, toolUse=tool),
        delta(0, toolUse={"input": '{"a":'}),
        delta(0, toolUse={"input": "1}"}),
        stop(0),
        start(1, toolResult=found),
        delta(1, toolResult=[{"json": {"b": 2}}]),
        delta(1, toolResult=[{"text": "c"}]),
        stop(1),
        delta(2, text="See [1]."),
        delta(2, citation={"title": "T"}),
        stop(2),
        start(3, image={"format": "png"}),
        delta(3, image={"source": {"bytes": "aWk="}}),
        stop(3),
        delta(4, image={"format": "gif", "source": {"bytes": "aWk="}}),
        delta(5, reasoningContent={"text": "Hm."}),
        start(6, surprise={"x": 1}),
        start(7, toolUse={**tool, "toolUseId": "t_7"}),
        delta(7, toolUse={"input": '{"a":'}),
        *end(),
    ]
    events, result = streamed(plan(), frames)
    assert events == [TextDelta(text="See [1]."), ReasoningDelta(text="Hm.")]
    blocks = [part.provider_metadata["amazon"]["block"] for part in result.content]
    cited = {"content": [{"text": "See [1]."}], "citations": [{"title": "T"}]}
    assert blocks == [
        {"toolUse": {**tool, "input": {"a": 1}}},
        {"toolResult": {**found, "content": [{"json": {"b": 2}}, {"text": "c"}]}},
        {"citationsContent": cited},
        {"image": {"format": "png", "source": {"bytes": "aWk="}}},
        {"image": {"format": "gif", "source": {"bytes": "aWk="}}},
        {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
        {"surprise": {"x": 1}},
        {"toolUse": {**tool, "toolUseId": "t_7", "input": {}}},
    ]


def test_done_waits_until_the_next_call_begins() -> None:
    """Neither the end of its own block nor text after it is enough."""
    decoder = plan().target.dialect.open_stream(plan(), {})
    for frame in [BEGIN, *use(0, "ping"), delta(1, text="So"), stop(1)]:
        assert not any(isinstance(item, FunctionUseDone) for item in decoder.feed(frame))
    done, begun = decoder.feed(use(2, "get_weather")[0])
    assert isinstance(done, FunctionUseDone)
    assert isinstance(begun, FunctionUseStart)


@pytest.mark.parametrize(
    "reason",
    ["max_tokens", "model_context_window_exceeded", "malformed_tool_use", "malformed_model_output"],
)
def test_last_call_is_not_done_where_the_answer_is_not_whole(reason: str) -> None:
    """It is never run."""
    events, result = streamed(plan(), [BEGIN, *use(0, "ping"), *end(reason)])
    assert not any(isinstance(item, FunctionUseDone) for item in events)
    assert result.function_calls[0].input_error is not None


def test_stream_without_counts_or_with_an_odd_end() -> None:
    """The end mark is `messageStop`; what follows may be missing."""
    events, result = streamed(
        plan(), [delta(0, text="Hi"), stop(0), stop(9), event("messageStop", stopReason=None)]
    )
    assert events == [TextDelta(text="Hi")]
    assert result.usage is None
    assert result.stop_reason == "stop"
    assert result.provider_stop_reason == "end_turn"


def test_minted_ids_agree_between_events_and_result() -> None:
    """Missing and repeated ids are replaced once."""
    frames = [
        start(0, toolUse={"name": "ping"}),
        start(0, toolUse={"name": "ping", "toolUseId": "a"}),
        start(1, toolUse={"name": "ping", "toolUseId": "a"}),
        start(2, toolUse={"name": "ping", "toolUseId": 7}),
        *end("tool_use"),
    ]
    events, result = streamed(plan(), frames)
    started = [item.function_id for item in events if isinstance(item, FunctionUseStart)]
    assert started == [call.function_id for call in result.function_calls]
    assert started[1] == "a"
    assert len(set(started)) == 4


def test_unknown_events_are_skipped() -> None:
    """So is an empty delta."""
    frames = [event("freshIdea"), event("contentBlockDelta"), *end()]
    events, result = streamed(plan(), frames)
    assert events == []
    assert result.content == ()


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("throttlingException", RateLimitError, 429),
        ("validationException", BadRequestError, 400),
        ("modelStreamErrorException", ServerError, 424),
        ("internalServerException", ServerError, 500),
        ("serviceUnavailableException", ServerError, 503),
    ],
)
def test_exception_frame_raises_what_it_names(name: str, kind: type, status: int) -> None:
    """With what had come; no call of a broken stream may run."""
    frame = Frame(f"exception:{name}", b'{"message": "boom"}')
    frames = [BEGIN, delta(0, text="So"), *use(1, "get_weather", '{"city": "Os'), frame]
    with pytest.raises(kind, match="boom") as caught:
        streamed(plan(), frames)
    assert caught.value.status == status
    result = caught.value.result
    assert isinstance(result, OutputResult)
    assert result.text == "So"
    (call,) = result.function_calls
    assert call.input_error
    assert call.raw_input == '{"city": "Os'


@pytest.mark.parametrize("cut", [0, 1, 3, -2])
def test_end_without_the_end_mark_never_looks_like_success(cut: int) -> None:
    """A cut stream is an error."""
    frames = [BEGIN, delta(0, text="So"), *use(1, "ping"), *end("tool_use")][:cut]
    with pytest.raises(StreamError, match="before its end mark") as caught:
        streamed(plan(), frames)
    assert caught.value.retryable
    assert isinstance(caught.value.result, OutputResult)


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"delta": 7}'])
def test_frame_that_cannot_be_read(data: bytes) -> None:
    """It is a broken stream."""
    with pytest.raises(StreamError, match="could not be read"):
        streamed(plan(), [Frame("contentBlockDelta", data)])


def test_body_that_is_no_stream() -> None:
    """An error as a whole is what it names; anything else is none of this wire."""
    with pytest.raises(ServerError, match="boom") as caught:
        streamed(plan(), [Frame(None, b'{"error": {"message": "boom", "code": 500}}')])
    assert isinstance(caught.value.result, OutputResult)
    with pytest.raises(StreamError, match="no event of Converse") as broken:
        streamed(plan(), [Frame(None, b"{}")])
    assert not broken.value.retryable


FRAMES = st.sampled_from(
    [
        BEGIN,
        Frame(None, b"[]"),
        *use(0, "ping", "{", "}"),
        *use(1, "get_weather"),
        *end(),
        *end("max_tokens"),
        delta(0, text="x"),
        delta(2, reasoningContent={"text": "x"}),
        delta(2, image={"source": 1}),
        start(3, toolUse=7),
        start(3, toolUse={"name": 7}),
        delta(3, toolUse={}),
        Frame("exception:x", b""),
    ]
)


@given(st.lists(FRAMES | st.builds(Frame, st.none(), st.binary(max_size=9)), max_size=12))
def test_any_frames_give_a_result_or_a_typed_error(frames: list[Frame]) -> None:
    """Whatever the order, and whatever comes between."""
    events: list[StreamEvent] = []
    decoder = plan().target.dialect.open_stream(plan(), {})
    try:
        for frame in frames:
            events += decoder.feed(frame)
        result = decoder.close()
    except (StreamError, ProviderError):
        return
    started = [item for item in events if isinstance(item, FunctionUseStart)]
    assert [item.function_id for item in started] == [
        call.function_id for call in result.function_calls
    ]
