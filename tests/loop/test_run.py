"""`executor.run`: call, dispatch, reply, until text; and every way it may end before."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from llm_tools import (
    ConfigurationError,
    FunctionResult,
    FunctionUseDone,
    OutputResult,
    OutputResultRefusal,
    OutputResultText,
    ParserError,
    RateLimitError,
    RefusalError,
    ResponseDecodeError,
    RunLimitError,
    RunResult,
    ScriptedLlm,
    StreamError,
    TextDelta,
    Usage,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    create_parser,
    tool,
)

pytestmark = pytest.mark.anyio


def use(name: str, function_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": arguments, "functionId": function_id}


def executor_of(*answers: Any) -> tuple[Any, ScriptedLlm]:
    llm = ScriptedLlm(answers)
    prompt = create_chat_prompt("Be brief.").add_user_message("{{ input }}")
    return create_llm_function_executor(llm=llm, prompt=prompt), llm


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(repeatable=True)
def poll() -> str:
    """Look again."""
    return "not yet"


def roles(dialogue: Any) -> list[str]:
    return [message.role for message in dialogue.history]


async def test_a_run_to_its_text() -> None:
    """Two calls side by side, their results, then text; usage summed, results flat."""
    executor, llm = executor_of([use("add", "c1", a=1, b=2), use("add", "c2", a=3, b=4)], "3 and 7")
    done = await executor.run({"input": "add"}, functions=[add])
    assert done.output == "3 and 7"
    assert done.turns == 2
    assert done.usage == Usage(input_tokens=2, output_tokens=2)
    assert [(r.function_id, r.content) for r in done.results] == [("c1", 3), ("c2", 7)]
    assert roles(done.dialogue) == ["user", "assistant", "function", "function", "assistant"]
    assert done.pending is None
    assert [m.role for m in llm.calls[1].messages] == [
        "system",
        "user",
        "assistant",
        "function",
        "function",
    ]


@pytest.mark.parametrize(
    ("given", "first", "then"),
    [
        ("any", "any", "auto"),
        ("add", "add", "auto"),
        ({"name": "add"}, {"name": "add"}, "auto"),
        ({"names": ["add", "poll"]}, {"names": ["add", "poll"]}, {"names": ["add", "poll"], "mode": "auto"}),
        ({"names": ["add"], "mode": "auto"}, {"names": ["add"], "mode": "auto"}, {"names": ["add"], "mode": "auto"}),
        ("auto", "auto", "auto"),
        (None, None, None),
    ],
)  # fmt: skip
async def test_a_forced_call_holds_for_the_first_turn(given: Any, first: Any, then: Any) -> None:
    """Later turns are free to answer, within the subset."""
    executor, llm = executor_of(use("add", "c1", a=1, b=2), "done")
    await executor.run("x", functions=[add, poll], function_call=given)
    assert [call.function_call for call in llm.calls] == [first, then]


async def test_function_call_may_be_a_function_of_the_turn() -> None:
    """It is asked with the turn's number, from 0."""
    executor, llm = executor_of(use("add", "c1", a=1, b=2), use("poll", "c2"), "done")
    choose = ["add", "poll", "none"].__getitem__
    await executor.run("x", functions=[add, poll], function_call=choose)
    assert [call.function_call for call in llm.calls] == ["add", "poll", "none"]


async def test_only_the_turn_s_subset_runs() -> None:
    """A call outside it is answered as unknown, whatever else is there."""
    executor, _ = executor_of([use("poll", "c1"), use("add", "c2", a=1, b=1)], "done")
    done = await executor.run(
        "x", functions=[add, poll], function_call={"names": ["add"], "mode": "auto"}
    )
    assert [(r.name, r.is_error) for r in done.results] == [("poll", True), ("add", False)]
    assert done.results[0].content == "There is no function 'poll'. Available functions: add."


async def test_nothing_runs_under_none() -> None:
    """A call that comes anyway is answered, and the run goes on."""
    ran = []

    @tool
    def touch() -> None:
        """Leave a mark."""
        ran.append(1)

    executor, _ = executor_of(use("touch", "c1"), "fine")
    done = await executor.run("x", functions=[touch], function_call="none")
    assert done.output == "fine"
    assert ran == []
    assert done.results[0].is_error


