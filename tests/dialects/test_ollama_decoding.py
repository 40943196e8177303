"""Answers of Ollama's `/api/chat`, whole and in lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, get_args

import pytest
from dialects.google_and_ollama import FUNCTIONS, codes, decoded, frame, plan_of, streamed
from hypothesis import given, strategies as st

from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultText,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from llm_tools.errors import LlmToolsError, ProviderError, ResponseDecodeError, StreamError
from llm_tools.ids import set_id_factory
from llm_tools.reply import check_answer

PLAN = plan_of("ollama", "qwen3", functions=FUNCTIONS)
FORCED = plan_of("ollama", "qwen3", functions=FUNCTIONS, function_call="any")
END = {"done": True, "done_reason": "stop"}
THINKING = {"ollama": {"thinking": True}}


@pytest.fixture
def counted_ids() -> Iterator[None]:
    """Minted ids are m0, m1, …"""
    numbers = count()
    set_id_factory(lambda: f"m{next(numbers)}")
    yield
    set_id_factory(None)


def line(content: str = "", **message: Any) -> Any:
    """One line of a stream; with `END`, a whole answer."""
    return {
        "model": "qwen3",
        "message": {"role": "assistant", "content": content, **message},
        "done": False,
    }


def call(city: str, **fields: Any) -> Any:
    """A call for a city's weather."""
    return {"function": {"name": "get_weather", "arguments": {"city": city}}, **fields}


@pytest.mark.usefixtures("counted_ids")
def test_a_whole_answer() -> None:
    """Thinking, text and calls, with counts, time and reason."""
    body = line("Checking.", thinking="Hm.", tool_calls=[call("Oslo", id="c1"), call("Lima")]) | END
    body |= {
        "created_at": "2026-01-02T03:04:05.123456789Z",
        "prompt_eval_count": 9,
        "eval_count": 4,
        "model": "qwen3:8b",
    }
    assert decoded(PLAN, body, {"x-request-id": "q"}) == OutputResult(
        id="",
        name="qwen3:8b",
        created=1767323045,
        usage=Usage(input_tokens=9, output_tokens=4),
        stop_reason="function_use",
        provider_stop_reason="stop",
        request_id="q",
        content=(
            OutputResultReasoning(text="Hm.", provider_metadata=THINKING),
            OutputResultText(text="Checking."),
            OutputResultFunctionUse(name="get_weather", input={"city": "Oslo"}, function_id="c1"),
            OutputResultFunctionUse(name="get_weather", input={"city": "Lima"}, function_id="m0"),
        ),
    )


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("load", "other"),
        ("unload", "other"),
        (None, "stop"),
    ],
)
def test_reasons(reason: str | None, stop: str) -> None:
    """What is no end of an answer is `other`."""
    result = decoded(PLAN, line("x") | {"done": True, "done_reason": reason})
    assert (result.stop_reason, result.provider_stop_reason) == (stop, reason)


def test_an_answer_that_is_not_done() -> None:
    """It is incomplete: no good stop, a warning, and no call of it may run."""
    result = decoded(PLAN, line("Half a sen", tool_calls=[call("Oslo", id="c1")]))
    assert result.stop_reason == "error"
    assert result.provider_stop_reason is None
    assert result.text == "Half a sen"
    assert codes(result) == ["answer_incomplete"]
    [use] = result.function_calls
    assert use.input_error == "the provider broke the answer off; the call may be incomplete"


@pytest.mark.parametrize(("reason", "stop"), [("stop", "error"), ("length", "length")])
def test_a_reason_beside_an_answer_that_is_not_done(reason: str, stop: str) -> None:
    """A limit is the better word for it; `stop` is contradicted."""
    result = decoded(PLAN, line("x") | {"done_reason": reason})
    assert (result.stop_reason, result.provider_stop_reason) == (stop, reason)
    assert codes(result) == ["answer_incomplete"]


def test_an_answer_that_does_not_say_whether_it_is_done() -> None:
    """Some servers leave the word out: nothing says that anything is missing."""
    body = line("x")
    del body["done"]
    result = decoded(PLAN, body)
    assert (result.stop_reason, result.warnings) == ("stop", ())


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({}, None),
        ({"eval_count": 4}, Usage(output_tokens=4)),
        ({"prompt_eval_count": 9}, Usage(input_tokens=9)),
    ],
)
def test_counts_may_be_missing(counts: Any, usage: Usage | None) -> None:
    """A prompt that was cached whole is not counted by the server."""
    assert decoded(PLAN, line("x") | END | counts).usage == usage


def test_a_message_without_content_is_an_empty_answer() -> None:
    """A server that only loaded the model says nothing."""
    result = decoded(PLAN, {"model": "qwen3", "done": True, "done_reason": "load"})
    assert (result.content, result.stop_reason, codes(result)) == ((), "other", ["empty_answer"])


def test_the_last_call_of_a_cut_answer_never_runs() -> None:
    """`length` makes the last call one that was cut off."""
    body = line(tool_calls=[call("a"), call("b")]) | {"done": True, "done_reason": "length"}
    result = decoded(PLAN, body)
    assert result.stop_reason == "length"
    assert [use.input_error is None for use in result.function_calls] == [True, False]


