"""What type checkers infer of executors, runs and dispatch.

Read by mypy and pyright; run by pytest only to see that the names are there.
"""

from __future__ import annotations

from typing import Any, assert_type

from msgspec import Struct

from llm_tools import (
    DEFER,
    Edited,
    PendingRun,
    RefusalError,
    Refused,
    RunLimitError,
    ScriptedLlm,
    UnmetFunctionCallError,
    create_callable_executor,
    create_chat_prompt,
    create_core_executor,
    create_dialogue,
    create_llm_executor,
    create_llm_function_executor,
    create_parser,
    dispatch,
    guards,
    tool,
    use_executors,
    use_llm,
)
from llm_tools.content import (
    FunctionResult,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
    RunResult,
    StreamEvent,
    TextDelta,
    Usage,
)
from llm_tools.dialogue import Dialogue
from llm_tools.dispatching import Decision
from llm_tools.executors import (
    CoreExecutor,
    ExecutionMetadata,
    LlmExecutor,
    LlmExecutorOpenAiFunctions,
    LlmExecutorWithFunctions,
    RunStream,
)
from llm_tools.model import Events


class Person(Struct):
    """A type for the JSON parser."""

    name: str


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def plain(a: int) -> int:
    """A typed function without a decorator."""
    return a


PLAIN: dict[str, Any] = {"name": "f", "description": "A definition."}


def executors_know_their_output() -> None:
    """The parser's type, a string by default; whatever stands for the model."""
    llm, prompt = use_llm("openai.gpt-4o-mini"), create_chat_prompt()
    assert_type(create_llm_executor(llm=llm, prompt=prompt), LlmExecutor[str])
    assert_type(create_llm_executor(llm=ScriptedLlm([]), prompt="hi"), LlmExecutor[str])
    assert_type(
        create_llm_executor(
            llm=llm, prompt=lambda value: f"{value}", parser=create_parser("json", schema=Person)
        ),
        LlmExecutor[Person],
    )
    assert_type(create_llm_function_executor(llm=llm, prompt=prompt), LlmExecutorWithFunctions[str])
    assert_type(
        create_llm_function_executor(
            llm=use_llm(["openai.gpt-4o-mini", "groq.llama-3.3-70b-versatile"]),
            prompt=prompt,
            parser=create_parser("boolean"),
        ),
        LlmExecutorWithFunctions[bool],
    )


async def execute_answers_by_what_it_is_given(
    text: LlmExecutorWithFunctions[str], person: LlmExecutorWithFunctions[Person]
) -> None:
    """Without functions the output alone; with them the output, or what the model called."""
    assert_type(await text.execute({"input": "x"}), str)
    assert_type(await person.execute(), Person)
    assert_type(await text.execute("x", json_schema=Person, llm_options={"seed": 1}), str)
    response = await person.execute("x", functions=[add], function_call="auto")
    assert_type(response, Person | list[OutputResultContent])
    if guards.has_function_call(response):
        assert_type(response, list[OutputResultContent])
    else:
        assert_type(response, Person)
    assert_type(
        await text.execute("x", functions=[PLAIN, plain], function_call={"names": ["f"]}),
        str | list[OutputResultContent],
    )
    assert_type(
        await text.execute("x", functions=use_executors([add]), function_call={"name": "add"}),
        str | list[OutputResultContent],
    )


async def call_and_stream_give_the_whole_answer(
    plain_one: LlmExecutor[Person], executor: LlmExecutorWithFunctions[Person]
) -> None:
    """Whatever the parser."""
    assert_type(await plain_one.call("x"), OutputResult)
    assert_type(await executor.call("x", functions=[add]), OutputResult)
    async with plain_one.stream("x") as events:
        assert_type(events, Events)
        async for event in events:
            assert_type(event, StreamEvent)
    async with executor.stream("x", functions=[add]) as events:
        assert_type(events.result, OutputResult)


