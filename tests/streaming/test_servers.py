"""Streams from a server that stalls, breaks, lies and floods: both loops, both transports."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import anyio
import pytest
from streaming.serving import (
    CALLED,
    DONE,
    HELLO,
    LAST,
    STOP,
    WORLD,
    Server,
    chunk,
    connections,
    event,
    gone,
    model_of,
    piece,
    sends,
    sse_head,
    whole,
)
from transport.scripted import error, http

from llm_tools import OutputResult
from llm_tools.content import (
    Finished,
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    TextDelta,
)
from llm_tools.errors import (
    LlmToolsError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    RequestTimeoutError,
    ResponseDecodeError,
    ServerError,
    StreamError,
)

pytestmark = pytest.mark.anyio
FUNCTIONS = [{"name": "pick"}]


async def read(llm: Any, **options: Any) -> tuple[list[Any], OutputResult | LlmToolsError]:
    """The events of a stream, and how it ended."""
    events: list[Any] = []
    try:
        async with llm.stream("Hi", functions=FUNCTIONS, **options) as stream:
            async for one in stream:
                events.append(one)
            return events, stream.result
    except LlmToolsError as error:
        return events, error


async def test_a_stream_to_its_end(server: Server, kind: str) -> None:
    """Events as they come, the whole answer at the end; its connection is used again."""
    script = server.script(whole(HELLO, WORLD, STOP))
    llm = model_of(script, kind)
    for _ in range(3):
        events, result = await read(llm)
        assert isinstance(result, OutputResult)
        assert events == [
            TextDelta(text="Hello"),
            TextDelta(text=" world"),
            Finished(result=result),
        ]
        assert result.text == "Hello world"
    assert connections(script) == 1


async def test_an_event_is_there_before_the_next_is_sent(server: Server, kind: str) -> None:
    """Nothing waits for more to come."""
    script = server.script([*sends(HELLO), ["stall"]])
    async with model_of(script, kind).stream("Hi") as events:
        assert await anext(events) == TextDelta(text="Hello")


# ---------------------------------------------------------------- how a stream may end


async def test_a_stall(server: Server, kind: str) -> None:
    """Too long without a byte: a timeout with what had come; the connection is cut."""
    script = server.script([*sends(HELLO), ["stall"]])
    events, failure = await read(model_of(script, kind, timeout=0.3))
    assert events == [TextDelta(text="Hello")]
    assert isinstance(failure, RequestTimeoutError)
    assert failure.retryable
    assert failure.result is not None
    assert failure.result.text == "Hello"
    await gone(script)
    assert len(script.log) == 1


async def test_a_stall_before_anything(server: Server, kind: str) -> None:
    """The head alone is not a sign of life for ever."""
    script = server.script([*sends(), ["stall"]])
    events, failure = await read(model_of(script, kind, timeout=0.3, max_attempts=3))
    assert events == []
    assert isinstance(failure, RequestTimeoutError)
    assert len(script.log) == 1


BREAKS: dict[str, list[Any]] = {
    "closed": [["close"]],
    "reset": [["sleep", 0.05], ["reset"]],
    "closed within an event": [["send", chunk(piece(0, '{"a":')[:40])], ["close"]],
    "reset within an event": [["send", chunk(piece(0, '{"a":')[:40])], ["sleep", 0.05], ["reset"]],
    "closed within a chunk": [["send", chunk(HELLO)[:20]], ["close"]],
    "ended within an event": [["send", chunk(piece(0, '{"a":')[:40]) + LAST]],
    "ended without the end mark": [["send", LAST]],
    "no chunk": [["send", "what?\r\n"], ["close"]],
}


@pytest.mark.parametrize("way", BREAKS)
async def test_a_stream_that_breaks_off(server: Server, kind: str, way: str) -> None:
    """A stream error with what had come; the call that was coming is never done."""
    begun = sends(HELLO, piece(0, "", "pick"), piece(0, '{"a": 1}'))
    script = server.script([*begun, *BREAKS[way]], whole(HELLO, STOP))
    llm = model_of(script, kind, max_attempts=3)
    events, failure = await read(llm)
    assert [type(one) for one in events[:3]] == [TextDelta, FunctionUseStart, FunctionInputDelta]
    assert not any(isinstance(one, FunctionUseDone | Finished) for one in events)
    assert isinstance(failure, StreamError)
    assert failure.retryable
    assert failure.result is not None
    assert failure.result.stop_reason == "error"
    assert failure.result.text == "Hello"
    assert failure.result.function_calls[0].input_error
    assert len(script.log) == 1
    _, result = await read(llm)
    assert isinstance(result, OutputResult)
    # A body that ended in good order leaves a sound connection; one that broke never does.
    assert connections(script) == (1 if way.startswith("ended") else 2)


async def test_a_body_without_a_length(server: Server, kind: str) -> None:
    """It ends with its connection: well after the end mark, as an error before it."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    script = server.script(
        [["send", head + HELLO + STOP + DONE], ["close"]], [["send", head + HELLO], ["close"]]
    )
    llm = model_of(script, kind)
    _, result = await read(llm)
    assert isinstance(result, OutputResult)
    _, failure = await read(llm)
    assert isinstance(failure, StreamError)


