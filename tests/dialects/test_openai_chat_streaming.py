"""Streams: assembly of calls, events, ends, errors; equal to the whole answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.openai_chat_cases import (
    CITY,
    FUNCTIONS,
    answer,
    calling,
    chunk,
    decode,
    frame,
    piece,
    pieces,
    plan_of,
    stream,
    target_of,
)
from hypothesis import given, settings, strategies as st

from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultText,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from llm_tools.dialects.openai_chat import DIALECT
from llm_tools.errors import (
    BadRequestError,
    ProviderError,
    ResponseDecodeError,
    ServerError,
    StreamError,
)
from llm_tools.spec import Plan

READ = plan_of(
    target_of("openai"), functions=[{"name": "read_file"}, {"name": "read"}, {"name": "write_file"}]
)
ENDED = chunk({}, "tool_calls")


def told(events: list[StreamEvent]) -> list[tuple[Any, ...]]:
    """Events of calls in short."""
    out: list[tuple[Any, ...]] = []
    for event in events:
        match event:
            case FunctionUseStart(index=index, name=name, function_id=function_id):
                out.append(("start", index, name, function_id))
            case FunctionInputDelta(index=index, partial_json=fragment):
                out.append(("input", index, fragment))
            case FunctionUseDone(index=index, function_use=use):
                out.append(("done", index, use.input))
            case TextDelta(text=text):
                out.append(("text", text))
    return out


def made(result: OutputResult) -> list[tuple[str, Any, str]]:
    """Calls of a result in short."""
    return [(call.name, call.input, call.function_id) for call in result.function_calls]


# ---------------------------------------------------------------- one call


def test_a_text() -> None:
    """Deltas as they come, and the fields of the answer."""
    events, result = stream(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "He"}),
        chunk({"content": "y"}),
        chunk({}, "stop"),
    )
    assert events == [TextDelta(text="He"), TextDelta(text="y")]
    assert result == decode(answer({"content": "Hey"}))


def test_a_call() -> None:
    """It starts with its name and id, and is done when the answer ends."""
    decoder = DIALECT.open_stream(READ, {})
    opened = decoder.feed(frame(pieces(piece(0, "c1", "read_file", "", type="function"))))
    assert told(opened) == [("start", 0, "read_file", "c1")]
    assert told(decoder.feed(frame(pieces(piece(0, arguments='{"path":'))))) == [
        ("input", 0, '{"path":')
    ]
    assert told(decoder.feed(frame(pieces(piece(0, arguments='"a"}'))))) == [("input", 0, '"a"}')]
    assert told(decoder.feed(frame(ENDED))) == [("done", 0, {"path": "a"})]
    assert decoder.feed(frame(b"[DONE]")) == []
    result = decoder.close()
    whole = answer(calling(("c1", "read_file", '{"path":"a"}')), "tool_calls")
    assert result == decode(whole, READ)


ONE_CALL = ("read_file", {"path": "a.txt"}, "c_1")


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_file", '{"path":', type="function")),
                pieces(piece(0, "c_1", "read_file", '"a.txt"', type="function")),
                pieces(piece(0, "c_1", "read_file", "}", type="function")),
            ],
            id="all said again",
        ),
        pytest.param(
            [pieces({"id": "c_1", "name": "read_file", "arguments": {"path": "a.txt"}})],
            id="nothing under function",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "", "")),
                pieces(piece(0, "c_1", "read_file", '{"path":"a.txt"}')),
            ],
            id="empty name first",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_file", '{"path":')),
                pieces(
                    {"index": 0, "id": None, "function": {"name": None, "arguments": '"a.txt"}'}}
                ),
            ],
            id="null name and id later",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", arguments='{"path":')),
                pieces(piece(0, name="read_file", arguments='"a.txt"}')),
            ],
            id="arguments before the name",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_")),
                pieces(piece(0, name="file", arguments='{"path":"a.txt"}')),
            ],
            id="name in two pieces",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read")),
                pieces(piece(0, name="read_file", arguments='{"path":"a.txt"}')),
            ],
            id="name that grows past another function's",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_file", '{"path":')),
                pieces({"index": 0, "id": "", "function": {"arguments": '"a.txt"}'}}),
            ],
            id="empty id later",
        ),
        pytest.param(
            [
                pieces(piece(0, None, "read_file", '{"path":')),
                pieces(piece(0, "c_1", arguments='"a.txt"}', type="function")),
            ],
            id="late id",
        ),
        pytest.param(
            [
                pieces(piece(None, None, "read_file", '{"path":')),
                pieces(piece(None, "c_1", None, '"a.txt"}')),
            ],
            id="late id without an index",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_file", '{"path":')),
                pieces(piece(0, "c_9", None, '"a.txt"}')),
            ],
            id="an id per piece",
        ),
        pytest.param(
            [pieces(piece(-1, "c_1", "read_file", '{"path":"a.txt"}'))],
            id="index -1",
        ),
        pytest.param(
            [
                pieces(
                    {
                        "index": 0,
                        "id": "c_1",
                        "function": {"name": "read_file", "arguments": {"path": "a.txt"}},
                    }
                )
            ],
            id="arguments as an object",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_file", "{}")),
                pieces(piece(0, arguments='{"path":"a.txt"}')),
            ],
            id="empty object first",
        ),
        pytest.param(
            [
                pieces({"index": 0, "id": "c_1", "type": "function"}),
                pieces(piece(0, name="read_file", arguments='{"path":"a.txt"}')),
            ],
            id="id alone first",
        ),
        pytest.param(
            [pieces(piece(0, "c_1", "read_file", '{"path":"a.txt"}'), finish_reason="tool_calls")],
            id="whole, with the reason",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "read_file", '{"path":"a.txt"}')),
                pieces(piece(0, "", None, None)),
            ],
            id="an empty piece at the end",
        ),
    ],
)
def test_one_call_however_it_comes(chunks: list[Any]) -> None:
    """Only arguments accumulate; name and id are said once, again, late or in pieces."""
    events, result = stream(*chunks, ENDED, plan=READ)
    assert made(result) == [ONE_CALL]
    assert [event for event in told(events) if event[0] != "input"] == [
        ("start", 0, "read_file", "c_1"),
        ("done", 0, {"path": "a.txt"}),
    ]
    fragments = [event[2] for event in told(events) if event[0] == "input"]
    assert "".join(fragments).endswith('{"path":"a.txt"}')


def test_a_name_nobody_offered() -> None:
    """It is told as it came, once its arguments begin or the answer ends."""
    events, result = stream(
        pieces(piece(0, "c1", "functions.")),
        pieces(piece(0, None, "read_file")),
        pieces(piece(0, arguments="{}")),
        ENDED,
        plan=READ,
    )
    assert told(events)[0] == ("start", 0, "read_file", "c1")
    assert made(result) == [("read_file", {}, "c1")]
    events, result = stream(pieces(piece(0, "c1", "nobody")), ENDED, plan=READ)
    assert told(events) == [("start", 0, "nobody", "c1"), ("done", 0, {})]
    assert made(result) == [("nobody", {}, "c1")]


def test_a_name_that_changes_after_the_arguments_began() -> None:
    """The first stays where neither it nor the two together are known."""
    _, result = stream(
        pieces(piece(0, "c1", "foo", '{"a":')),
        pieces(piece(0, "c1", "bar", "1}")),
        ENDED,
        plan=READ,
    )
    assert made(result) == [("foo", {"a": 1}, "c1")]
    _, result = stream(
        pieces(piece(0, "c1", "read_file", '{"a":')),
        pieces(piece(0, "c1", "read_file", "1}")),
        ENDED,
    )
    assert [call.name for call in result.function_calls] == ["read_file"]


def test_text_beside_arguments() -> None:
    """A chunk with both tells both."""
    events, result = stream(
        pieces(piece(0, "c1", "ping", '{"a":')),
        chunk({"tool_calls": [piece(0, arguments="1}")], "content": "A"}),
        ENDED,
    )
    assert [event[0] for event in told(events)] == ["start", "input", "text", "input", "done"]
    assert (made(result), result.text) == ([("ping", {"a": 1}, "c1")], "A")


def test_an_empty_entry_before_a_custom_call() -> None:
    """What an empty entry turns out to be is settled by its first words."""
    custom = {"custom": {"name": "sh", "input": '{"a":1}'}}
    events, result = stream(pieces({}), pieces(custom), chunk({"content": "A"}), ENDED)
    assert events == [TextDelta(text="A")]
    assert result.function_calls == []


def test_signatures_and_details_beside_arguments() -> None:
    """A chunk that is more than arguments loses nothing."""
    details = [{"type": "reasoning.text", "text": "T", "index": 0}]
    opening = pieces(piece(0, "c1", "ping", '{"a":'))
    closing = chunk({"tool_calls": [piece(0, arguments="1}")], "reasoning_details": details})
    _, result = stream(opening, closing, ENDED, plan=plan_of(target_of("openrouter")))
    assert result.function_calls[0].input == {"a": 1}
    assert isinstance(result.content[0], OutputResultReasoning)
    assert result.content[0].text == "T"


# ---------------------------------------------------------------- several calls


FLIGHT = ("book_flight", {"from": "OSL", "to": "LIM"}, "c_1")
HOTEL = ("book_hotel", {"city": "Lima"}, "c_2")


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(
            [
                pieces(piece(0, "c_1", "book_flight", "")),
                pieces(piece(1, "c_2", "book_hotel", "")),
                pieces(piece(1, arguments='{"city":')),
                pieces(piece(0, arguments='{"from":"OSL",')),
                pieces(piece(1, arguments='"Lima"}')),
                pieces(piece(0, arguments='"to":"LIM"}')),
            ],
            id="interleaved",
        ),
        pytest.param(
            [
                pieces(piece(1, "c_2", "book_hotel", "")),
                pieces(piece(0, "c_1", "book_flight", '{"from":"OSL","to":"LIM"}')),
                pieces(piece(1, arguments='{"city":"Lima"}')),
            ],
            id="second first",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "book_flight", ""), piece(1, "c_2", "book_hotel", "")),
                pieces(
                    piece(1, arguments='{"city":"Lima"}'),
                    piece(0, arguments='{"from":"OSL","to":"LIM"}'),
                ),
            ],
            id="both in each chunk",
        ),
        pytest.param(
            [
                pieces(piece(None, "c_1", "book_flight", "")),
                pieces(piece(arguments='{"from":"OSL",')),
                pieces(piece(arguments='"to":"LIM"}')),
                pieces(piece(None, "c_2", "book_hotel", "")),
                pieces(piece(arguments='{"city":"Lima"}')),
            ],
            id="no index",
        ),
        pytest.param(
            [
                pieces(piece(None, "c_1", "book_flight", "")),
                pieces(piece(None, "c_2", "book_hotel", "")),
                pieces(piece(None, "c_1", None, '{"from":"OSL","to":"LIM"}')),
                pieces(piece(None, "c_2", None, '{"city":"Lima"}')),
            ],
            id="by id alone",
        ),
        pytest.param(
            [
                pieces(
                    piece(None, "c_1", "book_flight", '{"from":"OSL","to":"LIM"}'),
                    piece(None, "c_2", "book_hotel", '{"city":"Lima"}'),
                )
            ],
            id="whole, no index",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "book_flight", "")),
                pieces(piece(0, arguments='{"from":"OSL","to":"LIM"}')),
                pieces(piece(None, "c_2", "book_hotel", '{"city":"Lima"}')),
            ],
            id="index, then none",
        ),
        pytest.param(
            [
                pieces(piece(0, "c_1", "book_flight", '{"from":"OSL","to":"LIM"}')),
                pieces(piece(0, "c_2", "book_hotel", '{"city":"Lima"}')),
            ],
            id="same index, new id",
        ),
        pytest.param(
            [
                pieces(piece(-1, "c_1", "book_flight", '{"from":"OSL","to":"LIM"}')),
                pieces(piece(-1, "c_2", "book_hotel", '{"city":"Lima"}')),
            ],
            id="index -1 twice",
        ),
        pytest.param(
            [
                pieces(
                    piece(0, "c_1", "book_flight", '{"from":"OSL"'),
                    piece(0, "c_2", "book_hotel", ""),
                ),
                pieces(
                    piece(0, "c_1", None, ',"to":"LIM"}'), piece(0, "c_2", None, '{"city":"Lima"}')
                ),
            ],
            id="same index, by id",
        ),
    ],
)
def test_several_calls_however_they_come(chunks: list[Any]) -> None:
    """Each call gets its own arguments, in the order of the index."""
    events, result = stream(*chunks, ENDED)
    assert made(result) == [FLIGHT, HOTEL]
    starts = {event[1]: event[2:] for event in told(events) if event[0] == "start"}
    assert starts == {0: ("book_flight", "c_1"), 1: ("book_hotel", "c_2")}
    done = {event[1]: event[2] for event in told(events) if event[0] == "done"}
    assert done == {0: FLIGHT[1], 1: HOTEL[1]}
    assert [event[0] for event in told(events)].count("done") == 2


@pytest.mark.parametrize(
    "chunks",
    [
        [pieces(piece(None, None, "a", '{"x":1}'), piece(None, None, "b", '{"x":2}'))],
        [pieces(piece(None, None, "a", '{"x":1}')), pieces(piece(None, None, "b", '{"x":2}'))],
        [pieces(piece(0, None, "a", '{"x":1}')), pieces(piece(0, None, "b", '{"x":2}'))],
        [pieces(piece(0, "", "a", '{"x":1}')), pieces(piece(0, "", "a", '{"x":2}'))],
        [pieces(piece(0, "null", "a", '{"x":1}'), piece(0, "null", "a", '{"x":2}'))],
        [pieces(piece(0, "same", "a", '{"x":1}')), pieces(piece(1, "other", "b", '{"x":2}'))],
    ],
)
def test_calls_without_ids_are_kept_apart(chunks: list[Any]) -> None:
    """Two calls stay two, and each gets an id that no other has."""
    events, result = stream(*chunks, ENDED)
    assert [call.input for call in result.function_calls] == [{"x": 1}, {"x": 2}]
    ids = [call.function_id for call in result.function_calls]
    assert all(ids)
    assert len(set(ids)) == 2
    assert [event[3] for event in told(events) if event[0] == "start"] == ids
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert done == result.function_calls


def test_repeated_ids() -> None:
    """The second call of the same id, at another index, is another call."""
    events, result = stream(
        pieces(piece(0, "c", "a", '{"x":1}')), pieces(piece(1, "d", "a", '{"x":2}')), ENDED
    )
    assert made(result) == [("a", {"x": 1}, "c"), ("a", {"x": 2}, "d")]
    assert [event[0] for event in told(events)] == [
        "start",
        "input",
        "done",
        "start",
        "input",
        "done",
    ]


# ---------------------------------------------------------------- when a call is done


def test_a_call_is_done_when_the_next_begins() -> None:
    """The first is told at the second's start, not before, and the second at the end."""
    decoder = DIALECT.open_stream(READ, {})
    first = decoder.feed(frame(pieces(piece(0, "c1", "read_file", '{"a":1}'))))
    assert [event[0] for event in told(first)] == ["start", "input"]
    second = decoder.feed(frame(pieces(piece(1, "c2", "write_file", '{"b":2}'))))
    assert [event[:2] for event in told(second)] == [("done", 0), ("start", 1), ("input", 1)]
    assert told(decoder.feed(frame(ENDED))) == [("done", 1, {"b": 2})]


