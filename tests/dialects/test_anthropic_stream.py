"""Streams of the Messages API: the same events on every host, the same result as without."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.anthropic_and_bedrock import FUNCTIONS, codes, decoded, plan_of, streamed, target_of
from hypothesis import given, strategies as st

from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultText,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from llm_tools.errors import (
    OverloadedError,
    ProviderError,
    RateLimitError,
    StreamError,
)
from llm_tools.spec import Frame, Plan

HEADERS = {"request-id": "req_1"}


def event(kind: str, **rest: Any) -> Frame:
    """One event, named in the frame and in its data."""
    return Frame(kind, json.dumps({"type": kind, **rest}).encode())


def start(index: int, **block: Any) -> Frame:
    """A block begins."""
    return event("content_block_start", index=index, content_block=block)


def delta(index: int, **change: Any) -> Frame:
    """A block grows."""
    return event("content_block_delta", index=index, delta=change)


def stop(index: int) -> Frame:
    """A block ends."""
    return event("content_block_stop", index=index)


def end(reason: str | None = "end_turn", **more: Any) -> list[Frame]:
    """The message ends."""
    usage = {"output_tokens": 20}
    return [
        event("message_delta", delta={"stop_reason": reason, "stop_sequence": None, **more}, usage=usage),
        event("message_stop"),
    ]  # fmt: skip


BEGIN = event(
    "message_start",
    message={
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 1},
    },
)
PING = event("ping")


def plan() -> Plan:
    """A plan with functions."""
    return plan_of("anthropic", functions=FUNCTIONS)


def use(index: int, name: str, *pieces: str, whole: Any = None) -> list[Frame]:
    """A call in pieces."""
    block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": whole or {}}
    grown = [delta(index, type="input_json_delta", partial_json=piece) for piece in pieces]
    return [start(index, **block), *grown, stop(index)]


def test_events_and_result() -> None:
    """Text, thinking and calls as they come; the whole answer as if it had not been streamed."""
    frames = [
        BEGIN,
        PING,
        start(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="H"),
        delta(0, type="thinking_delta", thinking="m."),
        delta(0, type="signature_delta", signature="c2ln"),
        stop(0),
        start(1, type="text", text=""),
        delta(1, type="text_delta", text="Let me "),
        delta(1, type="text_delta", text="look."),
        delta(1, type="citations_delta", citation={"url": "https://example.org"}),
        stop(1),
        *use(2, "get_weather", "", '{"city":', ' "Oslo"}'),
        *use(3, "ping"),
        *end("tool_use"),
    ]
    events, result = streamed(plan(), frames, HEADERS)
    weather = OutputResultFunctionUse(
        name="get_weather", input={"city": "Oslo"}, function_id="toolu_2"
    )
    ping = OutputResultFunctionUse(name="ping", input={}, function_id="toolu_3")
    assert events == [
        ReasoningDelta(text="H"),
        ReasoningDelta(text="m."),
        TextDelta(text="Let me "),
        TextDelta(text="look."),
        FunctionUseStart(index=0, name="get_weather", function_id="toolu_2"),
        FunctionInputDelta(index=0, partial_json='{"city":'),
        FunctionInputDelta(index=0, partial_json=' "Oslo"}'),
        FunctionUseDone(index=0, function_use=weather),
        FunctionUseStart(index=1, name="ping", function_id="toolu_3"),
        FunctionUseDone(index=1, function_use=ping),
    ]
    whole = {
        "id": "msg_1",
        "model": "claude-haiku-4-5-20251001",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "Let me look.", "citations": [{"url": "https://example.org"}]},
            {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Oslo"}},
            {"type": "tool_use", "id": "toolu_3", "name": "ping", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 20},
    }
    assert result == decoded(plan(), whole, HEADERS)
    assert result.usage == Usage(input_tokens=11, output_tokens=20, cached_input_tokens=2)


@pytest.mark.parametrize(
    ("pieces", "whole", "expected"),
    [
        ((), None, {}),
        (("",), None, {}),
        (("", '{"city":', ' "Os', 'lo"}'), None, {"city": "Oslo"}),
        ((), {"city": "Oslo"}, {"city": "Oslo"}),
        (('{"city": "Lima"}',), {"city": "Oslo"}, {"city": "Lima"}),
    ],
)
def test_placeholder_input_gives_way_to_what_comes(
    pieces: tuple[str, ...], whole: Any, expected: Any
) -> None:
    """Nothing is glued to the `{}` a block starts with; no input means `{}`."""
    frames = [BEGIN, *use(0, "get_weather", *pieces, whole=whole), *end("tool_use")]
    events, result = streamed(plan(), frames)
    assert [call.input for call in result.function_calls] == [expected]
    done = [item for item in events if isinstance(item, FunctionUseDone)]
    assert [item.function_use for item in done] == result.function_calls


@pytest.mark.parametrize(
    ("later", "cached", "written"),
    [
        ({"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}, 2, 0),
        ({"input_tokens": 9, "cache_read_input_tokens": None}, 2, 0),
        ({"input_tokens": 8, "cache_creation_input_tokens": 1}, 2, 1),
    ],
)
def test_a_prompt_that_was_counted_stays_counted(
    later: dict[str, int | None], cached: int, written: int
) -> None:
    """What the last event counts replaces the first count, but nothing does not."""
    usage = {"output_tokens": 0, **later}
    frames = [
        BEGIN,
        event("message_delta", delta={"stop_reason": "end_turn"}, usage=usage),
        event("message_stop"),
    ]
    _, result = streamed(plan(), frames)
    assert result.usage == Usage(
        input_tokens=11, cached_input_tokens=cached, cache_write_tokens=written
    )


def test_done_waits_until_the_next_call_begins() -> None:
    """Neither the end of its own block nor text after it is enough."""
    decoder = plan().target.dialect.open_stream(plan(), {})
    text = [start(1, type="text", text=""), delta(1, type="text_delta", text="So"), stop(1)]
    for frame in [BEGIN, *use(0, "ping"), *text]:
        assert not any(isinstance(item, FunctionUseDone) for item in decoder.feed(frame))
    done, begun = decoder.feed(use(2, "get_weather")[0])
    assert isinstance(done, FunctionUseDone)
    assert done.function_use.name == "ping"
    assert isinstance(begun, FunctionUseStart)


@pytest.mark.parametrize("reason", ["tool_use", "end_turn", "pause_turn", None])
def test_done_at_a_stop_reason(reason: str | None) -> None:
    """The last call is done when the message ends, with whatever reason cuts nothing off."""
    frames = [BEGIN, *use(0, "ping"), *end(reason)]
    events, result = streamed(plan(), frames)
    assert events[-1] == FunctionUseDone(index=0, function_use=result.function_calls[0])


def test_done_of_an_open_block_waits_for_its_end_too() -> None:
    """Blocks that overlap are each complete when both have happened."""
    decoder = plan().target.dialect.open_stream(plan(), {})
    first = use(0, "get_weather", '{"city":', '"Oslo"}')
    assert [type(item) for frame in [BEGIN, *first[:2]] for item in decoder.feed(frame)] == [
        FunctionUseStart,
        FunctionInputDelta,
    ]
    assert [type(item) for item in decoder.feed(use(1, "ping")[0])] == [FunctionUseStart]
    assert [type(item) for item in decoder.feed(first[2])] == [FunctionInputDelta]
    (done,) = decoder.feed(first[3])
    assert isinstance(done, FunctionUseDone)
    assert done.function_use.input == {"city": "Oslo"}


@pytest.mark.parametrize("after", [[], [delta(2, type="text_delta", text="So")]])
@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_call_cut_off_by_the_limit_is_never_done(reason: str, after: list[Frame]) -> None:
    """However complete its arguments look, and whatever text follows; the call before it is."""
    oslo = use(1, "get_weather", '{"city": "Oslo"}')
    frames = [BEGIN, *use(0, "ping"), *oslo, *after, *end(reason)]
    events, result = streamed(plan(), frames)
    done = [item for item in events if isinstance(item, FunctionUseDone)]
    assert [item.index for item in done] == [0]
    assert result.stop_reason == "length"
    assert result.function_calls[0].input_error is None
    assert result.function_calls[1].input_error is not None


def test_arguments_that_are_no_json() -> None:
    """The text is kept, the call is not run."""
    frames = [BEGIN, *use(0, "ping", '{"a": '), *end("tool_use")]
    _, result = streamed(plan(), frames)
    (call,) = result.function_calls
    assert call.input == {}
    assert call.input_error
    assert call.raw_input == '{"a": '


def test_tools_the_provider_runs_are_no_events() -> None:
    """Their blocks are put together and carried."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"a": 1}]}
    broken = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "input": {}}
    frames = [
        BEGIN,
        start(0, **search),
        delta(0, type="input_json_delta", partial_json='{"q":'),
        delta(0, type="input_json_delta", partial_json='"x"}'),
        stop(0),
        start(1, **found),
        stop(1),
        start(2, **broken),
        delta(2, type="input_json_delta", partial_json='{"q":'),
        stop(2),
        *end("pause_turn"),
    ]
    events, result = streamed(plan(), frames)
    blocks = [part.provider_metadata["anthropic"]["block"] for part in result.content]
    assert events == []
    assert blocks == [{**search, "input": {"q": "x"}}, found, broken]
    assert result.stop_reason == "pause"


