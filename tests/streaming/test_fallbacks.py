"""Several models as one, against servers: what makes the next one try, and what it is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from streaming.serving import HELLO, LAST, STOP, Server, model_of, sends, whole
from transport.scripted import error, http

from llm_tools import ScriptedLlm, UnsupportedOptionError, fallback, use_llm
from llm_tools.content import Finished, OutputResult, TextDelta
from llm_tools.errors import (
    AuthenticationError,
    ConfigurationError,
    OverloadedError,
    RequestTimeoutError,
    ServerError,
    StreamError,
)
from llm_tools.transport.loops import loop_state

pytestmark = pytest.mark.anyio

BUSY = 'data: {"error": {"message": "overloaded", "type": "server_error", "code": 503}}\n\n'
ANSWER = {
    "id": "c", "model": "m", "created": 1,
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
}  # fmt: skip
FUNCTION = {"name": "pick", "description": "Pick."}

# how the first model's stream fails before it has given an event
FAILURES: dict[str, list[Any]] = {
    "a status": error(500),
    "an error as the first event": [*sends(BUSY), ["send", LAST]],
    "nothing in time": [*sends(), ["stall"]],
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_a_stream_that_fails_before_its_first_event(
    server: Server, kind: str, failure: list[Any]
) -> None:
    """The next model is asked; the result tells of the one before."""
    first, second = server.script(failure), server.script(whole(HELLO, STOP))
    llm = fallback(model_of(first, kind, timeout=0.3), model_of(second, kind))
    async with llm.stream("Hi") as events:
        with pytest.raises(StreamError):
            _ = events.result
        seen = [event async for event in events]
        assert [type(event) for event in seen] == [TextDelta, Finished]
        assert [warning.code for warning in events.result.warnings] == ["fell_back"]
        last = seen[-1]
        assert isinstance(last, Finished)
        assert last.result == events.result
        with pytest.raises(StopAsyncIteration):
            await anext(events)
    assert (len(first.log), len(second.log)) == (1, 1)


async def test_a_stream_that_fails_after_its_first_event(server: Server, kind: str) -> None:
    """There is no way back: the caller has had a part of the answer."""
    first, second = (
        server.script([*sends(HELLO, BUSY), ["send", LAST]]),
        server.script(whole(HELLO)),
    )
    seen: list[Any] = []
    async with fallback(model_of(first, kind), model_of(second, kind)).stream("Hi") as events:
        with pytest.raises(OverloadedError):
            async for event in events:
                seen.append(event)
    assert [type(event) for event in seen] == [TextDelta]
    assert second.log == []


async def test_streams_that_all_fail(server: Server, kind: str) -> None:
    """The last error is raised, with the others as notes; then the stream is over."""
    scripts = [server.script([*sends(BUSY), ["send", LAST]]) for _ in range(2)]
    llm = fallback(*[model_of(script, kind) for script in scripts])
    async with llm.stream("Hi") as events:
        with pytest.raises(OverloadedError) as caught:
            await anext(events)
        with pytest.raises(StopAsyncIteration):
            await anext(events)
        with pytest.raises(StreamError):
            _ = events.result
    assert [note.partition(": ")[0] for note in caught.value.__notes__] == ["before it"]
    with pytest.raises(StreamError, match="Enter the stream first"):
        await anext(llm.stream("Hi"))


async def test_a_failed_stream_is_let_go(server: Server, kind: str) -> None:
    """Its connection is closed before the next model is asked, cancelled or not."""
    first = server.script([*sends(BUSY), ["stall"]])
    stalled = server.script([["stall"]])
    llm = fallback(model_of(first, kind), model_of(stalled, kind))
    with anyio.move_on_after(0.3):
        async with llm.stream("Hi") as events:
            await anext(events)
    with anyio.fail_after(5):
        while first.log[0]["gone"] is None or stalled.log[0]["gone"] is None:
            await anyio.sleep(0.01)
    assert (len(first.log), len(stalled.log)) == (1, 1)


async def test_errors_that_make_no_one_else_try(server: Server, kind: str) -> None:
    """They are raised at once, and tell of the models before."""
    scripts = [server.script(error(500)), server.script(error(401)), server.script(http("{}"))]
    llm = fallback(*[model_of(script, kind) for script in scripts])
    with pytest.raises(AuthenticationError) as caught:
        await llm.call("Hi")
    assert caught.value.__notes__[0].startswith("before it: ServerError: openai answered 500")
    with pytest.raises(AuthenticationError) as caught:
        async with llm.stream("Hi"):
            pass
    assert len(caught.value.__notes__) == 1
    assert scripts[2].log == []


async def test_what_can_be_read_once_reaches_every_model(server: Server, kind: str) -> None:
    """Messages and functions out of a generator."""
    first, second = server.script(error(500)), server.script(http(json.dumps(ANSWER)))
    llm = fallback(model_of(first, kind), model_of(second, kind))

    def once(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield item

    messages: Any = once({"role": "user", "content": "Hi"})
    assert (await llm.call(messages, functions=once(FUNCTION))).text == "Hello"
    assert first.log[0]["body"] == second.log[0]["body"]
    assert "pick" in second.log[0]["body"]
    streamed: Any = once({"role": "user", "content": "Hi"})
    async with llm.stream(streamed, functions=once(FUNCTION)) as events:
        assert isinstance([event async for event in events][-1], Finished)
    assert first.log[1]["body"] == second.log[1]["body"]


async def test_options_one_model_refuses(server: Server, kind: str) -> None:
    """A refusal before anything is sent falls back like any other error, streamed or not."""
    script = server.script(http(json.dumps(ANSWER)), whole(HELLO, STOP))
    refuses = use_llm("google.gemini-2.5-pro", api_key="k", parallel_function_calls=False)
    llm = fallback(refuses, model_of(script, kind), on=(UnsupportedOptionError,))
    assert (await llm.call("Hi", functions=[FUNCTION])).text == "Hello"
    async with llm.stream("Hi", functions=[FUNCTION]) as events:
        assert [type(event) async for event in events] == [TextDelta, Finished]


async def test_connections_of_its_own(server: Server, kind: str) -> None:
    """`async with` holds private connections for each model that has any."""
    script = server.script(error(500), http(json.dumps(ANSWER)))
    llm = fallback(model_of(script, kind), ScriptedLlm(["unused"]), model_of(script, kind))
    before = server.open_connections()
    async with llm, llm:
        assert len(loop_state().private) == 2
        assert isinstance(await llm.call("Hi"), OutputResult)
        await llm.aclose()
        await llm.call("Hi")
    assert len(loop_state().private) == 0
    with anyio.fail_after(5):
        while server.open_connections() > before:
            await anyio.sleep(0.01)


@pytest.mark.parametrize(
    "on", [("RateLimitError",), (ValueError,), RequestTimeoutError, ServerError("x")]
)
def test_errors_that_are_none(on: Any) -> None:
    """They are refused when the fallback is made."""
    with pytest.raises(ConfigurationError, match="must be a tuple of errors"):
        fallback(ScriptedLlm(["Hi"]), on=on)