def test_text_after_a_call_does_not_end_it() -> None:
    """The answer may still be cut off; in the result the text stands first, as on the wire."""
    events, result = stream(
        pieces(piece(0, "c1", "read_file", '{"a":1}')),
        chunk({"content": "Wait."}),
        ENDED,
        plan=READ,
    )
    assert [event[0] for event in told(events)] == ["start", "input", "text", "done"]
    whole = answer(calling(("c1", "read_file", '{"a":1}'), content="Wait."), "tool_calls")
    assert result == decode(whole, READ)


@pytest.mark.parametrize("arguments", ["", "{}", '{"a":', '{"a":1', '{"a":{}', '[{"a":1}'])
def test_a_call_that_is_not_whole_waits(arguments: str) -> None:
    """What follows does not end a call whose pieces may still come."""
    decoder = DIALECT.open_stream(READ, {})
    decoder.feed(frame(pieces(piece(0, "c1", "read_file", arguments))))
    second = decoder.feed(frame(pieces(piece(1, "c2", "write_file", ""))))
    assert [event[:2] for event in told(second)] == [("start", 1)]
    ended = decoder.feed(frame(ENDED))
    assert [event[:2] for event in told(ended)] == [("done", 0), ("done", 1)]


@pytest.mark.parametrize("after", [[], [chunk({"content": "So"})], [pieces(piece(2))]])
def test_the_last_call_of_a_cut_answer_is_never_done(after: list[Any]) -> None:
    """`length`: those before it are done, it is not, and the result marks it."""
    events, result = stream(
        pieces(piece(0, "c1", "read_file", '{"a":1}')),
        pieces(piece(1, "c2", "write_file", '{"b":2}')),
        *after,
        chunk({}, "length"),
        plan=READ,
    )
    assert [event[:2] for event in told(events) if event[0] == "done"] == [("done", 0)]
    assert result.stop_reason == "length"
    assert result.function_calls[0].input_error is None
    assert result.function_calls[1].input_error is not None


