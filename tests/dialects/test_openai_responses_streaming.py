"""Streams of the Responses wire: events, the same result, and no success without an end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.responses_cases import (
    DIALECT,
    FUNCTIONS,
    answer,
    decode,
    frames,
    function_call,
    message,
    plan_of,
    reasoning,
    run,
)
from hypothesis import given, strategies as st

from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultRefusal,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
)
from llm_tools.errors import ProviderError, RateLimitError, ServerError, StreamError
from llm_tools.spec import Frame

Event = dict[str, Any]


def added(index: int, item: Event) -> Event:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def ended(index: int, item: Event) -> Event:
    """An item has ended."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind: str, index: int, item_id: str, piece: str, **rest: Any) -> Event:
    """A piece of an item."""
    event = {"type": f"response.{kind}.delta", "output_index": index, "item_id": item_id}
    return event | {"delta": piece} | rest


def begun(item: Event) -> Event:
    """An item as it is when it is added."""
    empty: Event = {"arguments": ""} if item["type"] == "function_call" else {}
    if item["type"] == "message":
        empty = {"content": []}
    return item | {"status": "in_progress"} | empty


def completed(*items: Event, **rest: Any) -> Event:
    """The end of an answer."""
    status = rest.get("status", "completed")
    return {"type": f"response.{status}", "response": answer(*items, **rest)}


CREATED: Event = {"type": "response.created", "response": answer(status="in_progress", usage=None)}
OSLO = function_call()
LIMA = function_call('{"city":"Lima"}', id="fc_2", call_id="call_2")
THOUGHT = reasoning("One.")
SAID = message("Let me see.", phase="commentary")
CITY = '{"city":"Oslo"}'

STREAM: list[Event] = [
    CREATED,
    {"type": "response.in_progress", "response": answer(status="in_progress", usage=None)},
    added(0, begun(THOUGHT)),
    delta("reasoning_summary_text", 0, "rs_1", "On", summary_index=0),
    delta("reasoning_summary_text", 0, "rs_1", "e.", summary_index=0),
    ended(0, THOUGHT),
    added(1, begun(SAID)),
    {"type": "response.content_part.added", "item_id": "msg_1", "part": {"type": "output_text"}},
    delta("output_text", 1, "msg_1", "Let me", obfuscation="xxxx"),
    delta("output_text", 1, "msg_1", " see."),
    {"type": "response.output_text.done", "item_id": "msg_1", "text": "Let me see."},
    ended(1, SAID),
    added(2, begun(OSLO)),
    delta("function_call_arguments", 2, "fc_1", '{"city":'),
    delta("function_call_arguments", 2, "fc_1", '"Oslo"}'),
    {"type": "response.function_call_arguments.done", "item_id": "fc_1", "arguments": "…"},
    ended(2, OSLO),
    completed(THOUGHT, SAID, OSLO),
]


def test_events_of_a_stream() -> None:
    """Every piece becomes its event; a call is done when the answer is."""
    events, result = run(*STREAM)
    assert events == [
        ReasoningDelta(text="On"),
        ReasoningDelta(text="e."),
        TextDelta(text="Let me"),
        TextDelta(text=" see."),
        FunctionUseStart(index=0, name="get_weather", function_id="call_1"),
        FunctionInputDelta(index=0, partial_json='{"city":'),
        FunctionInputDelta(index=0, partial_json='"Oslo"}'),
        FunctionUseDone(index=0, function_use=result.function_calls[0]),
    ]


def test_streamed_equals_whole() -> None:
    """The result is the very one the same answer gives when it is not streamed."""
    _, result = run(*STREAM)
    whole = answer(THOUGHT, SAID, OSLO)
    assert result == decode(whole, headers={"x-request-id": "req_1"})