async def test_a_response_that_stays_open_after_its_end(server: Server, kind: str) -> None:
    """The end mark is the end; the connection is cut, for more might come on it."""
    script = server.script([*sends(HELLO, STOP, DONE), ["stall"]])
    events, result = await read(model_of(script, kind))
    assert isinstance(result, OutputResult)
    assert events[-1] == Finished(result=result)
    await gone(script)


async def test_a_break_after_the_end(server: Server, kind: str) -> None:
    """What has come whole stays whole."""
    script = server.script([*sends(HELLO, STOP, DONE), ["sleep", 0.02], ["reset"]])
    for _ in range(2):
        _, result = await read(model_of(script, kind))
        assert isinstance(result, OutputResult)
    assert connections(script) == 2


# ---------------------------------------------------------------- errors and lies

ERROR = 'data: {"error": {"type": "overloaded_error", "message": "busy"}}\n\n'


@pytest.mark.parametrize("begun", [[], [HELLO], [HELLO, piece(0, '{"a": 1}', "pick")]])
async def test_an_error_event(server: Server, kind: str, begun: list[str]) -> None:
    """First or midway, it is the provider's error, asked once; the connection is cut."""
    script = server.script([*sends(*begun, ERROR), ["stall"]])
    events, failure = await read(model_of(script, kind, max_attempts=3))
    assert not any(isinstance(one, FunctionUseDone) for one in events)
    assert isinstance(failure, OverloadedError)
    assert failure.result is None or failure.result.stop_reason == "error"
    assert len(script.log) == 1
    await gone(script)


async def test_an_error_under_a_200(server: Server, kind: str) -> None:
    """A JSON body in place of a stream is read as what it is."""
    for body, kind_of_error in (
        ({"error": {"code": 429, "message": "slow down"}}, RateLimitError),
        ({"error": {"message": "no", "type": "server_error"}}, ServerError),
        ({"error": "no"}, ProviderError),
        ({"detail": "no"}, LlmToolsError),
        ([], LlmToolsError),
        ("no", LlmToolsError),
    ):
        script = server.script(http(json.dumps(body, indent=1)))
        events, failure = await read(model_of(script, kind))
        assert events == []
        assert isinstance(failure, kind_of_error), body


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "text/event-stream", ""])
async def test_a_web_page_under_a_200(server: Server, kind: str, content_type: str) -> None:
    """It is no stream, whatever it calls itself."""
    page = "<!doctype html><html><body>Sign in: to go on</body></html>"
    script = server.script(http(page, headers={"content-type": content_type}))
    events, failure = await read(model_of(script, kind))
    assert events == []
    assert isinstance(failure, ResponseDecodeError | StreamError)
    if "html" in content_type:
        assert isinstance(failure, ResponseDecodeError)
        assert "web page" in str(failure)


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "application/octet-stream", ""]
)
async def test_a_stream_under_another_name(server: Server, kind: str, content_type: str) -> None:
    """The bytes say what they are."""
    body = HELLO + STOP + DONE
    script = server.script(http(body, headers={"content-type": content_type}))
    _, result = await read(model_of(script, kind))
    assert isinstance(result, OutputResult)
    assert result.text == "Hello"


async def test_a_whole_answer_in_place_of_a_stream(server: Server, kind: str) -> None:
    """It is taken as one."""
    message = {"role": "assistant", "content": "Hello"}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    script = server.script(http(json.dumps(body)))
    events, result = await read(model_of(script, kind))
    assert isinstance(result, OutputResult)
    assert events == [TextDelta(text="Hello"), Finished(result=result)]


async def test_an_empty_stream(server: Server, kind: str) -> None:
    """Nothing is no answer."""
    for body in ("", "\n\n", ": ping\n\n", DONE):
        script = server.script(http(body, headers={"content-type": "text/event-stream"}))
        events, failure = await read(model_of(script, kind))
        assert events == []
        assert isinstance(failure, StreamError | ResponseDecodeError)


# ---------------------------------------------------------------- trying again


async def test_it_is_tried_again_before_the_first_event_only(server: Server, kind: str) -> None:
    """A refused opening is; a stream that has begun is not."""
    script = server.script(
        error(503, "busy", retry_after="0"), whole(HELLO, STOP), [*sends(HELLO), ["close"]]
    )
    llm = model_of(script, kind, max_attempts=3)
    _, result = await read(llm)
    assert isinstance(result, OutputResult)
    assert len(script.log) == 2
    _, failure = await read(llm)
    assert isinstance(failure, StreamError)
    assert len(script.log) == 3