def test_calls_of_a_failed_answer_are_never_done() -> None:
    """A provider that broke off leaves no call to run."""
    events, result = stream(
        pieces(piece(0, "c1", "read_file", '{"a":1}')), chunk({}, "error"), plan=READ
    )
    assert [event[0] for event in told(events)] == ["start", "input"]
    assert result.stop_reason == "error"
    assert result.function_calls[0].input_error is not None


def test_a_reason_with_every_chunk() -> None:
    """Hosts that repeat the reason still get each call told once."""
    events, result = stream(
        pieces(piece(0, "c1", "a", '{"x":1}'), finish_reason="tool_calls"),
        pieces(piece(0, "c2", "a", '{"x":2}'), finish_reason="tool_calls"),
        chunk({"content": "\n"}, "stop"),
    )
    assert [event[:2] for event in told(events) if event[0] == "done"] == [("done", 0), ("done", 1)]
    assert result.provider_stop_reason == "stop"
    assert result.stop_reason == "function_use"
    assert result.text == "\n"


# ---------------------------------------------------------------- the rest of an answer


def test_reasoning_and_refusal() -> None:
    """Their deltas, and the same parts as in a whole answer."""
    events, result = stream(
        chunk({"reasoning_content": "T"}),
        chunk({"reasoning_content": "U", "content": ""}),
        chunk({"refusal": "No"}),
        chunk({"refusal": "."}, "stop"),
    )
    assert events == [
        ReasoningDelta(text="T"),
        ReasoningDelta(text="U"),
        RefusalDelta(text="No"),
        RefusalDelta(text="."),
    ]
    assert result == decode(answer({"content": None, "refusal": "No.", "reasoning_content": "TU"}))


