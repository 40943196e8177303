"""Whatever a provider streams, and however it comes: the same events, the whole answer's result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from streaming.reading import WIRES, check_done, check_events, counted_ids, cut, plain, tell, whole
from streaming.wires.exchange import FUNCTIONS

from llm_tools import create_dialogue
from llm_tools.content import OutputResult
from llm_tools.errors import LlmToolsError, ProviderError, ResponseDecodeError, StreamError
from llm_tools.spec import Frame

SIZES = st.lists(st.sampled_from([1, 2, 3, 7, 64, 1000]), min_size=1, max_size=3)
EVERY_WIRE = pytest.mark.parametrize("wire", WIRES)
BRIEF = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@EVERY_WIRE
@BRIEF
@given(st.data())
def test_a_stream_is_its_whole_answer(wire: str, data: st.DataObject) -> None:
    """Content, usage, ids, reasons, warnings and what replay needs are those of the whole form."""
    exchange = data.draw(WIRES[wire].draw())
    plan = WIRES[wire].plan
    told = tell(plan, WIRES[wire].framer(), [exchange.stream], exchange.headers)
    assert told.error is None
    assert told.result is not None
    assert plain(told.result) == plain(whole(plan, exchange))
    check_events(told)


@EVERY_WIRE
@BRIEF
@given(st.data(), SIZES)
def test_any_cut_gives_the_same_events(wire: str, data: st.DataObject, sizes: list[int]) -> None:
    """How the network cuts the bytes makes no difference to events and result."""
    exchange = data.draw(WIRES[wire].draw())
    plan = WIRES[wire].plan
    first = tell(plan, WIRES[wire].framer(), [exchange.stream], exchange.headers)
    pieces = cut(exchange.stream, sizes)
    assert tell(plan, WIRES[wire].framer(), pieces, exchange.headers) == first


@EVERY_WIRE
@BRIEF
@given(st.data())
def test_a_stream_that_breaks_off_is_no_success(wire: str, data: st.DataObject) -> None:
    """Cut anywhere before its end it raises, with what had come, and no half of a call is done."""
    exchange = data.draw(WIRES[wire].draw())
    plan = WIRES[wire].plan
    full = tell(plan, WIRES[wire].framer(), [exchange.stream], exchange.headers)
    assert full.result is not None
    for _ in range(5):
        end = data.draw(st.integers(0, exchange.ends - 1))
        check_broken(wire, exchange.stream[:end], exchange.headers, full)


def check_broken(wire: str, stream: bytes, headers: dict[str, str], full: Any) -> None:
    """A beginning of a stream is an error, and its events are the first of the whole stream's."""
    broken = tell(WIRES[wire].plan, WIRES[wire].framer(), [stream], headers)
    assert isinstance(broken.error, StreamError)
    assert broken.result is None
    assert broken.events == full.events[: len(broken.events)]
    check_done(broken, full.result)
    partial = broken.error.result
    if partial is not None:
        assert isinstance(partial, OutputResult)
        assert partial.stop_reason == "error"
        assert all(call.input_error for call in partial.function_calls)


@EVERY_WIRE
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_stream_cut_at_every_byte(wire: str, data: st.DataObject) -> None:
    """There is no byte at which a stream may end unnoticed before its end."""
    exchange = data.draw(WIRES[wire].draw().filter(lambda one: 200 < one.ends < 1800))
    plan = WIRES[wire].plan
    full = tell(plan, WIRES[wire].framer(), [exchange.stream], exchange.headers)
    for end in range(exchange.ends):
        check_broken(wire, exchange.stream[:end], exchange.headers, full)
    told = tell(plan, WIRES[wire].framer(), [exchange.stream[: exchange.ends]], exchange.headers)
    assert told.result is not None
    assert full.result is not None
    assert plain(told.result.content) == plain(full.result.content)


@EVERY_WIRE
@BRIEF
@given(st.data())
def test_a_streamed_turn_replays_like_a_whole_one(wire: str, data: st.DataObject) -> None:
    """The next request is the same, whichever way the answer came."""
    exchange = data.draw(WIRES[wire].draw())
    plan, llm = WIRES[wire].plan, WIRES[wire].llm
    told = tell(plan, WIRES[wire].framer(), [exchange.stream], exchange.headers)
    assert told.result is not None
    bodies = []
    for result in (told.result, whole(plan, exchange)):
        dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(result)
        for call in result.function_calls:
            dialogue.add_function_message("42", call.name, call.function_id)
        dialogue.add_user_message("Go on")
        bodies.append(plain(llm.build_request(dialogue, functions=FUNCTIONS).body))
    assert bodies[0] == bodies[1]


@EVERY_WIRE
@BRIEF
@given(st.data(), SIZES)
def test_any_bytes_give_a_result_or_a_typed_error(
    wire: str, data: st.DataObject, sizes: list[int]
) -> None:
    """A damaged stream ends in an error of ours or in an answer, never in anything else."""
    stream = bytearray(data.draw(WIRES[wire].draw()).stream)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(0, len(stream) - 1)))
        width = data.draw(st.integers(0, 30))
        stream[place : place + width] = data.draw(st.binary(max_size=8) | DAMAGE)
    told = tell(WIRES[wire].plan, WIRES[wire].framer(), cut(bytes(stream), sizes), {})
    assert (told.result is None) == (told.error is not None)
    if told.error is not None:
        assert isinstance(told.error, StreamError | ProviderError | ResponseDecodeError)


@EVERY_WIRE
@BRIEF
@given(st.lists(st.binary(max_size=40) | st.deferred(lambda: DAMAGE), max_size=6))
def test_no_stream_at_all(wire: str, pieces: list[bytes]) -> None:
    """Bytes of nothing in particular are an error of ours."""
    told = tell(WIRES[wire].plan, WIRES[wire].framer(), pieces, {})
    assert isinstance(told.error, LlmToolsError) or told.result is not None


DAMAGE = st.sampled_from(
    [
        b"\n\n", b"\r", b"data: ", b"data: [DONE]\n\n", b"event: error\n", b'{"error": "x"}',
        b'data: {"error": {"message": "no", "type": "overloaded_error"}}\n\n', b"null", b"[]",
        b'"', b"\\ud800", b"[" * 5000, b"1e999", b"\xff", b"\xf0\x9f", b"{}", b"<html>",
        b'data: {"type": "error"}\n\n', b'{"done": true}\n', b"\x00" * 16,
    ]
)  # fmt: skip


@EVERY_WIRE
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_nothing_after_the_end_mark_counts(wire: str, data: st.DataObject) -> None:
    """Once a decoder says that the answer has ended, the rest may be anything."""
    exchange = data.draw(WIRES[wire].draw())
    plan = WIRES[wire].plan
    told = tell(plan, WIRES[wire].framer(), [exchange.stream], exchange.headers)
    framer = WIRES[wire].framer()
    with counted_ids():
        decoder = plan.target.dialect.open_stream(plan, exchange.headers)
        assert not decoder.ended
        for frame in [*framer.feed(exchange.stream), *framer.close()]:
            decoder.feed(frame)
        if decoder.ended:
            for rest in (b'{"error": "x"}', b"nonsense", b'{"type": "error", "error": {}}'):
                assert decoder.feed(Frame(None, rest)) == []
                assert decoder.feed(Frame("exception:internalServerException", rest)) == []
        else:
            assert wire.startswith(("gemini", "vertex", "chat"))
        assert told.result is not None
        assert plain(decoder.close()) == plain(told.result)