@pytest.mark.parametrize(
    "arguments",
    [{}, None, "{}", ""],
)
def test_a_call_without_arguments(arguments: Any) -> None:
    """Missing arguments are an empty input, also as text."""
    tool_call = {"function": {"name": "ping", "arguments": arguments}}
    [use] = decoded(PLAN, line(tool_calls=[tool_call]) | END).function_calls
    assert (use.name, use.input, use.input_error) == ("ping", {}, None)


def test_a_call_without_a_function_is_kept() -> None:
    """It comes out under an empty name, which no function has."""
    [use] = decoded(PLAN, line(tool_calls=[{}]) | END).function_calls
    assert (use.name, use.input) == ("", {})


@pytest.mark.parametrize(
    "body", [{"error": "model not found"}, line("x") | {"error": "out of memory"}]
)
def test_an_error_behind_a_200_is_an_error(body: Any) -> None:
    """Errors are a bare string here."""
    with pytest.raises(ProviderError):
        decoded(PLAN, body)


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b'{"model": "x"}', b"<html>", b'{"message": 3}']
)
def test_bytes_that_are_no_answer(body: bytes) -> None:
    """They are a decode error that keeps their start."""
    with pytest.raises(ResponseDecodeError) as error:
        decoded(PLAN, body)
    assert error.value.body == body.decode()


# ---------------------------------------------------------------- forced calls


@pytest.mark.usefixtures("counted_ids")
def test_json_that_stands_in_for_a_call_becomes_one() -> None:
    """The answer of a forced call is a call, and fulfils what was asked."""
    body = line(' {"name": "get_weather", "arguments": {"city": "Oslo"}} ', thinking="Hm.") | END
    result = decoded(FORCED, body)
    assert result.content == (
        OutputResultReasoning(text="Hm.", provider_metadata=THINKING),
        OutputResultFunctionUse(name="get_weather", input={"city": "Oslo"}, function_id="m0"),
    )
    assert result.stop_reason == "function_use"
    assert codes(result) == ["function_call_emulated"]
    assert check_answer(FORCED, result) is None


@pytest.mark.parametrize("text", ["Sorry.", '{"name": "get_wea', '{"arguments": {}}', "[" * 5000])
def test_other_text_stays_text(text: str) -> None:
    """A model that was cut off or did not obey has not called; the check says so."""
    result = decoded(FORCED, line(text) | {"done": True, "done_reason": "length"})
    assert result.content == (OutputResultText(text=text),)
    assert check_answer(FORCED, result) is not None


def test_an_empty_forced_answer() -> None:
    """Nothing at all is no call either."""
    result = decoded(FORCED, line("") | END)
    assert result.content == ()
    assert check_answer(FORCED, result) is not None


def test_json_is_text_where_no_call_was_forced() -> None:
    """Calls written as text are never turned into anything else."""
    text = '{"name": "ping", "arguments": {}}'
    assert decoded(PLAN, line(text) | END).content == (OutputResultText(text=text),)


# ---------------------------------------------------------------- streams


@pytest.mark.usefixtures("counted_ids")
def test_a_whole_stream() -> None:
    """Deltas come as they are; a call is done once the next or the end shows it whole."""
    lines = [
        line(thinking="H"),
        line(thinking="m"),
        line("Che"),
        line("ck"),
        line(tool_calls=[call("Oslo", id="c1")]),
        line(tool_calls=[call("Lima")]),
        line("")
        | END
        | {"eval_count": 4, "prompt_eval_count": 9, "created_at": "2026-01-02T03:04:05Z"},
    ]
    events, result = streamed(PLAN, lines)
    oslo = OutputResultFunctionUse(name="get_weather", input={"city": "Oslo"}, function_id="c1")
    lima = OutputResultFunctionUse(name="get_weather", input={"city": "Lima"}, function_id="m0")
    assert events == [
        ReasoningDelta(text="H"),
        ReasoningDelta(text="m"),
        TextDelta(text="Che"),
        TextDelta(text="ck"),
        FunctionUseStart(index=0, name="get_weather", function_id="c1"),
        FunctionInputDelta(index=0, partial_json='{"city":"Oslo"}'),
        FunctionUseDone(index=0, function_use=oslo),
        FunctionUseStart(index=1, name="get_weather", function_id="m0"),
        FunctionInputDelta(index=1, partial_json='{"city":"Lima"}'),
        FunctionUseDone(index=1, function_use=lima),
    ]
    assert result.content == (
        OutputResultReasoning(text="Hm", provider_metadata=THINKING),
        OutputResultText(text="Check"),
        oslo,
        lima,
    )
    assert (result.usage, result.created) == (Usage(input_tokens=9, output_tokens=4), 1767323045)
    assert (result.stop_reason, result.name) == ("function_use", "qwen3")