def test_reasoning_details_are_whole_again() -> None:
    """Pieces of one entry are one entry; encrypted ones are never glued."""

    def detail(**fields: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "index": 0, "format": "a", **fields}

    encrypted = [{"type": "reasoning.encrypted", "index": 1, "data": data} for data in "xy"]
    events, result = stream(
        chunk({"reasoning_details": [detail(text="T")]}),
        chunk({"reasoning": "U", "reasoning_details": [detail(text="U", id=None)]}),
        chunk({"reasoning_details": [detail(signature="s", text=None)]}),
        chunk({"reasoning_details": [detail(index=2, text="V"), {"summary": "W"}, "odd"]}),
        chunk({"reasoning_details": encrypted}),
        chunk({"content": "A"}, "stop"),
        plan=plan_of(target_of("openrouter")),
    )
    thought = result.content[0]
    assert isinstance(thought, OutputResultReasoning)
    assert thought.provider_metadata == {
        "openrouter": {
            "details": [
                detail(text="TU", signature="s", id=None),
                detail(index=2, text="V"),
                {"summary": "W"},
                "odd",
                *encrypted,
            ]
        }
    }
    assert [event.text for event in events if isinstance(event, ReasoningDelta)] == [
        "T",
        "U",
        "V",
        "W",
    ]


def test_mistral_chunks_are_whole_again() -> None:
    """A thinking chunk grows until it is closed; text around it stays text."""
    plan = plan_of(target_of("mistral"))

    def thinking(*texts: str, **fields: Any) -> dict[str, Any]:
        inner = [{"type": "text", "text": text} for text in texts]
        return {"type": "thinking", "thinking": inner, **fields}

    reference = {"type": "reference", "reference_ids": [1]}
    events, result = stream(
        chunk({"content": [thinking("T")]}),
        chunk({"content": [thinking("U", signature="s", closed=True)]}),
        chunk({"content": [thinking("V")]}),
        chunk({"content": [{"type": "thinking", "thinking": "W"}]}),
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "other"}]}]}),
        chunk({"content": [{"type": "text", "text": "A"}, "B"]}),
        chunk({"content": "C"}),
        chunk({"content": [reference]}),
        chunk({"content": "D"}, "stop"),
        plan=plan,
    )
    whole = [
        thinking("TU", signature="s", closed=True),
        {"type": "thinking", "thinking": [{"type": "text", "text": "VW"}, {"type": "other"}]},
        {"type": "text", "text": "ABC"},
        reference,
        {"type": "text", "text": "D"},
    ]
    assert result == decode(answer({"content": whole}), plan)
    assert "".join([event.text for event in events if isinstance(event, ReasoningDelta)]) == "TUVW"
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["A", "B", "C", "D"]


