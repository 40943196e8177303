"""Leaving a stream early: at any event, by any way out, and what becomes of its connection."""

from __future__ import annotations

import gc
from typing import Any

import anyio
import pytest
from streaming.serving import (
    CALLED,
    DONE,
    HELLO,
    STOP,
    WORLD,
    Server,
    chunk,
    connections,
    gone,
    model_of,
    piece,
    sends,
    sse_head,
    until,
    whole,
)

from llm_tools import create_chat_prompt, create_llm_function_executor, tool
from llm_tools.content import Finished, FunctionUseStart, TextDelta
from llm_tools.errors import ResponseDecodeError, StreamError

pytestmark = pytest.mark.anyio
TOLD = (HELLO, piece(0, "", "pick"), piece(0, '{"a":'), piece(0, " 1}"), CALLED)
"""Five events, of which the last completes the call."""


class Stop(Exception):
    """The caller's own."""


@pytest.mark.parametrize("count", range(6))
async def test_at_every_event(server: Server, kind: str, count: int) -> None:
    """The response is cut off, its connection never used again, and nothing is left behind."""
    script = server.script([*sends(*TOLD), ["stall"]], whole(HELLO, STOP))
    llm = model_of(script, kind)
    async with llm.stream("Hi", functions=[{"name": "pick"}]) as events:
        for _ in range(count):
            await anext(events)
        with pytest.raises(StreamError):
            _ = events.result
    await gone(script)
    gc.collect()
    async with llm.stream("Hi") as events:
        assert [type(event) async for event in events] == [TextDelta, Finished]
    assert connections(script) == 2


async def test_before_the_last_event_of_a_body_that_has_ended(server: Server, kind: str) -> None:
    """Also where all bytes are here already, an answer not read to its end gives nothing back."""
    script = server.script(whole(*TOLD), whole(HELLO, STOP))
    llm = model_of(script, kind)
    async with llm.stream("Hi", functions=[{"name": "pick"}]) as events:
        await anext(events)
    async with llm.stream("Hi") as events:
        assert [type(event) async for event in events] == [TextDelta, Finished]
    assert len(script.log) == 2


@pytest.mark.parametrize("way", ["break", "raise", "return"])
async def test_by_any_way_out(server: Server, kind: str, way: str) -> None:
    """A `break`, an exception of the caller's, a `return`: all the same."""
    script = server.script([*sends(HELLO, WORLD), ["stall"]])
    llm = model_of(script, kind)

    async def leave() -> None:
        async with llm.stream("Hi") as events:
            async for _ in events:
                if way == "raise":
                    raise Stop
                if way == "return":
                    return
                break

    if way == "raise":
        with pytest.raises(Stop):
            await leave()
    else:
        await leave()
    await gone(script)
    gc.collect()


@pytest.mark.parametrize("when", ["opening", "first event", "later event", "own work"])
async def test_by_cancellation(server: Server, kind: str, when: str) -> None:
    """Wherever it hits, it goes through, and the connection is cut."""
    steps = {"opening": [["stall"]], "first event": [*sends(), ["stall"]]}
    script = server.script(steps.get(when, [*sends(HELLO), ["stall"]]))
    reached = anyio.Event()
    left: list[str] = []

    async def read() -> None:
        try:
            async with model_of(script, kind).stream("Hi") as events:
                if when in ("later event", "own work"):
                    await anext(events)
                reached.set()
                if when == "own work":
                    await anyio.sleep_forever()
                await anext(events)
        except anyio.get_cancelled_exc_class():
            left.append("cancelled")
            raise

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        if when == "opening":
            await until(lambda: len(script.log) == 1)
        else:
            await reached.wait()
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert left == ["cancelled"]
    await gone(script)
    gc.collect()


async def test_after_the_last_event(server: Server, kind: str) -> None:
    """Read to its end, the connection goes back, whether or not the iteration was exhausted."""
    script = server.script(whole(*TOLD))
    llm = model_of(script, kind)
    for exhausted in (True, False, True):
        async with llm.stream("Hi", functions=[{"name": "pick"}]) as events:
            async for event in events:
                if isinstance(event, Finished) and not exhausted:
                    break
            assert events.result.function_calls[0].input == {"a": 1}
    assert connections(script) == 1


async def test_a_stream_that_was_never_entered(server: Server, kind: str) -> None:
    """Nothing is sent, and nothing has to be closed."""
    script = server.script(whole(HELLO, STOP))
    stream = model_of(script, kind).stream("Hi")
    with pytest.raises(StreamError):
        await anext(stream)
    del stream
    gc.collect()
    assert script.log == []


async def test_a_stream_is_entered_once(server: Server, kind: str) -> None:
    """A second time is an error that says so."""
    script = server.script(whole(HELLO, STOP))
    stream = model_of(script, kind).stream("Hi")
    async with stream as events:
        assert [type(event) async for event in events] == [TextDelta, Finished]
    with pytest.raises(StreamError, match="once"):
        await stream.__aenter__()