async def test_the_last_turn_s_calls_are_still_made() -> None:
    """After `max_turns` the dialogue can be continued where it stopped."""
    executor, llm = executor_of(use("add", "c1", a=1, b=2), use("add", "c2", a=2, b=2), "it was 4")
    with pytest.raises(RunLimitError, match="max_turns=2") as caught:
        await executor.run({"input": "q"}, functions=[add], max_turns=2)
    stopped = caught.value.result
    assert isinstance(stopped, RunResult)
    assert [r.content for r in stopped.results] == [3, 4]
    assert stopped.turns == 2
    done = await executor.run({"input": "q"}, functions=[add], dialogue=stopped.dialogue)
    assert done.output == "it was 4"
    assert [m.role for m in llm.calls[2].messages].count("user") == 1


async def test_a_new_question_in_an_old_dialogue_comes_last() -> None:
    """The prompt's instructions lead, the dialogue follows, the new turn ends it."""
    executor, llm = executor_of("one", "two")
    dialogue = create_dialogue("chat")
    await executor.run({"input": "first?"}, functions=[add], dialogue=dialogue)
    await executor.run({"input": "second?"}, functions=[add], dialogue=dialogue)
    assert [m.role for m in llm.calls[1].messages] == ["system", "user", "assistant", "user"]
    assert llm.calls[1].messages[-1].content == "second?"
    assert roles(dialogue) == ["user", "assistant", "user", "assistant"]


async def test_tokens_are_counted_after_each_turn() -> None:
    """The turn that passes the limit is still answered."""
    executor, _ = executor_of(use("add", "c1", a=1, b=2), "never")
    with pytest.raises(RunLimitError, match="max_total_tokens=1 is reached") as caught:
        await executor.run("x", functions=[add], max_total_tokens=1)
    assert roles(caught.value.result.dialogue) == ["user", "assistant", "function"]


async def test_seconds_cancel_what_is_in_flight() -> None:
    """The round ends with what there is; the rest is "not completed"."""
    stopped = anyio.Event()

    @tool
    async def hang() -> None:
        """Hang."""
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    executor, _ = executor_of([use("add", "c1", a=1, b=2), use("hang", "c2")])
    with pytest.raises(RunLimitError, match="max_seconds") as caught:
        await executor.run("x", functions=[add, hang], max_seconds=0.2)
    assert stopped.is_set()
    results = caught.value.result.results
    assert [(r.function_id, r.is_error) for r in results] == [("c1", False), ("c2", True)]
    assert "not completed" in results[1].content
    assert roles(caught.value.result.dialogue) == ["user", "assistant", "function", "function"]


async def test_calls_per_function_are_limited() -> None:
    """The call too many is answered, not run, and the run stops."""
    executor, _ = executor_of([use("add", "c1", a=1, b=2), use("add", "c2", a=1, b=3)], "never")
    with pytest.raises(RunLimitError, match="max_calls_per_function=1") as caught:
        await executor.run("x", functions=[add], max_calls_per_function=1)
    assert [(r.function_id, r.is_error) for r in caught.value.result.results] == [
        ("c1", False),
        ("c2", True),
    ]


async def test_a_model_that_repeats_itself_is_stopped() -> None:
    """Three calls alike in name, input and result end the run; key order does not matter."""
    executor, llm = executor_of(
        {"type": "function_use", "name": "add", "input": {"a": 1, "b": 2}},
        {"type": "function_use", "name": "add", "input": {"b": 2, "a": 1}},
        {"type": "function_use", "name": "add", "input": {"a": 1, "b": 2}},
        "never",
    )
    with pytest.raises(RunLimitError, match="'add' was called alike three times"):
        await executor.run("x", functions=[add])
    assert len(llm.calls) == 3


async def test_polling_is_allowed_where_it_is_said() -> None:
    """`repeatable=True` turns the watch off for one function."""
    executor, _ = executor_of(*[use("poll", f"c{n}") for n in range(5)], "done")
    done = await executor.run("x", functions=[poll])
    assert done.output == "done"


async def test_the_same_call_with_another_result_is_no_repetition() -> None:
    """Progress is progress."""
    seen = []

    @tool
    def next_page() -> int:
        """Turn the page."""
        seen.append(1)
        return len(seen)

    executor, _ = executor_of(*[use("next_page", f"c{n}") for n in range(5)], "done")
    assert (await executor.run("x", functions=[next_page])).output == "done"


async def test_idempotent_calls_are_made_once() -> None:
    """Equal inputs share one execution, side by side and in later turns."""
    ran = []

    @tool(idempotent=True)
    async def look(key: str) -> str:
        """Look it up."""
        ran.append(key)
        await anyio.lowlevel.checkpoint()
        return f"{key}!"

    executor, _ = executor_of(
        [use("look", "c1", key="a"), use("look", "c2", key="a"), use("look", "c3", key="b")],
        use("look", "c4", key="a"),
        "done",
    )
    done = await executor.run("x", functions=[look])
    assert ran == ["a", "b"]
    assert [(r.function_id, r.content) for r in done.results] == [
        ("c1", "a!"),
        ("c2", "a!"),
        ("c3", "b!"),
        ("c4", "a!"),
    ]