async def runs_end_in_a_run_result(executor: LlmExecutorWithFunctions[str]) -> None:
    """Also resumed ones, and ones that are watched."""
    done = await executor.run(
        "x",
        functions=[add],
        function_call=lambda turn: "any" if turn == 0 else None,
        dialogue=create_dialogue("d"),
        max_turns=3,
        max_seconds=1.5,
        approve=lambda call: call.name == "add" or Refused("no"),
        on_event=print,
    )
    assert_type(done, RunResult)
    assert_type(done.dialogue, Dialogue)
    assert_type(done.results, tuple[FunctionResult, ...])
    assert_type(done.usage, Usage)
    assert_type(done.pending, PendingRun | None)
    if done.pending is not None:
        decisions: dict[str, Decision | FunctionResult] = {
            call.function_id: True for call in done.pending.waiting
        }
        assert_type(
            await executor.resume(done.pending, decisions=decisions, functions=[add]), RunResult
        )
        assert_type(PendingRun.from_json(done.pending.to_json()), PendingRun)
    async with executor.stream_run("x", functions=[add], max_turns=2) as run:
        assert_type(run, RunStream)
        async for event in run:
            assert_type(event, StreamEvent | FunctionResult)
            match event:
                case TextDelta(text=text):
                    assert_type(text, str)
                case FunctionResult(name=name):
                    assert_type(name, str)
        assert_type(run.result, RunResult)


def errors_hold_what_came(
    limit: RunLimitError, unmet: UnmetFunctionCallError, refusal: RefusalError
) -> None:
    """What an error always brings can be read without a question; out of a run it is the run."""
    assert_type(limit.result, RunResult | Any)
    assert_type(limit.result.dialogue, Dialogue | Any)
    assert_type(unmet.result.text, str | Any)
    assert_type(refusal.result.text, str | Any)


async def dispatch_takes_what_models_answer(
    result: OutputResult, call: OutputResultFunctionUse, content: list[OutputResultContent]
) -> None:
    """And functions in every form."""

    async def approve(one: OutputResultFunctionUse) -> Decision:
        return Edited({**one.input, "a": 1}) if one.name == "add" else DEFER

    assert_type(await dispatch(result, [add, plain]), list[FunctionResult])
    assert_type(await dispatch(call, use_executors([add])), list[FunctionResult])
    assert_type(await dispatch(content, [add], approve=approve, timeout=1), list[FunctionResult])
    assert_type(await dispatch([call], []), list[FunctionResult])


async def core_executors_wrap_functions() -> None:
    """Sync or async, the output is what the function comes to."""

    def count(value: str) -> int:
        return len(value)

    async def count_later(value: str) -> int:
        return len(value)

    assert_type(create_core_executor(count), CoreExecutor[int])
    assert_type(create_core_executor(count_later), CoreExecutor[int])
    assert_type(await create_core_executor(count_later).execute("x"), int)
    create_callable_executor(name="count", handler=create_core_executor(count))


def hooks_are_added_in_a_row(executor: LlmExecutorWithFunctions[Person]) -> None:
    """The methods return what they were called on; a function is sync or async."""

    async def later(output: Any, metadata: ExecutionMetadata) -> None:
        assert_type(metadata.duration, float | None)

    assert_type(
        executor.on("on_success", later).once("on_complete", print).off("on_complete", print),
        LlmExecutorWithFunctions[Person],
    )


def the_old_name_is_the_new_one(executor: LlmExecutorOpenAiFunctions[str]) -> None:
    """Wherever an executor with functions is wanted."""
    new: LlmExecutorWithFunctions[str] = executor
    old: LlmExecutor[str] = new
    assert_type(old.name, str)


def test_the_names_are_there() -> None:
    """The rest of this file is for type checkers."""
    assert issubclass(LlmExecutorOpenAiFunctions, LlmExecutorWithFunctions)
    assert issubclass(LlmExecutorWithFunctions, LlmExecutor)