def test_images_annotations_and_signatures() -> None:
    """Lists grow, and the result is that of the whole answer."""
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    extra = {"google": {"thought_signature": "s"}}
    plan = plan_of(target_of("google:openai"))
    _, result = stream(
        chunk({"content": "A", "images": [image], "annotations": [{"n": 1}]}),
        chunk({"images": [image], "annotations": [{"n": 2}], "extra_content": extra}),
        pieces(piece(0, "c1", "ping", "{}", extra_content=extra)),
        chunk({}, "stop"),
        plan=plan,
    )
    message = {
        **calling(("c1", "ping", "{}"), content="A"),
        "images": [image, image],
        "annotations": [{"n": 1}, {"n": 2}],
        "extra_content": extra,
    }
    message["tool_calls"][0]["extra_content"] = extra
    assert result == decode(answer(message), plan)


def test_a_signature_comes_with_the_done_event() -> None:
    """The event's call is the result's."""
    extra = {"google": {"thought_signature": "s"}}
    events, result = stream(
        pieces(piece(0, "c1", "ping", "{}", extra_content=extra)),
        ENDED,
        plan=plan_of(target_of("google:openai")),
    )
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert done == result.function_calls


def test_the_older_function_call() -> None:
    """`function_call` in pieces; a dummy is nothing."""
    events, result = stream(
        chunk({"function_call": {"name": "", "arguments": ""}, "content": "A"}),
        chunk({"function_call": {"name": "ping"}}),
        chunk({"function_call": {"arguments": '{"a":'}}),
        chunk({"function_call": {"arguments": "1}"}}),
        chunk({}, "function_call"),
    )
    assert [(call.name, call.input) for call in result.function_calls] == [("ping", {"a": 1})]
    assert [event[0] for event in told(events)] == ["text", "start", "input", "input", "done"]


def test_calls_of_tools_that_are_no_functions() -> None:
    """They are kept as in a whole answer, without events."""
    custom = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    events, result = stream(
        pieces({"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sh", "input": ""}}),
        pieces({"index": 0, "custom": {"input": "ls "}}),
        pieces({"index": 0, "custom": {"input": "-l"}}),
        ENDED,
    )
    assert events == []
    assert result == decode(answer({"tool_calls": [custom]}, "tool_calls"))


def test_usage_and_chunks_without_choices() -> None:
    """Filters first, usage last, chunks with nothing in between."""
    events, result = stream(
        {"id": "", "model": "", "created": 0, "choices": [], "prompt_filter_results": [{"x": 1}]},
        chunk({"role": "assistant", "content": "Hel"}, usage=None),
        {"choices": [{"index": 0, "finish_reason": None}]},
        {"id": "c-1"},
        {"choices": None},
        chunk({"content": None}),
        chunk({"content": "lo", "tool_calls": None}),
        pieces(),
        pieces(piece(0, "c_1", "ping", "{}")),
        ENDED,
        {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}},
    )
    assert result.usage == Usage(input_tokens=11, output_tokens=7)
    assert (result.id, result.name, result.created) == ("c-1", "m", 7)
    assert result.text == "Hello"
    assert made(result) == [("ping", {}, "c_1")]
    assert [event[0] for event in told(events)] == ["text", "text", "start", "input", "done"]


def test_zeros_behind_the_usage() -> None:
    """A host that ends its stream with zeros has not counted anew; zeros alone are what it says."""
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    zeros = dict.fromkeys(counted, 0)
    head = chunk({"content": "A"})
    _, result = stream(head, chunk({}, "stop", usage=counted), chunk({}, usage=zeros))
    assert result.usage == Usage(input_tokens=11, output_tokens=7)
    _, result = stream(head, chunk({}, "stop", usage=zeros))
    assert result.usage == Usage(input_tokens=0, output_tokens=0)


def test_a_lone_call_that_is_no_list() -> None:
    """One object in place of a list of calls."""
    lone = {"index": 0, "id": "c_1", "function": {"name": "ping", "arguments": "{}"}}
    _, result = stream(chunk({"tool_calls": lone}), ENDED)
    assert made(result) == [("ping", {}, "c_1")]
    assert decode(answer({"tool_calls": lone}, "tool_calls")).content == result.content