async def test_an_error_status_is_raised_on_entering(server: Server, kind: str) -> None:
    """The block is never entered."""
    script = server.script(error(400, "no such thing"))
    entered = False
    with pytest.raises(ProviderError, match="no such thing"):
        async with model_of(script, kind).stream("Hi"):
            entered = True
    assert not entered


# ---------------------------------------------------------------- floods


async def test_comments_without_end(server: Server, kind: str) -> None:
    """They keep a stream alive, up to its deadline, and fill no memory."""
    script = server.script([["send", sse_head()], ["repeat", chunk(": ping\n\n" * 2000), 100_000]])
    events, failure = await read(model_of(script, kind, deadline=0.7))
    assert events == []
    assert isinstance(failure, RequestTimeoutError)
    assert "deadline" in str(failure)


async def test_an_event_of_many_megabytes(server: Server, kind: str) -> None:
    """Text and arguments of any size, in one event or in none-ending lines."""
    text, long = "é" * 2_000_000, json.dumps({"a": "x" * 6_000_000})
    body = "".join(
        [event({"content": text}), piece(0, long, "pick"), CALLED.replace("data: ", "data:"), DONE]
    )
    script = server.script(http(body, headers={"content-type": "text/event-stream"}))
    _, result = await read(model_of(script, kind))
    assert isinstance(result, OutputResult)
    assert result.text == text
    assert len(result.function_calls[0].input["a"]) == 6_000_000


def tiny(hundreds: int) -> list[Any]:
    """A step: a call whose arguments come in so many hundred pieces."""
    return [
        ["send", sse_head() + chunk(piece(0, '{"a": "', "pick"))],
        ["repeat", chunk(piece(0, "abcdefghij") * 100), hundreds],
        ["send", chunk(piece(0, '"}') + CALLED + DONE) + LAST],
    ]


async def count(llm: Any) -> tuple[int, Any]:
    """How many pieces of arguments came, and the input they made."""
    deltas = 0
    async with llm.stream("Hi", functions=FUNCTIONS) as events:
        async for one in events:
            deltas += isinstance(one, FunctionInputDelta)
    return deltas, events.result.function_calls[0].input


async def test_a_hundred_thousand_tiny_events(server: Server, kind: str) -> None:
    """All of them arrive, in order."""
    deltas, given = await count(model_of(server.script(tiny(1000)), kind))
    assert deltas == 100_002
    assert given == {"a": "abcdefghij" * 100_000}


async def test_memory_holds_what_was_said_alone(server: Server, kind: str) -> None:
    """Neither the stream's bytes nor its events are kept."""
    llm = model_of(server.script(tiny(100)), kind)
    await count(llm)
    tracemalloc.start()
    try:
        await count(llm)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The stream has 2 MB, of which 0.1 MB are arguments: as fragments, joined, and parsed.
    assert peak < 1_500_000


async def test_a_slow_reader_slows_the_server(server: Server, kind: str) -> None:
    """Nothing reads ahead: the server's send blocks while the reader does something else."""
    times = 3000
    script = server.script(
        [["send", sse_head()], ["repeat", chunk(event({"content": "x" * 10_000})), times],
         ["send", chunk(STOP + DONE) + LAST]]
    )  # fmt: skip
    async with model_of(script, kind).stream("Hi") as events:
        await anext(events)
        seen = -1
        while script.log[0]["repeated"] != seen:
            seen = script.log[0]["repeated"]
            await anyio.sleep(0.3)
        assert seen < times  # 30 MB would not fit into the sockets' buffers
        async for _ in events:
            pass
    assert len(events.result.text) == times * 10_000


# ---------------------------------------------------------------- deadlines


async def test_a_deadline_never_cuts_the_callers_own_work(server: Server, kind: str) -> None:
    """What the caller does inside the block is its own; the next step of the iteration ends."""
    script = server.script([*sends(HELLO), ["stall"]])
    worked = False
    with pytest.raises(RequestTimeoutError, match="deadline"):
        async with model_of(script, kind, deadline=0.3).stream("Hi") as events:
            await anext(events)
            await anyio.sleep(0.6)
            worked = True
            await anext(events)
    assert worked
    await gone(script)


async def test_a_lively_stream_does_not_outlast_its_deadline(server: Server, kind: str) -> None:
    """Events that keep coming do not move it."""
    pieces = [action for _ in range(200) for action in (["send", chunk(HELLO)], ["sleep", 0.02])]
    script = server.script([["send", sse_head()], *pieces])
    events, failure = await read(model_of(script, kind, deadline=0.5))
    assert events
    assert isinstance(failure, RequestTimeoutError)
    assert failure.result is not None
    assert failure.result.text.startswith("Hello")