def test_interleaved_calls() -> None:
    """Pieces go to the item they name; a call may run once it ended and another began."""
    events, result = run(
        CREATED,
        added(0, begun(OSLO)),
        added(1, begun(LIMA)),
        delta("function_call_arguments", 1, "fc_2", '{"city":'),
        delta("function_call_arguments", 0, "fc_1", '{"city":"Oslo"}'),
        delta("function_call_arguments", 1, "fc_2", '"Lima"}'),
        ended(1, LIMA),
        ended(0, OSLO),
        completed(OSLO, LIMA),
    )
    oslo, lima = result.function_calls
    assert (oslo.input, lima.input) == ({"city": "Oslo"}, {"city": "Lima"})
    assert [event for event in events if isinstance(event, FunctionUseDone)] == [
        FunctionUseDone(index=0, function_use=oslo),
        FunctionUseDone(index=1, function_use=lima),
    ]
    before_the_end, _ = _feed(
        CREATED, added(0, begun(OSLO)), ended(0, OSLO), added(1, begun(LIMA)), ended(1, LIMA)
    )
    done = [event for event in before_the_end if isinstance(event, FunctionUseDone)]
    assert done == [FunctionUseDone(index=0, function_use=oslo)]


def test_fields_that_are_told_whole() -> None:
    """A field that is done counts where neither pieces nor the item that ended told it."""
    bare = (
        reasoning(),
        {**SAID, "content": []},
        {**OSLO, "arguments": "{}"},
        {**SAID, "id": "msg_2", "content": []},
    )
    fields: list[Event] = [
        {"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "text": "One."},
        {"type": "response.output_text.done", "item_id": "msg_1", "text": "Let me see."},
        {"type": "response.function_call_arguments.done", "item_id": "fc_1", "arguments": CITY},
        {"type": "response.refusal.done", "item_id": "msg_2", "refusal": "No."},
    ]
    events, result = run(
        CREATED,
        *[
            event
            for place, (item, field) in enumerate(zip(bare, fields, strict=True))
            for event in (added(place, begun(item)), field, ended(place, item))
        ],
        completed(*bare),
    )
    call = result.function_calls[0]
    assert events == [
        ReasoningDelta(text="One."),
        TextDelta(text="Let me see."),
        FunctionUseStart(index=0, name="get_weather", function_id="call_1"),
        FunctionInputDelta(index=0, partial_json=CITY),
        RefusalDelta(text="No."),
        FunctionUseDone(index=0, function_use=call),
    ]
    assert call.input == {"city": "Oslo"}
    assert result.text == "Let me see."
    assert result.content[-1] == OutputResultRefusal(text="No.")


@pytest.mark.parametrize("nothing", ["", "null", "{}", " {} ", None])
def test_pieces_stand_where_the_item_says_nothing(nothing: str | None) -> None:
    """What was told in pieces is in the result though the item that ended lacks it."""
    bare = ({**SAID, "content": []}, {**OSLO, "arguments": nothing})
    _, result = run(
        CREATED,
        added(0, begun(SAID)),
        delta("output_text", 0, "msg_1", "Let me see."),
        ended(0, bare[0]),
        added(1, begun(OSLO)),
        delta("function_call_arguments", 1, "fc_1", CITY),
        ended(1, bare[1]),
        completed(*bare),
    )
    assert (result.text, result.function_calls[0].input) == ("Let me see.", {"city": "Oslo"})


def test_renamed_and_strict_calls() -> None:
    """Names, and nulls the schema forced, are the caller's again in every event."""
    functions = [{**FUNCTIONS[0], "name": "weather now"}]
    options: dict[str, Any] = {"functions": functions, "strict": True}
    prepared = plan_of(**options).functions
    assert prepared is not None
    call = function_call('{"city":"Oslo","days":null}', name=prepared.items[0].wire_name)
    events, result = run(CREATED, added(0, begun(call)), ended(0, call), completed(call), **options)
    assert events[0] == FunctionUseStart(index=0, name="weather now", function_id="call_1")
    assert events[-1] == FunctionUseDone(index=0, function_use=result.function_calls[0])
    assert result.function_calls[0].input == {"city": "Oslo"}


def test_ids_are_minted_once() -> None:
    """A call without a usable id has one and the same in all events and in the result."""
    calls = [function_call(id=f"fc_{n}", call_id=given) for n, given in enumerate(("", "a", "a"))]
    events, result = run(
        CREATED,
        *[
            event
            for n, call in enumerate(calls)
            for event in (added(n, begun(call)), ended(n, call))
        ],
        completed(*calls),
    )
    ids = [call.function_id for call in result.function_calls]
    starts = [event.function_id for event in events if isinstance(event, FunctionUseStart)]
    done = [e.function_use.function_id for e in events if isinstance(e, FunctionUseDone)]
    assert starts == done == ids
    assert ids[1] == "a"
    assert len(set(ids)) == 3


def test_host_that_changes_ids() -> None:
    """Where ids differ from event to event the place in the output tells items apart."""
    events, result = run(
        CREATED,
        added(0, begun(function_call(id="a1"))),
        added(1, begun(function_call(id="b1", call_id="call_2"))),
        delta("function_call_arguments", 1, "b2", '{"city":"Lima"}'),
        delta("function_call_arguments", 0, "a2", '{"city":"Oslo"}'),
        ended(0, function_call(id="a3")),
        ended(1, function_call('{"city":"Lima"}', id="b3", call_id="call_2")),
        completed(
            function_call(id="a4"), function_call('{"city":"Lima"}', id="b4", call_id="call_2")
        ),
    )
    assert [call.input["city"] for call in result.function_calls] == ["Oslo", "Lima"]
    pieces = [event for event in events if isinstance(event, FunctionInputDelta)]
    assert [piece.index for piece in pieces] == [1, 0]


def test_host_that_gives_every_item_the_same_place() -> None:
    """Where places collide the ids tell items apart."""
    _, result = run(
        CREATED,
        added(0, begun(OSLO)),
        added(0, begun(LIMA)),
        delta("function_call_arguments", 0, "fc_1", '{"city":"Oslo"}'),
        delta("function_call_arguments", 0, "fc_2", '{"city":"Lima"}'),
        ended(0, OSLO),
        ended(0, LIMA),
        completed(OSLO, LIMA),
    )
    assert [call.input["city"] for call in result.function_calls] == ["Oslo", "Lima"]


@pytest.mark.parametrize("kept", ["items", "end", "all"])
def test_terse_hosts(kept: str) -> None:
    """What did not come in pieces is told when its item ends, or when the answer does."""
    refused = message("", id="msg_2", content=[{"type": "refusal", "refusal": "No."}])
    search: Event = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    items = [THOUGHT, search, SAID, refused, OSLO, LIMA]
    ends = [ended(place, item) for place, item in enumerate(items)]
    stream = {
        "items": [CREATED, *ends, completed(output=[])],
        "end": [completed(*items)],
        "all": [CREATED, *ends, completed(*items)],
    }[kept]
    events, result = run(*stream)
    assert events == [
        ReasoningDelta(text="One."),
        TextDelta(text="Let me see."),
        RefusalDelta(text="No."),
        FunctionUseStart(index=0, name="get_weather", function_id="call_1"),
        FunctionInputDelta(index=0, partial_json='{"city":"Oslo"}'),
        FunctionUseDone(index=0, function_use=result.function_calls[0]),
        FunctionUseStart(index=1, name="get_weather", function_id="call_2"),
        FunctionInputDelta(index=1, partial_json='{"city":"Lima"}'),
        FunctionUseDone(index=1, function_use=result.function_calls[1]),
    ]
    assert result == decode(answer(*items), headers={"x-request-id": "req_1"})


def test_pieces_alone() -> None:
    """A host that ends no item and leaves its end empty is read by the pieces."""
    events, result = run(
        delta("reasoning_text", 0, "rs_1", "Hm.", content_index=0),
        delta("output_text", 1, "msg_1", "Yes."),
        delta("function_call_arguments", 2, "fc_1", '{"city":'),
        added(2, begun(OSLO)),
        delta("function_call_arguments", 2, "fc_1", '"Oslo"}'),
        completed(output=[]),
    )
    assert result.text == "Yes."
    assert result.function_calls[0].input == {"city": "Oslo"}
    assert [type(part).__name__ for part in result.content] == [
        "OutputResultReasoning",
        "OutputResultText",
        "OutputResultFunctionUse",
    ]
    assert events == [
        ReasoningDelta(text="Hm."),
        TextDelta(text="Yes."),
        FunctionUseStart(index=0, name="get_weather", function_id="call_1"),
        FunctionInputDelta(index=0, partial_json='{"city":'),
        FunctionInputDelta(index=0, partial_json='"Oslo"}'),
        FunctionUseDone(index=0, function_use=result.function_calls[0]),
    ]
    _, refused = run(delta("refusal", 0, "msg_2", "No."), completed(output=[]))
    assert refused.stop_reason == "refusal"
    assert refused.content == (OutputResultRefusal(text="No."),)


def test_name_that_comes_late() -> None:
    """A call is announced when its name is known, with the pieces that came before."""
    nameless = begun(function_call(name="", call_id=None))
    events, result = run(
        CREATED,
        added(0, nameless),
        delta("function_call_arguments", 0, "fc_1", '{"city":'),
        delta("function_call_arguments", 0, "fc_1", '"Oslo"}'),
        ended(0, OSLO),
        completed(OSLO),
    )
    assert events == [
        FunctionUseStart(index=0, name="get_weather", function_id="call_1"),
        FunctionInputDelta(index=0, partial_json='{"city":"Oslo"}'),
        FunctionUseDone(index=0, function_use=result.function_calls[0]),
    ]


def test_reasoning_in_sections() -> None:
    """Sections are set off alike in the events and in the result."""
    whole = reasoning(summary=[{"text": "One."}, {"text": "Two."}])
    events, result = run(
        CREATED,
        added(0, begun(reasoning(summary=[]))),
        delta("reasoning_summary_text", 0, "rs_1", "One.", summary_index=0),
        delta("reasoning_summary_text", 0, "rs_1", "Two.", summary_index=1),
        ended(0, whole),
        completed(whole),
    )
    text = "".join([event.text for event in events if isinstance(event, ReasoningDelta)])
    assert text == "One.\n\nTwo."
    assert result == decode(answer(whole), headers={"x-request-id": "req_1"})


def test_reasoning_is_sealed_by_its_end() -> None:
    """Of reasoning the form at its end in the stream is kept, as the vendor advises."""
    early, late = reasoning(encrypted_content="half"), reasoning(encrypted_content="whole")
    _, result = run(CREATED, added(0, early), ended(0, late), completed(early, status="completed"))
    metadata = result.content[0].provider_metadata  # type: ignore[union-attr]
    assert metadata is not None
    assert metadata["openai"]["item"]["encrypted_content"] == "whole"


def test_cut_off_stream() -> None:
    """The last call of a cut stream is told but never done; the ones before it are."""
    cut = function_call('{"city":"Li', id="fc_2", call_id="call_2", status="incomplete")
    details = {"reason": "max_output_tokens"}
    events, result = run(
        CREATED,
        added(0, begun(OSLO)),
        ended(0, OSLO),
        added(1, begun(cut)),
        delta("function_call_arguments", 1, "fc_2", '{"city":"Li'),
        ended(1, cut),
        completed(OSLO, cut, status="incomplete", incomplete_details=details),
    )
    assert result.stop_reason == "length"
    done = [event for event in events if isinstance(event, FunctionUseDone)]
    assert done == [FunctionUseDone(index=0, function_use=result.function_calls[0])]
    assert result.function_calls[1].input_error is not None


@pytest.mark.parametrize("cut", range(len(STREAM)))
def test_end_without_an_end_mark(cut: int) -> None:
    """A stream that ends anywhere before its end mark is an error with what had come."""
    events, decoder = _feed(*STREAM[:cut])
    with pytest.raises(StreamError) as caught:
        decoder.close()
    assert caught.value.retryable
    partial = caught.value.result
    assert isinstance(partial, OutputResult)
    assert partial.stop_reason == "error"
    text = "".join([event.text for event in events if isinstance(event, TextDelta)])
    assert partial.text == text
    assert not [event for event in events if isinstance(event, FunctionUseDone)]
    assert all(call.input_error for call in partial.function_calls)


def test_unfinished_items_in_a_partial_result() -> None:
    """Refusals, thoughts and calls that had begun are told; no seal of theirs is kept."""
    _, decoder = _feed(
        CREATED,
        added(0, begun(THOUGHT)),
        delta("reasoning_summary_text", 0, "rs_1", "On"),
        delta("refusal", 1, "msg_1", "No"),
        added(2, {"type": "web_search_call", "id": "ws_1"}),
        added(3, begun(OSLO)),
    )
    with pytest.raises(StreamError) as caught:
        decoder.close()
    partial = caught.value.result
    assert isinstance(partial, OutputResult)
    assert [getattr(part, "text", None) for part in partial.content] == ["On", "No", None]
    assert all(getattr(part, "provider_metadata", None) is None for part in partial.content)
    assert (partial.id, partial.name) == ("resp_1", "gpt-5.6-2026")


@pytest.mark.parametrize(
    ("event", "error", "code"),
    [
        ({"type": "error", "code": "server_error", "message": "boom"}, ServerError, "server_error"),
        (
            {"type": "error", "error": {"code": "rate_limit_exceeded", "message": "boom"}},
            RateLimitError,
            "rate_limit_exceeded",
        ),
        ({"error": {"code": "server_error", "message": "boom"}}, ServerError, "server_error"),
        (
            completed(status="failed", error={"code": "server_error", "message": "boom"}),
            ServerError,
            "server_error",
        ),
    ],
)
def test_errors_in_a_stream(event: Event, error: type[ProviderError], code: str) -> None:
    """An error in any spelling is the class it names, with what had come, and no call is done."""
    decoder = DIALECT.open_stream(plan_of(), {})
    events: list[StreamEvent] = []
    for frame in frames(*STREAM[:13]):
        events += decoder.feed(frame)
    with pytest.raises(error, match="boom") as caught:
        decoder.feed(*frames(event))
    assert caught.value.code == code
    assert isinstance(caught.value.result, OutputResult)
    assert caught.value.result.text == "Let me see."
    assert not [one for one in events if isinstance(one, FunctionUseDone)]
    with pytest.raises(StreamError):
        decoder.close()


@pytest.mark.parametrize(
    "data", [b"<html>", b'{"type": 5}', b"[]", b'{"type": "response.completed", "response": 5}']
)
def test_frames_of_another_wire(data: bytes) -> None:
    """A frame that is none of this wire breaks the stream with a typed error."""
    decoder = DIALECT.open_stream(plan_of(), {})
    with pytest.raises(StreamError) as caught:
        decoder.feed(Frame(None, data))
    assert isinstance(caught.value.result, OutputResult)


def test_what_is_skipped() -> None:
    """Unknown events, empty frames, items that are none, and all after the end mean nothing."""
    decoder = DIALECT.open_stream(plan_of(), {})
    odd: list[Event] = [
        {"type": "response.audio.delta", "delta": {"a": 1}},
        added(0, 5),  # type: ignore[arg-type]
        ended(0, None),  # type: ignore[arg-type]
        delta("output_text", 0, "msg_1", ""),
        delta("refusal", 0, "msg_1", ""),
        delta("reasoning_text", 0, "rs_1", ""),
        delta("function_call_arguments", 0, "fc_1", 5),  # type: ignore[arg-type]
    ]
    for frame in [*frames(*odd), Frame(None, b""), Frame("ping", b"{}")]:
        assert decoder.feed(frame) == []
    named = Frame("response.completed", json.dumps({"response": answer(message("Hi."))}).encode())
    assert decoder.feed(named) == [TextDelta(text="Hi.")]
    for late in (Frame(None, b"[DONE]"), *frames({"type": "error", "message": "late"})):
        assert decoder.feed(late) == []
    assert decoder.close().text == "Hi."


ODD = st.none() | st.integers(-1, 3) | st.text(max_size=3) | st.just({"type": "message"})
EVENTS = st.sampled_from(STREAM).flatmap(
    lambda event: st.dictionaries(
        st.sampled_from(["item_id", "output_index", "delta", "item", "error"]), ODD, max_size=2
    ).map(lambda odd: event | odd)
)


@given(st.lists(EVENTS, max_size=12))
def test_any_order_of_events(events: list[Event]) -> None:
    """Events in any order and with odd fields give a result or a typed error."""
    decoder = DIALECT.open_stream(plan_of(), {})
    result: Any
    try:
        for frame in frames(*events):
            decoder.feed(frame)
        result = decoder.close()
    except (StreamError, ProviderError) as error:
        result = error.result
    assert isinstance(result, OutputResult)


def _feed(*events: Event) -> tuple[list[StreamEvent], Any]:
    decoder = DIALECT.open_stream(plan_of(), {})
    out: list[StreamEvent] = []
    for frame in frames(*events):
        out += decoder.feed(frame)
    return out, decoder
