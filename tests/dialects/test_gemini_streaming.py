"""Streams of `GenerateContentResponse`s as events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, get_args

import pytest
from dialects.google_and_ollama import FUNCTIONS, decoded, frame, plan_of, streamed
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
from llm_tools.errors import LlmToolsError, ProviderError, StreamError
from llm_tools.ids import set_id_factory

PLAN = plan_of("google", "gemini-3-flash", functions=FUNCTIONS)
VERTEX = plan_of("vertex", "gemini-3-flash", functions=FUNCTIONS)


@pytest.fixture
def counted_ids() -> Iterator[None]:
    """Minted ids are m0, m1, …"""
    numbers = count()
    set_id_factory(lambda: f"m{next(numbers)}")
    yield
    set_id_factory(None)


def chunk(*parts: Any, finish: str | None = None, index: int = 0, **fields: Any) -> Any:
    """A chunk with one candidate."""
    candidate: Any = {"content": {"role": "model", "parts": list(parts)}, "index": index}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **fields}


def call(city: str, **fields: Any) -> Any:
    """A part that asks for a city's weather."""
    return {"functionCall": {"name": "get_weather", "args": {"city": city}, **fields}}


def use(city: str, function_id: str, kept: Any = None) -> OutputResultFunctionUse:
    """The neutral form of `call`."""
    metadata = None if kept is None else {"google": kept}
    return OutputResultFunctionUse(
        name="get_weather",
        input={"city": city},
        function_id=function_id,
        provider_metadata=metadata,
    )


@pytest.mark.usefixtures("counted_ids")
def test_a_whole_stream() -> None:
    """Deltas come as they are; a call is done once the next or the end shows it whole."""
    signed = call("Oslo") | {"thoughtSignature": "U0lH"}
    chunks = [
        chunk(
            {"text": "Hm", "thought": True}, responseId="r", usageMetadata={"promptTokenCount": 9}
        ),
        chunk({"text": ", so", "thought": True}, {"text": "Che"}),
        chunk({"text": "cking."}),
        chunk(signed),
        chunk(call("Lima", id="g2")),
        chunk({"text": "", "thoughtSignature": "VA=="}),
        chunk(
            {"text": ""},
            finish="STOP",
            usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 4},
        ),
    ]
    events, result = streamed(PLAN, chunks)
    oslo = use("Oslo", "m0", {"thoughtSignature": "U0lH"})
    lima = use("Lima", "g2", {"functionCall": {"id": "g2"}})
    assert events == [
        ReasoningDelta(text="Hm"),
        ReasoningDelta(text=", so"),
        TextDelta(text="Che"),
        TextDelta(text="cking."),
        FunctionUseStart(index=0, name="get_weather", function_id="m0"),
        FunctionInputDelta(index=0, partial_json='{"city":"Oslo"}'),
        FunctionUseDone(index=0, function_use=oslo),
        FunctionUseStart(index=1, name="get_weather", function_id="g2"),
        FunctionInputDelta(index=1, partial_json='{"city":"Lima"}'),
        FunctionUseDone(index=1, function_use=lima),
    ]
    assert result.content == (
        OutputResultReasoning(text="Hm, so", provider_metadata={"google": {"thought": True}}),
        OutputResultText(text="Checking."),
        oslo,
        lima,
        OutputResultReasoning(provider_metadata={"google": {"thoughtSignature": "VA=="}}),
    )
    assert (result.id, result.stop_reason) == ("r", "function_use")
    assert result.usage == Usage(input_tokens=9, output_tokens=4)


@pytest.mark.usefixtures("counted_ids")
def test_minted_ids_are_the_same_in_events_and_result() -> None:
    """Calls without ids get one each, and the result keeps it."""
    events, result = streamed(PLAN, [chunk(call("a"), call("b")), chunk(call("c"), finish="STOP")])
    started = [event.function_id for event in events if isinstance(event, FunctionUseStart)]
    assert started == ["m0", "m1", "m2"]
    assert [item.function_id for item in result.function_calls] == started
    assert [event.function_use for event in events if isinstance(event, FunctionUseDone)] == list(
        result.function_calls
    )