def test_blocks_that_start_with_their_text() -> None:
    """A gateway may send it whole, and nothing of it is lost."""
    frames = [
        BEGIN,
        start(0, type="thinking", thinking="Hm", signature="c2ln"),
        delta(0, type="thinking_delta", thinking="."),
        start(1, type="text", text="He", citations=[{"a": 1}]),
        delta(1, type="text_delta", text="llo"),
        delta(1, type="citations_delta", citation={"a": 2}),
        *end(),
    ]
    events, result = streamed(plan(), frames)
    assert [type(item) for item in events] == [ReasoningDelta, ReasoningDelta, TextDelta, TextDelta]
    assert result.text == "Hello"
    assert isinstance(result.content[1], OutputResultText)
    assert result.content[1].citations == ({"a": 1}, {"a": 2})


def test_blocks_that_begin_without_saying_so() -> None:
    """Deltas alone make a block."""
    frames = [
        BEGIN,
        delta(0, type="thinking_delta", thinking="Hm."),
        delta(0, type="signature_delta", signature="c2ln"),
        delta(1, type="text_delta", text="Hello"),
        stop(1),
        stop(7),
        *end(),
    ]
    _, result = streamed(plan(), frames)
    assert result.text == "Hello"
    block = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert result.content[0].provider_metadata["anthropic"]["block"] == block