@pytest.mark.usefixtures("counted_ids")
def test_a_forced_call_in_pieces() -> None:
    """Its text is no text: the call's events come once its JSON is whole."""
    lines = [
        line(thinking="Hm"),
        line('{"name": "get_wea'),
        line('ther", "arguments": {"city": "Oslo"}}'),
        line("") | END,
    ]
    events, result = streamed(FORCED, lines)
    use = OutputResultFunctionUse(name="get_weather", input={"city": "Oslo"}, function_id="m0")
    assert events == [
        ReasoningDelta(text="Hm"),
        FunctionUseStart(index=0, name="get_weather", function_id="m0"),
        FunctionInputDelta(index=0, partial_json='{"city":"Oslo"}'),
        FunctionUseDone(index=0, function_use=use),
    ]
    assert result.function_calls == [use]


def test_a_forced_call_that_is_none_streams_as_text() -> None:
    """What the model said instead is one delta at the end."""
    events, result = streamed(FORCED, [line("No"), line(".") | END])
    assert events == [TextDelta(text="No.")]
    assert result.text == "No."


@pytest.mark.usefixtures("counted_ids")
def test_a_call_beside_a_forced_one_keeps_its_id() -> None:
    """A server that sends both forms gets both, under the ids of their events."""
    lines = [line(tool_calls=[call("a")]), line('{"name": "ping"}') | END]
    events, result = streamed(FORCED, lines)
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert done == result.function_calls
    assert [use.function_id for use in done] == ["m0", "m1"]


def test_the_last_call_of_a_cut_stream_is_never_done() -> None:
    """`length` gives no done-event for it."""
    lines = [line(tool_calls=[call("a"), call("b")]), {"done": True, "done_reason": "length"}]
    events, result = streamed(PLAN, lines)
    assert [event.index for event in events if isinstance(event, FunctionUseDone)] == [0]
    assert [use.input_error is None for use in result.function_calls] == [True, False]


@pytest.mark.parametrize("lines", [[], [line("Che")], [line("x", tool_calls=[call("a")])]])
def test_a_stream_that_is_never_done_is_broken(lines: Any) -> None:
    """The error holds what had come, and no call of it can run."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    for item in lines:
        decoder.feed(frame(item))
    with pytest.raises(StreamError) as error:
        decoder.close()
    result = error.value.result
    assert isinstance(result, OutputResult)
    assert result.stop_reason == "error"
    assert result.text == "".join(item["message"]["content"] for item in lines)
    assert all(use.input_error for use in result.function_calls)


def test_an_error_line_is_raised() -> None:
    """A failure in mid-stream comes as a line of its own, with status 200."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    decoder.feed(frame(line("a")))
    with pytest.raises(ProviderError):
        decoder.feed(frame({"error": "an error was encountered while running the model"}))


@pytest.mark.parametrize("data", [b"nope", b"7", b'{"message": 1}'])
def test_a_line_of_another_wire_is_a_stream_error(data: bytes) -> None:
    """It holds what had come before."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    decoder.feed(frame(line("a")))
    with pytest.raises(StreamError) as error:
        decoder.feed(frame(data))
    assert isinstance(error.value.result, OutputResult)
    assert error.value.result.text == "a"


def test_blank_lines_do_no_harm() -> None:
    """Keep-alives and line ends between lines are passed over."""
    assert streamed(PLAN, [b"", b"\r", line("a") | END])[1].text == "a"


@given(
    st.lists(
        st.tuples(
            st.text(max_size=3), st.text(max_size=3), st.lists(st.integers(0, 9), max_size=2)
        ),
        max_size=5,
    ),
    st.sampled_from(["stop", "length"]),
    st.sampled_from([PLAN, FORCED]),
)
def test_any_cut_into_lines_gives_the_whole_answers_result(
    pieces: Any, reason: str, plan: Any
) -> None:
    """The streamed result equals the one of all pieces in one body."""
    end = {"done": True, "done_reason": reason}
    lines = [
        line(
            text,
            thinking=thought,
            tool_calls=[call(str(n), id=f"{i}.{k}") for k, n in enumerate(calls)],
        )
        for i, (text, thought, calls) in enumerate(pieces)
    ]
    whole = line(
        "".join(text for text, _, _ in pieces),
        thinking="".join(thought for _, thought, _ in pieces),
        tool_calls=[c for item in lines for c in item["message"]["tool_calls"]],
    )
    assert streamed(plan, [*lines, line() | end])[1] == decoded(plan, whole | end)


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"{}", b"[]", b'{"done":true}'])))
def test_any_frames_give_events_or_a_typed_error(frames: list[bytes]) -> None:
    """Nothing a server may send comes out as a KeyError or the like."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    events: list[Any] = []
    try:
        for data in frames:
            events += decoder.feed(frame(data))
        end: Any = decoder.close()
    except LlmToolsError as error:
        end = error
    assert isinstance(end, OutputResult | LlmToolsError)
    assert all(type(event) in get_args(StreamEvent) for event in events)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 20) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["message", "content", "tool_calls", "function", "name", "arguments", "id", "done"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_give_a_result_or_a_typed_error(body: bytes) -> None:
    """Nothing a server may send comes out as a KeyError or the like."""
    try:
        result = decoded(PLAN, body)
    except LlmToolsError:
        return
    assert isinstance(result, OutputResult)