def test_a_call_without_arguments_streams_an_empty_object() -> None:
    """The pieces of every call's input add up to JSON."""
    events, _ = streamed(PLAN, [chunk({"functionCall": {"name": "ping"}}, finish="STOP")])
    assert FunctionInputDelta(index=0, partial_json="{}") in events


def test_the_last_call_of_a_cut_stream_is_never_done() -> None:
    """Also not where text follows it: the result counts it as cut off."""
    chunks = [chunk(call("a"), call("b")), chunk({"text": "x"}), chunk(finish="MAX_TOKENS")]
    events, result = streamed(PLAN, chunks)
    done = [event.index for event in events if isinstance(event, FunctionUseDone)]
    assert done == [0]
    assert [item.input_error is None for item in result.function_calls] == [True, False]
    assert result.stop_reason == "length"


def test_a_disowned_call_is_never_done() -> None:
    """A malformed call is in the result as one that cannot run."""
    events, result = streamed(PLAN, [chunk(call("a"), finish="MALFORMED_FUNCTION_CALL")])
    assert not [event for event in events if isinstance(event, FunctionUseDone)]
    assert result.stop_reason == "error"
    assert result.function_calls[0].input_error is not None


def test_a_blocked_prompt_ends_the_stream() -> None:
    """No candidate ever comes, and that is the answer."""
    events, result = streamed(PLAN, [{"promptFeedback": {"blockReason": "SAFETY"}}])
    assert (events, result.content, result.stop_reason) == ([], (), "content_filter")


def test_other_candidates_are_options_without_events() -> None:
    """Only the first candidate's pieces are events."""
    chunks = [
        {
            "candidates": [
                *chunk({"text": "a"})["candidates"],
                *chunk({"text": "x"}, index=1)["candidates"],
            ]
        },
        chunk({"text": "y"}, index=1, finish="STOP"),
        chunk({"text": "b"}, finish="STOP"),
    ]
    events, result = streamed(PLAN, chunks)
    assert events == [TextDelta(text="a"), TextDelta(text="b")]
    assert (result.text, result.options) == ("ab", ((OutputResultText(text="xy"),),))


def test_usage_after_the_reason_still_counts() -> None:
    """A last chunk may hold nothing but counts."""
    chunks = [chunk({"text": "a"}, finish="STOP"), {"usageMetadata": {"candidatesTokenCount": 3}}]
    assert streamed(PLAN, chunks)[1].usage == Usage(output_tokens=3)


def test_frames_may_be_blank_an_array_or_a_done_mark() -> None:
    """What proxies and array streams put between chunks does no harm."""
    array = json.dumps([chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]).encode()
    events, result = streamed(PLAN, [b"", b" \r", array, b"[DONE]"])
    assert events == [TextDelta(text="a"), TextDelta(text="b")]
    assert result.text == "ab"


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [chunk({"text": "Che"})],
        [chunk({"text": "Checking"}, call("a"))],
        [{"promptFeedback": {}}],
    ],
)
def test_a_stream_without_its_end_mark_is_broken(chunks: Any) -> None:
    """The error holds what had come, and no call of it can run."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    for piece in chunks:
        decoder.feed(frame(piece))
    with pytest.raises(StreamError) as error:
        decoder.close()
    result = error.value.result
    assert isinstance(result, OutputResult)
    assert result.stop_reason == "error"
    assert all(item.input_error for item in result.function_calls)
    text = "".join(
        p.get("text", "")
        for c in chunks
        for x in c.get("candidates", [])
        for p in x["content"]["parts"]
    )
    assert result.text == text


def test_an_error_in_the_middle_is_raised() -> None:
    """Google's error object in a chunk is an error, also in its array."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    decoder.feed(frame(chunk({"text": "a"})))
    with pytest.raises(ProviderError):
        decoder.feed(
            frame({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}})
        )
    with pytest.raises(ProviderError):
        decoder.feed(frame([{"error": {"code": 500, "message": "oops"}}]))