def test_usage_in_groqs_own_place() -> None:
    """An early `x_groq` has only an id, the last one the usage."""
    _, result = stream(
        chunk({"content": "A"}, x_groq={"id": "req"}),
        chunk(
            {}, "stop", x_groq={"id": "req", "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
        ),
    )
    assert result.usage == Usage(input_tokens=3, output_tokens=4)


def test_usage_in_the_choice() -> None:
    """Moonshot's place for it; what stands beside the choices goes before."""
    told_there = {"prompt_tokens": 19, "completion_tokens": 2, "cached_tokens": 3}
    last = chunk({}, "stop")
    last["choices"][0]["usage"] = told_there
    _, result = stream(chunk({"content": "A"}), last)
    assert result.usage == Usage(input_tokens=19, output_tokens=2, cached_input_tokens=3)
    empty = chunk({}, "stop")
    empty["choices"][0]["usage"] = dict.fromkeys(told_there, 0)
    assert stream(chunk({"content": "A"}), last, empty)[1].usage == result.usage
    beside = chunk({}, usage={"prompt_tokens": 5, "completion_tokens": 6})
    _, result = stream(chunk({"content": "A"}), last, beside)
    assert result.usage == Usage(input_tokens=5, output_tokens=6)


def test_citations_beside_the_choices() -> None:
    """Perplexity repeats them with every chunk."""
    _, result = stream(
        chunk({"content": "A"}, citations=["u"], search_results=[{"url": "u"}]),
        chunk({"content": "B"}, "stop", citations=["u"], search_results=[{"url": "u"}]),
    )
    assert result.content == (OutputResultText(text="AB", citations=({"url": "u"},)),)


def test_further_choices() -> None:
    """Events tell of the first choice alone; the others are options."""
    second = {"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}
    both = chunk({"content": "A"}, "stop")
    both["choices"].append(second)
    events, result = stream(both)
    assert events == [TextDelta(text="A")]
    assert result.options == ((OutputResultText(text="B"),),)


def test_a_whole_message_in_a_chunk() -> None:
    """Hosts that answer a stream with `message` in place of `delta`."""
    body = answer(calling(("c1", "ping", '{"a":1}'), content="A"), "tool_calls")
    events, result = stream(body)
    assert [event[0] for event in told(events)] == ["text", "start", "input", "done"]
    assert result == decode(body)


def test_the_request_id_comes_from_the_headers() -> None:
    """As for a whole answer."""
    decoder = DIALECT.open_stream(plan_of(), {"x-request-id": "req_1"})
    decoder.feed(frame(chunk({"content": "A"}, "stop")))
    assert decoder.close().request_id == "req_1"


def test_strict_and_renaming_and_repair_hold_in_streams() -> None:
    """The one reader of whole answers reads streams, too."""
    functions = [FUNCTIONS[0], {"name": "fs.read file"}]
    plan = plan_of(target_of("openai"), functions=functions, strict=True, json_schema=CITY)
    assert plan.functions is not None
    wire_name = plan.functions.wire_name("fs.read file")
    events, result = stream(
        pieces(piece(0, "c1", "get_weather", '{"city":"Oslo","days":null}')),
        pieces(piece(1, "c2", wire_name, '{"a":1,}')),
        ENDED,
        plan=plan,
    )
    whole = answer(
        calling(
            ("c1", "get_weather", '{"city":"Oslo","days":null}'), ("c2", wire_name, '{"a":1,}')
        ),
        "tool_calls",
    )
    assert result == decode(whole, plan)
    assert [event[2] for event in told(events) if event[0] == "start"] == [
        "get_weather",
        "fs.read file",
    ]
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert done == result.function_calls


# ---------------------------------------------------------------- stand-ins


def stand_in() -> Plan:
    """The plan of a forced call that is emulated."""
    return plan_of(target_of("ollama:openai"), functions=FUNCTIONS, function_call="any")


@pytest.mark.parametrize("ends", [chunk({}, "stop"), None])
def test_a_stand_in_is_told_as_a_call(ends: Any) -> None:
    """Its text is never told as text; the call comes when the answer ends, once."""
    chunks = [chunk({"content": '{"name":"ping",'}), chunk({"content": '"arguments":{"a":1}}'})]
    events, result = stream(*chunks, *([ends] if ends else []), plan=stand_in())
    assert [event[0] for event in told(events)] == ["start", "input", "done"]
    assert [(call.name, call.input) for call in result.function_calls] == [("ping", {"a": 1})]
    assert result.text == ""
    assert events[0] == FunctionUseStart(
        index=0, name="ping", function_id=result.function_calls[0].function_id
    )


def test_a_stand_in_that_is_none_is_text_after_all() -> None:
    """It is told whole, once."""
    events, result = stream(
        chunk({"content": "I would "}), chunk({"content": "rather not."}, "stop"), plan=stand_in()
    )
    assert events == [TextDelta(text="I would rather not.")]
    assert result.text == "I would rather not."
    assert result == decode(answer({"content": "I would rather not."}), stand_in())


def test_a_stand_in_that_was_cut_off() -> None:
    """Half a call is text; a whole one is still no call to run."""
    events, result = stream(chunk({"content": '{"name":"pi'}, "length"), plan=stand_in())
    assert events == [TextDelta(text='{"name":"pi')]
    assert result.function_calls == []
    events, result = stream(
        chunk({"content": '{"name":"ping","arguments":{"a":1}}'}, "length"), plan=stand_in()
    )
    assert [event[0] for event in told(events)] == ["start", "input"]
    assert result.function_calls[0].input_error is not None


def test_a_true_call_needs_no_stand_in() -> None:
    """A host that calls after all is believed; its text is told at the end."""
    events, result = stream(
        chunk({"content": "Well."}), pieces(piece(0, "c1", "ping", "{}")), ENDED, plan=stand_in()
    )
    assert made(result) == [("ping", {}, "c1")]
    assert result.text == "Well."
    assert [event[0] for event in told(events)] == ["start", "input", "done"]


# ---------------------------------------------------------------- ends and errors


def test_a_finish_reason_is_end_enough() -> None:
    """Some hosts never send `[DONE]`."""
    _, result = stream(chunk({"content": "A"}, "stop"), done=False)
    assert result.text == "A"


def test_done_is_end_enough() -> None:
    """Some never send a reason; calls are done then, too."""
    events, result = stream(pieces(piece(0, "c1", "ping", "{}")))
    assert [event[0] for event in told(events)] == ["start", "input", "done"]
    assert result.stop_reason == "function_use"


def test_after_done_nothing_counts() -> None:
    """What follows `[DONE]`, and empty frames, are looked past."""
    events, result = stream(
        chunk({"content": "A"}, "stop"), b"[DONE]", b"", chunk({"content": "B"})
    )
    assert events == [TextDelta(text="A")]
    assert result.text == "A"


def test_a_stream_that_breaks_off() -> None:
    """Neither a reason nor `[DONE]`: an error that carries what came, no call of it usable."""
    decoder = DIALECT.open_stream(READ, {})
    decoder.feed(frame(chunk({"content": "A"})))
    events = decoder.feed(frame(pieces(piece(0, "c1", "read_file", '{"a":1}'))))
    assert [event[0] for event in told(events)] == ["start", "input"]
    with pytest.raises(StreamError) as raised:
        decoder.close()
    assert raised.value.retryable
    assert isinstance(raised.value.result, OutputResult)
    assert raised.value.result.text == "A"


def test_a_stream_of_nothing() -> None:
    """No chunk at all, or an end without a choice."""
    with pytest.raises(StreamError) as raised:
        stream(done=False)
    assert raised.value.result is None
    with pytest.raises(ResponseDecodeError):
        stream({"id": "x", "choices": []})


@pytest.mark.parametrize(
    ("failure", "event", "kind"),
    [
        ({"error": {"code": 502, "message": "Gone"}}, None, ServerError),
        ({"error": {"code": 502, "message": "Gone"}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}, None, ServerError),
        ({"error": {"message": "Gone", "code": "tool_use_failed", "status_code": 400}}, "error", BadRequestError),
        ({"code": "x", "error": "Gone"}, None, ProviderError),
        ({"choices": [], "x_groq": {"id": "r", "error": "Gone"}}, None, ServerError),
        ({"choices": [{"index": 0, "delta": {}}], "x_groq": {"error": "Gone"}}, None, ServerError),
        ({"message": "Gone"}, "error", ProviderError),
        (b"Gone", "error", ProviderError),
    ],
)  # fmt: skip
def test_an_error_in_the_stream(failure: Any, event: str | None, kind: type[ProviderError]) -> None:
    """It is raised as what it names, with what had come; the stream has no good end after it."""
    decoder = DIALECT.open_stream(READ, {})
    decoder.feed(frame(chunk({"content": "A"})))
    decoder.feed(frame(pieces(piece(0, "c1", "read_file", '{"a":1}'), finish_reason="tool_calls")))
    with pytest.raises(kind, match="Gone") as raised:
        decoder.feed(frame(failure, event))
    assert isinstance(raised.value.result, OutputResult)
    assert raised.value.result.text == "A"
    with pytest.raises(StreamError):
        decoder.close()


def test_an_error_before_anything() -> None:
    """Nothing had come, so nothing is carried."""
    decoder = DIALECT.open_stream(plan_of(), {})
    with pytest.raises(ProviderError) as raised:
        decoder.feed(frame({"error": {"message": "quota", "code": "insufficient_quota"}}))
    assert raised.value.result is None
    assert not raised.value.retryable
    with pytest.raises(StreamError):
        decoder.close()


def test_an_error_of_a_choice() -> None:
    """It ends the answer as in a whole one: with calls an `error` result, else an exception."""
    failed = {"index": 0, "delta": {}, "error": {"code": 502, "message": "Malformed"}}
    events, result = stream(pieces(piece(0, "c1", "ping", '{"a":1}')), {"choices": [failed]})
    assert [event[0] for event in told(events)] == ["start", "input"]
    assert result.stop_reason == "error"
    assert "Malformed" in str(result.function_calls[0].input_error)
    decoder = DIALECT.open_stream(plan_of(), {})
    decoder.feed(frame(chunk({"content": "A"})))
    decoder.feed(frame({"choices": [failed]}))
    decoder.feed(frame(b"[DONE]"))
    with pytest.raises(ServerError) as raised:
        decoder.close()
    assert isinstance(raised.value.result, OutputResult)
    assert raised.value.result.text == "A"


def test_an_error_of_a_choice_before_one_of_the_stream() -> None:
    """The stream's error carries what the choice's would have."""
    decoder = DIALECT.open_stream(plan_of(), {})
    decoder.feed(frame(chunk({"content": "A"})))
    decoder.feed(frame({"choices": [{"index": 0, "error": {"message": "first"}}]}))
    with pytest.raises(ProviderError, match="second") as raised:
        decoder.feed(frame({"error": {"message": "second"}}))
    assert isinstance(raised.value.result, OutputResult)
    assert raised.value.result.text == "A"


@pytest.mark.parametrize("data", [b"{", b"nonsense", b"[]", b"5", b"[" * 9999])
def test_a_frame_that_is_no_chunk(data: bytes) -> None:
    """A typed error with what had come."""
    decoder = DIALECT.open_stream(plan_of(), {})
    decoder.feed(frame(chunk({"content": "A"})))
    with pytest.raises(StreamError) as raised:
        decoder.feed(frame(data))
    assert isinstance(raised.value.result, OutputResult)


def test_what_does_not_fit_is_left_out() -> None:
    """A misshapen field costs that field."""
    odd = {
        "index": 0,
        "delta": {"content": "A", "tool_calls": 5, "refusal": []},
        "finish_reason": 3,
    }
    _, result = stream({"id": 5, "choices": [odd], "usage": "x"}, chunk({}, "stop"))
    assert result.text == "A"


# ---------------------------------------------------------------- any stream


def cut(text: str, sizes: list[int]) -> list[str]:
    """A text in pieces of the given sizes, the rest last."""
    out = []
    for size in sizes:
        out.append(text[:size])
        text = text[size:]
    return [*out, text]


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["read_file", "write_file", "other"]),
        st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.integers(), max_size=3),
        st.lists(st.integers(0, 7), max_size=4),
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(CALLS, st.text(max_size=10), st.randoms(use_true_random=False), st.booleans())
def test_any_stream_is_its_whole_answer(
    calls: list[Any], text: str, shuffle: Any, interleave: bool
) -> None:
    """However a valid answer is cut and its calls interleaved, the result is that of the whole."""
    queues = []
    for number, (name, value, sizes) in enumerate(calls):
        fragments = cut(json.dumps(value), sizes)
        opening = piece(number, f"c{number}", name, "")
        queues.append([opening, *[piece(number, arguments=fragment) for fragment in fragments]])
    chunks = [chunk({"content": letter}) for letter in text]
    while queues:
        queue = shuffle.choice(queues) if interleave else queues[0]
        chunks.append(pieces(queue.pop(0)))
        queues = [queue for queue in queues if queue]
    reason = "tool_calls" if calls else "stop"
    events, result = stream(*chunks, chunk({}, reason), plan=READ)
    said = [(f"c{number}", call[0], json.dumps(call[1])) for number, call in enumerate(calls)]
    message = calling(*said, content=text)
    assert result == decode(answer(message, reason), READ)
    done = {e.index: e.function_use for e in events if isinstance(e, FunctionUseDone)}
    assert [done[index] for index in sorted(done)] == result.function_calls
    inputs = ["" for _ in calls]
    for event in events:
        if isinstance(event, FunctionInputDelta):
            inputs[event.index] += event.partial_json
    assert inputs == [json.dumps(call[1]) for call in calls]