async def test_many_left_at_once(server: Server, kind: str) -> None:
    """Every one of forty connections goes."""
    script = server.script([*sends(HELLO), ["stall"]])
    llm = model_of(script, kind)

    async def one() -> None:
        async with llm.stream("Hi") as events:
            await anext(events)

    async with anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(one)
    await until(lambda: all(entry["gone"] is not None for entry in script.log))
    assert len(script.log) == 40


# ---------------------------------------------------------------- through executors

PROMPT = create_chat_prompt().add_user_message("{{ input }}")


def executor_of(llm: Any) -> Any:
    return create_llm_function_executor(llm=llm, prompt=PROMPT)


async def test_an_executors_stream(server: Server, kind: str) -> None:
    """Left early, it cuts its connection as well."""
    script = server.script([*sends(HELLO, WORLD), ["stall"]])
    async with executor_of(model_of(script, kind)).stream("Hi") as events:
        assert await anext(events) == TextDelta(text="Hello")
    await gone(script)
    gc.collect()


async def test_the_stream_of_a_run(server: Server, kind: str) -> None:
    """Left early, it ends the run: the response is cut, a function that runs is cancelled."""
    cancelled: list[str] = []

    @tool
    async def pick(a: int) -> int:
        """Pick."""
        try:
            await anyio.sleep_forever()
        except BaseException:
            cancelled.append("pick")
            raise
        return a

    script = server.script([*sends(*TOLD[:4], piece(1, "", "pick")), ["stall"]])
    executor = executor_of(model_of(script, kind))
    async with executor.stream_run("Hi", functions=[pick], start_early=True) as events:
        async for event in events:
            if isinstance(event, FunctionUseStart) and event.index == 1:
                break
        await anyio.wait_all_tasks_blocked()
    await gone(script)
    assert cancelled == ["pick"]
    gc.collect()


async def test_a_run_whose_stream_breaks(server: Server, kind: str) -> None:
    """The function that was started early is cancelled, the one half received never starts."""
    started: list[int] = []
    cancelled: list[int] = []

    @tool
    async def pick(a: int) -> int:
        """Pick."""
        started.append(a)
        try:
            await anyio.sleep_forever()
        except BaseException:
            cancelled.append(a)
            raise
        return a

    broken = [["send", chunk(piece(1, '{"a": 2}', "pick"))], ["sleep", 0.3], ["close"]]
    script = server.script([["send", sse_head()], ["send", chunk("".join(TOLD[:4]))], *broken])
    with pytest.raises(StreamError):
        await executor_of(model_of(script, kind)).run("Hi", functions=[pick], start_early=True)
    assert started == [1]
    assert cancelled == [1]
    assert len(script.log) == 1


async def test_a_run_with_early_starts(server: Server, kind: str) -> None:
    """A function runs while the rest of its turn still comes."""
    order: list[str] = []
    ran = anyio.Event()

    @tool
    async def pick(a: int) -> int:
        """Pick."""
        order.append(f"pick {a}")
        ran.set()
        return a

    script = server.script(
        [*sends(*TOLD[:4], piece(1, "", "pick")), ["sleep", 0.3],
         ["send", chunk(piece(1, '{"a": 2}') + CALLED + DONE) + "0\r\n\r\n"]],
        whole(HELLO, STOP),
    )  # fmt: skip

    async def told(event: Any) -> None:
        if isinstance(event, Finished):
            order.append("finished")

    executor = executor_of(model_of(script, kind))
    done = await executor.run("Hi", functions=[pick], start_early=True, on_event=told)
    assert order[:2] == ["pick 1", "finished"]
    assert sorted(order) == ["finished", "finished", "pick 1", "pick 2"]
    assert done.output == "Hello"
    assert [result.content for result in done.results] == [1, 2]


async def test_a_read_that_is_cancelled_inside_the_block(server: Server, kind: str) -> None:
    """The connection is cut with it, not only when the block ends."""
    script = server.script([*sends(HELLO), ["stall"]])
    async with model_of(script, kind).stream("Hi") as events:
        assert await anext(events) == TextDelta(text="Hello")
        with anyio.move_on_after(0.1):
            await anext(events)
        await gone(script)
        with pytest.raises(StreamError, match="interrupted"):
            await anext(events)


async def test_bytes_that_cannot_be_read_cut_the_connection(server: Server, kind: str) -> None:
    """So does a body that says it is compressed and is not."""
    head = sse_head(**{"content-encoding": "gzip"})
    script = server.script([["send", head + chunk("no gzip at all")], ["stall"]])
    async with model_of(script, kind).stream("Hi") as events:
        with pytest.raises(ResponseDecodeError, match="decompressed"):
            await anext(events)
        await gone(script)