@pytest.mark.parametrize("data", [b"nope", b"7", b'{"candidates": 1}'])
def test_a_frame_of_another_wire_is_a_stream_error(data: bytes) -> None:
    """It holds what had come before."""
    decoder = PLAN.target.dialect.open_stream(PLAN, {})
    decoder.feed(frame(chunk({"text": "a"})))
    with pytest.raises(StreamError) as error:
        decoder.feed(frame(data))
    assert isinstance(error.value.result, OutputResult)
    assert error.value.result.text == "a"


# ---------------------------------------------------------------- arguments in pieces


def piece(*pieces: Any, more: bool = True, name: str | None = None, **fields: Any) -> Any:
    """A part with pieces of a call's arguments, as Vertex streams them."""
    function: Any = {"willContinue": True} if more else {}
    if name is not None:
        function["name"] = name
    if pieces:
        function["partialArgs"] = list(pieces)
    return {"functionCall": function, **fields}


def text_at(path: str, text: str, *, more: bool = False) -> Any:
    """A `PartialArg` of text."""
    return {"jsonPath": path, "stringValue": text} | ({"willContinue": True} if more else {})


def test_arguments_in_pieces_make_one_whole_call() -> None:
    """Strings grow, numbers, booleans and nulls stand; the signature of any piece is kept."""
    chunks = [
        chunk(piece(name="get_weather", thoughtSignature="U0lH")),
        chunk(piece(text_at("$.city", "Os", more=True))),
        chunk(piece(text_at("$.city", "lo"))),
        chunk(
            piece(
                {"jsonPath": "$.days", "numberValue": 3},
                {"jsonPath": "$.exact", "boolValue": False},
                {"jsonPath": "$.note", "nullValue": "NULL_VALUE"},
                text_at("$.tags[0].name", "a"),
                text_at("$.tags[1]['odd key']", "b"),
                text_at('$.tags[1]["other"]', "c"),
            )
        ),
        chunk(piece(more=False)),
        chunk({"text": "Done."}, finish="STOP"),
    ]
    events, result = streamed(VERTEX, chunks)
    value = {
        "city": "Oslo",
        "days": 3,
        "exact": False,
        "note": None,
        "tags": [{"name": "a"}, {"odd key": "b", "other": "c"}],
    }
    [item] = result.function_calls
    assert (item.name, item.input) == ("get_weather", value)
    assert item.provider_metadata == {"vertex": {"thoughtSignature": "U0lH"}}
    assert [type(event) for event in events] == [
        FunctionUseStart,
        FunctionInputDelta,
        TextDelta,
        FunctionUseDone,
    ]
    assert json.loads(events[1].partial_json) == value  # type: ignore[union-attr]


def test_a_whole_call_after_one_in_pieces() -> None:
    """A new name ends the call before it, even where its end was not sent."""
    chunks = [
        chunk(piece(text_at("$.city", "Oslo"), name="get_weather")),
        chunk(call("Lima", id="g2")),
        chunk(piece(name="ping", more=False, text="ignored")),
        chunk(piece({"jsonPath": "$.a", "numberValue": 1}, name="ping", more=False), finish="STOP"),
    ]
    _, result = streamed(VERTEX, chunks)
    assert [(item.name, item.input) for item in result.function_calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Lima"}),
        ("ping", {}),
        ("ping", {"a": 1}),
    ]


