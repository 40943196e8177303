"""Whoever cancels a run, at whatever moment, finds nothing left of it but a sound dialogue."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from dispatching.interrupting import cancel_at_every_step
from loop.scripted_server import HANG, Raw, Server, serving, sse

from llm_tools import (
    FunctionUseDone,
    OutputResultFunctionUse,
    RunLimitError,
    ScriptedLlm,
    StreamError,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    tool,
    use_llm,
)
from llm_tools.history import mend

pytestmark = pytest.mark.anyio


def executor_for(llm: Any) -> Any:
    prompt = create_chat_prompt("Be brief.").add_user_message("{{ input }}")
    return create_llm_function_executor(llm=llm, prompt=prompt)


def use(name: str, function_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": arguments, "functionId": function_id}


def check_sendable(dialogue: Any) -> None:
    """Every call has its result, in place: nothing would have to be mended."""
    _, warnings = mend(dialogue.history, strict=True)
    assert warnings == ()


class Inside:
    """How many functions run."""

    count = 0

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        self.count -= 1


async def test_a_run_over_a_fake() -> None:
    """Two rounds of calls and a text, over hooks that wait; what was written down is whole."""
    inside = Inside()

    @tool(group="run cancellation")
    async def look(key: str) -> str:
        """Look it up."""
        with inside:
            await checkpoint()
        return f"{key}!"

    async def answer(seen: Any) -> Any:
        await checkpoint()
        last = [m for m in seen.messages if m.role == "function"]
        if len(last) == 4:
            return "done"
        return [use("look", f"c{len(last)}", key="a"), use("look", f"c{len(last) + 1}", key="b")]

    async def approve(_: Any) -> bool:
        await checkpoint()
        return True

    async def hook(*_: Any) -> None:
        await checkpoint()

    dialogues = []
    for streamed in (False, True):
        executor = executor_for(ScriptedLlm(answer))
        executor.on("on_turn", hook).on("on_function", hook)

        async def work(executor: Any = executor, streamed: bool = streamed) -> None:
            dialogues.append(create_dialogue("d"))
            done = await executor.run(
                {"input": "q"},
                functions=[look],
                dialogue=dialogues[-1],
                approve=approve,
                start_early=streamed,
                max_seconds=60,
            )
            assert done.output == "done"

        async def nothing_is_left(_: bool, executor: Any = executor) -> None:
            assert inside.count == 0
            dialogue = dialogues[-1]
            check_sendable(dialogue)
            if not dialogue.history or dialogue.history[-1].role != "assistant":
                again = await executor.run({"input": "q"}, functions=[look], dialogue=dialogue)
                assert again.output == "done"
                roles = [message.role for message in dialogue.history]
                assert roles.count("user") == 1
                assert roles.count("function") == 4

        assert await cancel_at_every_step(work, nothing_is_left) > 10


def call_chunk(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    call = {"index": index, "function": function}
    return chunk({"tool_calls": [call | ({"id": f"call_{index}"} if name else {})]})


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def two_calls(*between: Any) -> Raw:
    """A streamed answer of two calls; `between` comes when the first is complete."""
    return Raw(
        sse(
            chunk({"role": "assistant", "content": "Let me see."}),
            call_chunk(0, "", "look"),
            call_chunk(0, '{"key": "a"}'),
            call_chunk(1, "", "look"),
            *between,
            call_chunk(1, '{"key": "b"}'),
            chunk({}, "tool_calls"),
            "[DONE]",
        )
    )


def said(text: str) -> Raw:
    return Raw(sse(chunk({"content": text}), chunk({}, "stop"), "[DONE]"))


def local(server: Server, **options: Any) -> Any:
    return use_llm("openai.gpt-4o-mini", api_key="k", base_url=f"{server.url}/v1", **options)


def two_calls_at_once() -> Any:
    """The same answer whole."""
    calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "look", "arguments": '{"key": "a"}'},
        }
        for n in range(2)
    ]
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": calls}
    return whole(message, "tool_calls")


def whole(message: dict[str, Any], reason: str) -> Any:
    answer = chunk({}, reason)
    answer["object"] = "chat.completion"
    answer["choices"] = [{"index": 0, "message": message, "finish_reason": reason}]
    return answer


@pytest.mark.parametrize("transport", ["httpx", "fast"])
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_run_over_sockets(transport: str, streamed: bool) -> None:
    """Functions that started are stopped, connections closed, at every step."""
    inside = Inside()
    started = threading.Event()

    @tool
    async def look(key: str) -> str:
        """Look it up."""
        with inside:
            started.set()
            await checkpoint()
        return f"{key}!"

    def until_started() -> bytes:
        assert started.wait(30)
        return b""

    def answer(request: Any) -> Any:
        """Streamed, the first call runs while the rest of the answer waits for it."""
        if any(message["role"] == "tool" for message in request.body["messages"]):
            done = whole({"role": "assistant", "content": "done"}, "stop")
            return said("done") if streamed else done
        return two_calls(until_started) if streamed else two_calls_at_once()

    with serving(*[answer] * 5_000) as server:
        dialogue: Any = None

        async def work() -> None:
            nonlocal dialogue
            dialogue = create_dialogue("d")
            async with local(server, transport=transport) as llm:
                done = await executor_for(llm).run(
                    {"input": "q"}, functions=[look], dialogue=dialogue, start_early=streamed
                )
            assert done.output == "done"

        async def nothing_is_left(_: bool) -> None:
            assert inside.count == 0
            started.set()
            await server.reaches(lambda server: server.connections == 0)
            started.clear()
            check_sendable(dialogue)

        assert await cancel_at_every_step(work, nothing_is_left) > 5


class TestBrokenStreams:
    """A stream that breaks takes the functions it started with it, and forgets none that ran."""

    async def test_the_round_is_kept_as_far_as_it_came(self) -> None:
        """Text, the call that was made and its result; not the call that was half received."""
        ran = threading.Event()

        @tool
        async def look(key: str) -> str:
            """Look it up."""
            ran.set()
            return f"{key}!"

        def until_it_ran() -> bytes:
            assert ran.wait(30)
            raise ConnectionError

        with serving(two_calls(until_it_ran), said("done")) as server:
            async with local(server) as llm:
                executor = executor_for(llm)
                dialogue = create_dialogue("d")
                with pytest.raises(StreamError) as caught:
                    await executor.run(
                        {"input": "q"}, functions=[look], dialogue=dialogue, start_early=True
                    )
                assert [r.content for r in caught.value.result.results] == ["a!"]
                user, assistant, result = dialogue.history
                assert (user.content, result.content) == ("q", "a!")
                assert [type(part).__name__ for part in assistant.content] == [
                    "OutputResultText",
                    "OutputResultFunctionUse",
                ]
                assert assistant.content[1].input == {"key": "a"}
                check_sendable(dialogue)
                again = await executor.run(
                    {"input": "q"}, functions=[look], dialogue=dialogue, start_early=True
                )
        assert again.output == "done"
        assert [m["role"] for m in server.bodies[1]["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
        ]

    async def test_a_stream_that_broke_before_anything_ran_leaves_no_trace(self) -> None:
        """The same request can be made again."""
        parts = [{"type": "text", "text": "Let me"}, StreamError("broken")]
        executor = executor_for(ScriptedLlm([parts, "done"]))
        dialogue = create_dialogue("d")
        with pytest.raises(StreamError):
            await executor.run("q", functions=[], dialogue=dialogue, start_early=True)
        assert dialogue.history == ()
        done = await executor.run("q", functions=[], dialogue=dialogue, start_early=True)
        assert (done.output, len(dialogue.history)) == ("done", 2)

    async def test_a_model_that_does_not_say_what_had_come(self) -> None:
        """The calls that were made are kept all the same."""

        class Events:
            """Two calls, the first of them complete; then it breaks."""

            def __init__(self) -> None:
                call = OutputResultFunctionUse(name="look", input={"key": "a"}, function_id="c1")
                self._left = iter([FunctionUseDone(index=0, function_use=call)])

            async def __aenter__(self) -> Any:
                return self

            async def __aexit__(self, *_: object) -> None: ...

            def __aiter__(self) -> Any:
                return self

            async def __anext__(self) -> Any:
                for event in self._left:
                    return event
                await ran.wait()
                raise ConnectionResetError("gone")

            @property
            def result(self) -> Any:
                raise StreamError("not yet")

        class Model:
            """Somebody else's model."""

            def stream(self, *_: Any, **__: Any) -> Any:
                return Events()

            async def call(self, *_: Any, **__: Any) -> Any: ...

            def with_options(self, **_: Any) -> Any: ...

        ran = anyio.Event()

        @tool
        async def look(key: str) -> str:
            """Look it up."""
            ran.set()
            return f"{key}!"

        dialogue = create_dialogue("d")
        with pytest.raises(ConnectionResetError) as caught:
            await executor_for(Model()).run(
                "q", functions=[look], dialogue=dialogue, start_early=True
            )
        assert [r.content for r in caught.value.result.results] == ["a!"]  # type: ignore[attr-defined]
        assert [m.role for m in dialogue.history] == ["user", "assistant", "function"]

    async def test_what_runs_is_cancelled(self) -> None:
        """The model is told that it was not completed."""
        stopped = anyio.Event()

        @tool
        async def hang() -> None:
            """Hang."""
            try:
                await anyio.sleep_forever()
            finally:
                stopped.set()

        parts = [use("hang", "c1"), use("hang", "c2"), StreamError("broken")]
        dialogue = create_dialogue("d")
        with pytest.raises(StreamError):
            await executor_for(ScriptedLlm([parts])).run(
                "q", functions=[hang], dialogue=dialogue, start_early=True
            )
        assert stopped.is_set()
        assert [m.role for m in dialogue.history] == ["user", "assistant", "function"]
        assert dialogue.history[-1].content == "The call was not completed."