def test_two_blocks_under_one_index_are_both_kept() -> None:
    """Calls live in their own slots."""
    frames = [BEGIN, *use(0, "ping"), *use(0, "get_weather", '{"city": "Oslo"}'), *end("tool_use")]
    _, result = streamed(plan(), frames)
    assert [call.name for call in result.function_calls] == ["ping", "get_weather"]
    assert len({call.function_id for call in result.function_calls}) == 2


def test_minted_ids_agree_between_events_and_result() -> None:
    """A call without an id gets one once."""
    block = {"type": "tool_use", "name": "ping", "input": {}}
    frames = [BEGIN, start(0, **block), stop(0), start(1, **block), stop(1), *end("tool_use")]
    events, result = streamed(plan(), frames)
    started = [item.function_id for item in events if isinstance(item, FunctionUseStart)]
    assert started == [call.function_id for call in result.function_calls]
    assert len(set(started)) == 2


def test_refusal_in_a_stream() -> None:
    """Its words are an event too."""
    details = {"type": "refusal", "category": "bio", "explanation": "No."}
    events, result = streamed(plan(), [BEGIN, *end("refusal", stop_details=details)])
    assert events == [RefusalDelta(text="No.")]
    assert result.stop_reason == "refusal"
    assert codes(result) == ["refusal_category"]


def test_unknown_events_and_deltas_are_skipped() -> None:
    """So is a gateway's end mark, and an event named by the framing alone."""
    frames = [
        event("fresh_idea", x=1),
        BEGIN,
        delta(0, type="fresh_delta", x=1),
        event("content_block_delta", index=0),
        event("message_start"),
        Frame("content_block_delta", b'{"index": 0, "delta": {"text": "Hi"}}'),
        event("message_delta", delta={}, usage=None),
        *end(),
        Frame(None, b" [DONE]"),
    ]
    events, result = streamed(plan(), frames)
    assert events == [TextDelta(text="Hi")]
    assert result.text == "Hi"


# ---------------------------------------------------------------- what goes wrong