async def test_an_error_of_the_provider_carries_what_was_done() -> None:
    """The dialogue holds the whole rounds so far and can be continued."""
    executor, _ = executor_of(
        use("add", "c1", a=1, b=2), RateLimitError("slow down", retry_after=3), "3"
    )
    dialogue = create_dialogue("d")
    with pytest.raises(RateLimitError) as caught:
        await executor.run({"input": "q"}, functions=[add], dialogue=dialogue)
    assert caught.value.retry_after == 3
    assert isinstance(caught.value.result, RunResult)
    assert roles(dialogue) == ["user", "assistant", "function"]
    done = await executor.run({"input": "q"}, functions=[add], dialogue=dialogue)
    assert done.output == "3"


async def test_cancellation_writes_the_round_down() -> None:
    """The assistant's turn is kept, with results or "not completed" for each of its calls."""
    running = anyio.Event()

    @tool
    async def hang() -> None:
        """Hang."""
        running.set()
        await anyio.sleep_forever()

    executor, _ = executor_of([use("add", "c1", a=1, b=2), use("hang", "c2")])
    dialogue = create_dialogue("d")
    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            await executor.run("x", functions=[add, hang], dialogue=dialogue)

        tasks.start_soon(work)
        await running.wait()
        tasks.cancel_scope.cancel()
    assert roles(dialogue) == ["user", "assistant", "function", "function"]
    assert [m.is_error for m in dialogue.history[2:]] == [False, True]


async def test_refusals_and_empty_answers_end_the_run_as_errors() -> None:
    """With what was done as their result."""
    refusal = OutputResult(
        id="r", name="m", created=0, usage=None, stop_reason="refusal",
        content=(OutputResultRefusal(text="No."),),
    )  # fmt: skip
    executor, _ = executor_of(use("add", "c1", a=1, b=2), refusal)
    with pytest.raises(RefusalError) as refused:
        await executor.run("x", functions=[add])
    assert [r.content for r in refused.value.result.results] == [3]
    assert refused.value.result.output == refusal
    executor, _ = executor_of([])
    with pytest.raises(ResponseDecodeError) as empty:
        await executor.run("x", functions=[add])
    assert empty.value.retryable