async def test_the_clock_stops_a_stream_that_stands_still() -> None:
    """`max_seconds` closes its connection; the call that was made is kept."""

    @tool
    async def look(key: str) -> str:
        """Look it up."""
        return f"{key}!"

    with serving(two_calls(HANG)) as server:
        async with local(server) as llm:
            with pytest.raises(RunLimitError, match="max_seconds") as caught:
                await executor_for(llm).run("q", functions=[look], start_early=True, max_seconds=1)
            await server.reaches(lambda server: server.streaming == 0)
    assert [r.content for r in caught.value.result.results] == ["a!"]
    check_sendable(caught.value.result.dialogue)


async def test_a_reader_who_leaves_closes_the_connection() -> None:
    """`stream_run` ends with its block."""

    @tool
    async def look(key: str) -> str:
        """Look it up."""
        await anyio.sleep_forever()
        return key

    with serving(two_calls(HANG)) as server:
        async with local(server) as llm:
            async with executor_for(llm).stream_run(
                "q", functions=[look], start_early=True
            ) as events:
                async for event in events:
                    if isinstance(event, FunctionUseDone):
                        break
            await server.reaches(lambda server: server.streaming == 0)
    with pytest.raises(StreamError, match="The run has not ended"):
        _ = events.result


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("how", ["cancel", "wait_for", "timeout"])
async def test_asyncio_s_own_ways_to_cancel(how: str) -> None:
    """A task cancelled from outside, and both of asyncio's timeouts."""
    running = asyncio.Event()
    stopped: list[str] = []

    @tool(group=f"cancelled by {how}")
    async def grouped(key: str) -> None:
        """Run alone in its group."""
        await hang(key)

    @tool
    async def hang(key: str) -> None:
        """Hang."""
        running.set()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(key)

    names = ["hang", "grouped", "grouped"]
    calls = [use(name, f"c{n}", key=f"c{n}") for n, name in enumerate(names)]
    executor = executor_for(ScriptedLlm([calls, "done"]))
    dialogue, before = create_dialogue("d"), asyncio.all_tasks()
    work = executor.run({"input": "q"}, functions=[hang, grouped], dialogue=dialogue)
    if how == "cancel":
        task = asyncio.create_task(work)
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    elif how == "wait_for":
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(work, 0.2)
    else:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await work
    assert sorted(stopped) == ["c0", "c1"]
    assert asyncio.all_tasks() == before
    check_sendable(dialogue)
    again = await executor.run({"input": "q"}, functions=[hang, grouped], dialogue=dialogue)
    assert again.output == "done"