def half_a_call() -> list[Frame]:
    """Some text, and a call that has not ended."""
    return [
        BEGIN,
        PING,
        start(0, type="text", text=""),
        delta(0, type="text_delta", text="Let me look"),
        stop(0),
        *use(1, "ping"),
        *use(2, "get_weather", '{"city": "Os')[:-1],
    ]


ERROR = event(
    "error",
    error={"details": None, "type": "overloaded_error", "message": "Overloaded"},
    request_id="req_0",
)


def test_error_event_raises_what_it_names_with_what_had_come() -> None:
    """No call of a broken stream may run; the text is there to look at."""
    with pytest.raises(OverloadedError, match="Overloaded") as caught:
        streamed(plan(), [*half_a_call(), ERROR])
    result = caught.value.result
    assert isinstance(result, OutputResult)
    assert caught.value.retryable
    assert caught.value.code == "overloaded_error"
    assert result.text == "Let me look"
    assert result.stop_reason == "error"
    assert [call.name for call in result.function_calls] == ["ping", "get_weather"]
    assert all(call.input == {} and call.input_error for call in result.function_calls)
    assert result.function_calls[1].raw_input == '{"city": "Os'


@pytest.mark.parametrize("frame", [ERROR, Frame(None, b'{"error": {"type": "overloaded_error"}}')])
def test_error_as_the_first_event(frame: Frame) -> None:
    """Also without a name."""
    with pytest.raises(OverloadedError):
        streamed(plan(), [frame])


def test_exception_frame_of_aws() -> None:
    """InvokeModel's stream ends in one."""
    target = target_of("amazon:anthropic")
    frame = Frame("exception:throttlingException", b'{"message": "Too many tokens"}')
    with pytest.raises(RateLimitError, match="Too many tokens") as caught:
        streamed(plan_of(target, functions=FUNCTIONS), [BEGIN, frame])
    assert caught.value.status == 429
    assert isinstance(caught.value.result, OutputResult)


@pytest.mark.parametrize("cut", [0, 1, 4, 7, -1])
def test_end_without_the_end_mark_never_looks_like_success(cut: int) -> None:
    """The stop reason alone is not the end."""
    frames = [*half_a_call(), stop(2), *end("tool_use")][:cut]
    with pytest.raises(StreamError, match="before its end mark") as caught:
        streamed(plan(), frames)
    assert caught.value.retryable
    assert isinstance(caught.value.result, OutputResult)
    assert caught.value.result.stop_reason == "error"


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"type": "content_block_delta", "delta": 7}'])
def test_frame_that_cannot_be_read(data: bytes) -> None:
    """It is a broken stream."""
    with pytest.raises(StreamError, match="could not be read"):
        streamed(plan(), [BEGIN, Frame(None, data)])


@pytest.mark.parametrize(
    "data",
    [
        b'{"choices": [{"delta": {"content": "Hi"}}]}',
        b'{"messageStart": {"role": "assistant"}}',
        b'{"type": "completion", "completion": " Hi"}',
    ],
)
def test_stream_of_another_wire_names_the_way_out(data: bytes) -> None:
    """As without streaming."""
    plan = plan_of(target_of("amazon:anthropic", "amazon.nova-lite-v1:0"))
    with pytest.raises(StreamError, match=r"amazon\.converse\.v1") as caught:
        streamed(plan, [Frame(None, data)])
    assert not caught.value.retryable


PAYLOADS = st.sampled_from(
    [
        BEGIN,
        PING,
        ERROR,
        *use(0, "ping", "{", "}"),
        *use(1, "get_weather"),
        *end(),
        start(0, type="text", text=7),
        start(0, type="text", text="x", citations=7),
        start(1, type="thinking"),
        start(2, type="server_tool_use", input=[]),
        delta(0, type="text_delta", text="x"),
        delta(0, type="citations_delta", citation={}),
        delta(1, type="signature_delta", signature="s"),
        delta(2, type="input_json_delta", partial_json="{"),
        Frame(None, b"null"),
        Frame("exception:x", b"\xff"),
    ]
)


@given(st.lists(PAYLOADS | st.builds(Frame, st.none(), st.binary(max_size=20)), max_size=12))
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
    started = [item.function_id for item in events if isinstance(item, FunctionUseStart)]
    assert started == [call.function_id for call in result.function_calls]