PIECES = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(-1, 3) | st.none() | st.text(max_size=2),
        "id": st.sampled_from(["", "a", "b", "null", None, 5]),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["", "read", "read_file", "_file", "x", None, 3]),
                "arguments": st.sampled_from(
                    ["", "{}", '{"a":1}', '{"a"', ":1}", None, {"b": 2}, 7]
                ),
            },
        )
        | st.none(),
        "custom": st.sampled_from([None, {}, {"name": "s"}, {"input": "i"}, 3]),
    },
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(PIECES, max_size=3),
            st.sampled_from([None, "", "tool_calls", "stop", "length", "error"]),
            st.sampled_from([None, "", "A", ["B"], [{"type": "thinking", "thinking": 5}], 7]),
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_any_pieces_give_a_result_or_a_typed_error(chunks: list[Any], emulated: bool) -> None:
    """No order and shape of pieces crashes; ids are unique, and events fit the result."""
    plan = stand_in() if emulated else READ
    sent = [
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"tool_calls": entries, "content": content},
                    "finish_reason": reason,
                }
            ]
        }
        for entries, reason, content in chunks
    ]
    try:
        events, result = stream(*sent, plan=plan)
    except (StreamError, ResponseDecodeError):
        return
    ids = [call.function_id for call in result.function_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    starts = [event.function_id for event in events if isinstance(event, FunctionUseStart)]
    assert sorted(starts) == sorted(ids)
    done = [event.index for event in events if isinstance(event, FunctionUseDone)]
    assert len(set(done)) == len(done)


def test_many_deltas() -> None:
    """A hundred thousand fragments, of two calls in turn, make two calls."""
    count = 50_000
    decoder = DIALECT.open_stream(READ, {})
    for number, name in enumerate(("read_file", "write_file")):
        decoder.feed(frame(pieces(piece(number, f"c{number}", name, '{"a":"'))))
    letters = [frame(pieces(piece(number, arguments="x"))) for number in (0, 1)]
    for _ in range(count):
        assert len(decoder.feed(letters[0])) + len(decoder.feed(letters[1])) == 2
    decoder.feed(frame(pieces(piece(0, arguments='"}'), piece(1, arguments='"}'))))
    decoder.feed(frame(ENDED))
    calls = decoder.close().function_calls
    assert [len(call.input["a"]) for call in calls] == [count, count]
    assert all(isinstance(call, OutputResultFunctionUse) for call in calls)


@pytest.mark.parametrize("index", [0, None])
def test_the_same_id_twice_is_two_calls(index: int | None) -> None:
    """Whole calls under one id are kept apart, by index or by being whole."""
    second = None if index is None else 1
    events, result = stream(
        pieces(piece(index, "c", "search", '{"q":"x"}')),
        pieces(piece(second, "c", "search", '{"q":"y"}')),
        ENDED,
    )
    assert [call.input for call in result.function_calls] == [{"q": "x"}, {"q": "y"}]
    assert result.function_calls[0].function_id == "c"
    assert result.function_calls[1].function_id not in ("c", "")
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert done == result.function_calls


@pytest.mark.parametrize("index", [0, None])
def test_a_call_that_is_sent_once_more(index: int | None) -> None:
    """The same whole call at its own index and id is the one that came already."""
    first, again = '{"q":"x"}', piece(index, "c", "search", '{"q":"x"}')
    events, result = stream(
        pieces(piece(index, "c", "search", first[:4])),
        pieces(piece(index, "c", arguments=first[4:])),
        pieces(piece(None if index is None else 1, "d", "search", '{"q":"y"}')),
        pieces(again),
        pieces(again, finish_reason="tool_calls"),
    )
    assert made(result) == [("search", {"q": "x"}, "c"), ("search", {"q": "y"}, "d")]
    done = [event.function_use for event in events if isinstance(event, FunctionUseDone)]
    assert done == result.function_calls


def test_an_index_that_comes_late() -> None:
    """A call known by its id goes on under an index said later."""
    _, result = stream(
        pieces(piece(None, "c", "search", '{"q":')), pieces(piece(0, "c", None, '"x"}')), ENDED
    )
    assert made(result) == [("search", {"q": "x"}, "c")]