def test_an_end_that_is_said_once_more() -> None:
    """An empty call after one in pieces is none; elsewhere it is what the provider said."""
    nothing: Any = {"functionCall": {}}
    for last in (nothing, {"functionCall": {"willContinue": False}}):
        chunks = [
            chunk(piece(name="get_weather")),
            chunk(piece(text_at("$.city", "Oslo"), more=False)),
            chunk(last, finish="STOP"),
        ]
        events, result = streamed(VERTEX, chunks)
        assert [item.input for item in result.function_calls] == [{"city": "Oslo"}]
        assert [event.index for event in events if isinstance(event, FunctionUseDone)] == [0]
    _, result = streamed(VERTEX, [chunk(nothing, finish="STOP")])
    assert [item.name for item in result.function_calls] == [""]


def test_arguments_given_whole_in_the_last_piece() -> None:
    """A piece may hold `args` itself."""
    last = {"functionCall": {"args": {"city": "Oslo"}, "partialArgs": None}}
    _, result = streamed(VERTEX, [chunk(piece(name="get_weather")), chunk(last, finish="STOP")])
    assert [item.input for item in result.function_calls] == [{"city": "Oslo"}]


def test_a_call_whose_end_never_came_cannot_run() -> None:
    """What there is of it is kept as text that breaks off."""
    chunks = [chunk(piece(text_at("$.city", "Os", more=True), name="get_weather"), finish="STOP")]
    events, result = streamed(VERTEX, chunks)
    [item] = result.function_calls
    assert events == []
    assert (item.input, item.raw_input) == ({}, '{"city":"Os"')
    assert item.input_error is not None


@pytest.mark.parametrize(
    "pieces",
    [
        [{"stringValue": "x"}],
        [{"jsonPath": 7, "stringValue": "x"}],
        [text_at("city", "x")],
        [text_at("$", "x")],
        [text_at("$.a b[", "x")],
        [text_at("$..a", "x")],
        [text_at("$[0]", "x")],
        [text_at("$.a[5]", "x")],
        [text_at("$.a", "x"), text_at("$.a.b", "y")],
        [text_at("$.a[0]", "x"), text_at("$.a.b", "y")],
        [text_at("$" + ".a" * 101, "x")],
        ["not an object"],
        [{"jsonPath": "$.a[99999999999999999999]", "numberValue": 1}],
    ],
)
def test_a_piece_that_fits_nowhere_is_a_stream_error(pieces: Any) -> None:
    """Arguments are never guessed."""
    with pytest.raises(StreamError):
        streamed(VERTEX, [chunk(piece(*pieces, name="get_weather"))])


# ---------------------------------------------------------------- in general

PARTS = st.one_of(
    st.text(max_size=4).map(lambda text: {"text": text}),
    st.text(max_size=4).map(lambda text: {"text": text, "thought": True}),
    st.text(max_size=4).map(lambda text: {"text": text, "thoughtSignature": "Yg=="}),
    st.integers(0, 99).map(lambda n: call(str(n))),
    st.integers(0, 99).map(lambda n: call(str(n)) | {"thoughtSignature": "Yg=="}),
    st.just({"executableCode": {"code": "1"}}),
    st.just({"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
)


@given(
    st.lists(st.lists(PARTS, max_size=3), max_size=5),
    st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "OTHER"]),
)
def test_any_cut_into_chunks_gives_the_whole_answers_result(groups: Any, finish: str) -> None:
    """The streamed result equals the one of all parts in one body, but for minted ids."""
    chunks = [*[chunk(*group) for group in groups], chunk(finish=finish)]
    parts = [part for group in groups for part in group]
    _, result = streamed(PLAN, chunks)
    assert _without_ids(result) == _without_ids(decoded(PLAN, chunk(*parts, finish=finish)))


def _without_ids(result: OutputResult) -> Any:
    content = [
        (item.name, item.input, item.raw_input, item.input_error, item.provider_metadata)
        if isinstance(item, OutputResultFunctionUse)
        else item
        for item in result.content
    ]
    return content, result.stop_reason, result.provider_stop_reason, result.warnings


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"{}", b"[]", b'{"candidates":[{}]}'])))
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