async def test_a_pause_is_continued() -> None:
    """The provider asked to be called again with what it said."""
    paused = OutputResult(
        id="r", name="m", created=0, usage=None, stop_reason="pause",
        content=(OutputResultText(text="wait"),),
    )  # fmt: skip
    executor, llm = executor_of(paused, "done")
    done = await executor.run("x", functions=[add])
    assert done.output == "done"
    assert [m.role for m in llm.calls[1].messages] == ["system", "user", "assistant"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_schema_is_for_the_final_text(streamed: bool) -> None:
    """It goes out with every turn; the text is held to it and parsed."""
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    llm = ScriptedLlm([use("add", "c1", a=1, b=2), '{"sum": 3}', use("add", "c2", a=1, b=2), "3"])
    executor: Any = create_llm_function_executor(llm=llm, prompt="go", parser=create_parser("json"))
    options = {"functions": [add], "json_schema": schema, "start_early": streamed}
    done = await executor.run(**options)
    assert done.output == {"sum": 3}
    with pytest.raises(ParserError) as caught:
        await executor.run(**options)
    assert caught.value.text == "3"
    assert [r.content for r in caught.value.result.results] == [3]
    assert [call.json_schema for call in llm.calls] == [schema] * 4


async def test_functions_without_python_are_refused_before_any_request() -> None:
    """A definition alone cannot be run."""
    executor, llm = executor_of("never")
    with pytest.raises(ConfigurationError, match="needs a Python function behind f"):
        await executor.run("x", functions=[{"name": "f", "description": "d"}])
    assert llm.calls == []


async def test_hooks_see_turns_and_functions() -> None:
    """And a failing one breaks nothing."""
    executor, _ = executor_of(use("add", "c1", a=1, b=2), "done")
    seen: list[Any] = []

    async def on_turn(turn: int, result: Any, metadata: Any) -> None:
        seen.append((turn, result.stop_reason))

    def on_function(result: Any, metadata: Any) -> None:
        seen.append((result.name, result.content))
        raise RuntimeError("a hook's own trouble")

    executor.on("on_turn", on_turn).on("on_function", on_function)
    executor.on("on_success", lambda output, metadata: seen.append(output.output))
    await executor.run("x", functions=[add])
    assert seen == [(1, "function_use"), ("add", 3), (2, "stop"), "done"]


class TestEvents:
    """A run that tells what it does while it does it."""

    async def test_events_of_every_turn_and_results(self) -> None:
        """Through a callback, or as an async iterator; both end in the same result."""
        parts = [{"type": "text", "text": "Adding."}, use("add", "c1", a=1, b=2)]
        executor, _ = executor_of(parts, "3")
        seen: list[Any] = []
        done = await executor.run("x", functions=[add], on_event=seen.append)
        executor, _ = executor_of(parts, "3")
        streamed = []
        async with executor.stream_run("x", functions=[add]) as events:
            async for event in events:
                streamed.append(event)
        assert done.output == events.result.output == "3"
        assert [type(event).__name__ for event in streamed] == [
            "TextDelta",
            "FunctionUseStart",
            "FunctionInputDelta",
            "FunctionUseDone",
            "Finished",
            "FunctionResult",
            "TextDelta",
            "Finished",
        ]
        assert [type(event) for event in seen] == [type(event) for event in streamed]
        assert streamed[0] == TextDelta(text="Adding.")

    @pytest.mark.parametrize("through", ["on_event", "on_function"])
    async def test_results_are_told_as_they_come(self, through: str) -> None:
        """Also those of calls that never run; the slow one waits until it has heard of the rest."""
        told: list[Any] = []
        others = anyio.Event()

        @tool
        async def slow() -> str:
            """Be slow."""
            await others.wait()
            return "slow"

        async def hear(event: Any, *_: Any) -> None:
            if isinstance(event, FunctionResult):
                told.append((event.function_id, event.is_error))
                await anyio.lowlevel.checkpoint()
                if len(told) == 3:
                    others.set()

        calls = [use("slow", "c1"), use("add", "c2", a=1, b=2), use("nobody", "c3")]
        executor, _ = executor_of([*calls, use("add", "c4", a=3, b=4)])
        options: Any = {}
        if through == "on_event":
            options["on_event"] = hear
        else:
            executor.on("on_function", hear)
        with anyio.fail_after(10), pytest.raises(RunLimitError) as caught:
            await executor.run("x", functions=[slow, add], max_calls_per_function=1, **options)
        assert sorted(told) == [("c1", False), ("c2", False), ("c3", True), ("c4", True)]
        assert told[-1] == ("c1", False)
        assert [r.function_id for r in caught.value.result.results] == ["c1", "c2", "c3", "c4"]

    async def test_errors_reach_the_reader(self) -> None:
        """As themselves, not in a group."""
        executor, _ = executor_of(RateLimitError("slow down"))
        with pytest.raises(RateLimitError):
            async with executor.stream_run("x", functions=[add]) as events:
                async for _ in events:
                    pass

    async def test_leaving_early_ends_the_run(self) -> None:
        """What was started is cancelled."""
        running, stopped = anyio.Event(), anyio.Event()

        @tool
        async def hang() -> None:
            """Hang."""
            running.set()
            try:
                await anyio.sleep_forever()
            finally:
                stopped.set()

        executor, _ = executor_of(use("hang", "c1"))
        with anyio.fail_after(10):
            async with executor.stream_run("x", functions=[hang], start_early=True) as events:
                async for event in events:
                    if isinstance(event, FunctionUseDone):
                        await running.wait()
                        break
        assert stopped.is_set()

    async def test_a_reader_s_own_error_leaves_as_itself(self) -> None:
        """No exception group around it."""
        executor, _ = executor_of("hello")
        with pytest.raises(KeyError):
            async with executor.stream_run("x", functions=[add]) as events:
                async for _ in events:
                    raise KeyError("mine")

    async def test_the_result_comes_last(self) -> None:
        """Before the end there is none."""
        executor, _ = executor_of("hello")
        async with executor.stream_run("x", functions=[add]) as events:
            with pytest.raises(StreamError):
                _ = events.result
            async for _ in events:
                pass
        assert events.result.output == "hello"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"dialogue": []}, "create_dialogue"),
        ({"dialogue": "chat"}, "got str"),
        ({"approve": True}, "approve must be a function"),
        ({"on_event": 5}, "on_event must be a function"),
    ],
)
async def test_what_run_cannot_take_is_refused_before_it_asks(
    wrong: dict[str, Any], complaint: str
) -> None:
    """A typed error that says what to give instead."""
    executor, llm = executor_of("never")
    with pytest.raises(ConfigurationError, match=complaint):
        await executor.run("hi", functions=[add], **wrong)
    assert llm.calls == []
