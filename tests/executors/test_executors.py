"""A handler, or a prompt with a model and a parser, behind one `execute`."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import Any, TypedDict

import anyio
import msgspec
import pytest

from llm_tools import (
    ConfigurationError,
    ContentFilterError,
    ExecutionMetadata,
    LlmExecutor,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    ParserError,
    PromptError,
    RefusalError,
    ResponseDecodeError,
    ScriptedLlm,
    ScriptedTransport,
    create_chat_prompt,
    create_core_executor,
    create_custom_parser,
    create_llm_executor,
    create_llm_function_executor,
    create_parser,
    create_prompt,
    use_llm,
)

pytestmark = pytest.mark.anyio

KEY = "sk-secret-of-mine"
both_kinds = pytest.mark.parametrize("make", [create_llm_executor, create_llm_function_executor])


def prompt() -> Any:
    return create_chat_prompt("You help {{ user }}.").add_user_message("{{ input }}")


VALUES = {"user": "Ada", "input": "Hello!"}


# ---------------------------------------------------------------- what goes in and comes out


async def test_a_core_executor_is_a_function_of_its_input() -> None:
    """Sync or async; what it raises passes through."""

    async def double(value: int) -> int:
        await anyio.lowlevel.checkpoint()
        return value * 2

    assert await create_core_executor(double).execute(4) == 8
    assert await create_core_executor(lambda value: value).execute() is None
    assert create_core_executor(double).name == "double"
    assert create_core_executor(double, name="twice").name == "twice"
    with pytest.raises(ZeroDivisionError):
        await create_core_executor(lambda value: 1 // value).execute(0)


@both_kinds
async def test_a_model_s_text_is_parsed(make: Any) -> None:
    """A string unless a parser makes something else of it."""
    llm = ScriptedLlm(["42", "42", "- a\n- b", "x"])
    assert await make(llm=llm, prompt=prompt()).execute(VALUES) == "42"
    number = make(llm=llm, prompt=prompt(), parser=create_parser("number"))
    assert await number.execute(VALUES) == 42
    items = make(llm=llm, prompt=prompt(), parser=create_parser("list_to_array"))
    assert await items.execute(VALUES) == ["a", "b"]
    shout = make(llm=llm, prompt=prompt(), parser=create_custom_parser("shout", str.upper))
    assert await shout.execute(VALUES) == "X"
    sent = [[(m.role, m.content) for m in call.messages] for call in llm.calls]
    assert sent == [[("system", "You help Ada."), ("user", "Hello!")]] * 4


@both_kinds
async def test_parsers_see_all_text_and_nothing_else(make: Any) -> None:
    """The parts joined, without reasoning."""
    parts = [
        OutputResultReasoning(text="think 7"),
        OutputResultText(text="4"),
        OutputResultText(text="2"),
    ]
    executor = make(llm=ScriptedLlm([parts]), prompt=prompt(), parser=create_parser("number"))
    assert await executor.execute(VALUES) == 42


@both_kinds
async def test_call_gives_the_whole_answer(make: Any) -> None:
    """Unparsed, with its content and reasons."""
    executor = make(llm=ScriptedLlm(["no number"]), prompt=prompt(), parser=create_parser("number"))
    result = await executor.call(VALUES)
    assert isinstance(result, OutputResult)
    assert result.content == (OutputResultText(text="no number"),)
    assert result.stop_reason == "stop"


@both_kinds
@pytest.mark.parametrize("given", ["{{ input }} is text", None])
async def test_what_a_prompt_may_be(make: Any, given: str | None) -> None:
    """A prompt, plain text (no template), or a function of the input, sync or async."""

    async def later(value: Any) -> Any:
        return create_prompt("text", f"for {value['user']}: {{{{ input }}}}")

    prompts = {
        given or "plain": "{{ input }} is text" if given else "plain",
        "Hello!": create_prompt("chat").add_user_message("{{ input }}"),
        "Ada": lambda value: value["user"],
        "for Ada: Hello!": later,
        "as messages": lambda _: [{"role": "user", "content": "as messages"}],
    }
    for text, source in prompts.items():
        llm = ScriptedLlm(["ok"])
        await make(llm=llm, prompt=source).execute(VALUES)
        assert [message.content for message in llm.calls[0].messages] == [text]


@both_kinds
@pytest.mark.parametrize("prompt", [None, 5, {"role": "user"}])
def test_what_no_prompt_is(make: Any, prompt: Any) -> None:
    """Refused when the executor is made."""
    with pytest.raises(ConfigurationError, match="is no prompt: use create_chat_prompt"):
        make(llm=ScriptedLlm([]), prompt=prompt)


@both_kinds
async def test_an_input_that_is_no_mapping_is_the_value_input(make: Any) -> None:
    """And one that lacks a value is refused by its name, before anything is sent."""
    llm = ScriptedLlm(["ok"])
    await make(llm=llm, prompt=create_chat_prompt().add_user_message("{{ input }}")).execute("Hi")
    assert llm.calls[0].messages[0].content == "Hi"
    with pytest.raises(PromptError, match="'user'"):
        await make(llm=llm, prompt=prompt()).execute({"input": "Hi"})
    assert len(llm.calls) == 1


# ---------------------------------------------------------------- schemas


class Person(msgspec.Struct):
    name: str


@dataclasses.dataclass
class Place:
    name: str


class Thing(TypedDict):
    name: str


@both_kinds
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (Person, Person(name="Ada")),
        (Place, Place(name="Ada")),
        (Thing, {"name": "Ada"}),
        (
            {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
            {"name": "Ada"},
        ),
    ],
    ids=str,
)
async def test_a_json_parser_sets_the_schema_of_the_call(
    make: Any, schema: Any, expected: Any
) -> None:
    """By itself, for both executors, also beside functions; and gives the type back."""
    transport = ScriptedTransport(
        [{"choices": [{"message": {"content": '{"name": "Ada"}'}, "finish_reason": "stop"}]}] * 2
    )
    llm = use_llm("openai.gpt-4o-mini", api_key=KEY, transport=transport)
    executor = make(llm=llm, prompt=prompt(), parser=create_parser("json", schema=schema))
    assert await executor.execute(VALUES) == expected
    if make is create_llm_function_executor:
        assert await executor.execute(VALUES, functions=[{"name": "f"}]) == expected
    for request in transport.requests:
        shape = request.body["response_format"]["json_schema"]["schema"]
        assert shape["properties"]["name"] == {"type": "string"}


@both_kinds
async def test_a_schema_of_the_call_stands_before_the_parser_s(make: Any) -> None:
    """What a caller says for one call holds."""
    llm = ScriptedLlm(['{"name": "Ada"}'])
    executor = make(llm=llm, prompt=prompt(), parser=create_parser("json", schema={"title": "A"}))
    await executor.execute(VALUES, json_schema={"title": "B"})
    assert llm.calls[0].json_schema == {"title": "B"}


# ---------------------------------------------------------------- answers that are none


@both_kinds
async def test_text_that_does_not_fit_keeps_the_answer(make: Any) -> None:
    """In a `ParserError` with text and result."""
    llm = ScriptedLlm(["no number"])
    with pytest.raises(ParserError) as caught:
        await make(llm=llm, prompt=prompt(), parser=create_parser("number")).execute(VALUES)
    assert caught.value.text == "no number"
    assert caught.value.result.content == (OutputResultText(text="no number"),)


@both_kinds
async def test_a_refusal_is_an_error_of_execute_alone(make: Any) -> None:
    """`call` returns it; so it is with what a filter stopped."""
    refused = [OutputResultRefusal(text="No.")]
    filtered = OutputResult(
        id="r", name="m", created=0, usage=None, stop_reason="content_filter",
        content=(OutputResultText(text="Bad"),), provider_stop_reason="SAFETY",
    )  # fmt: skip
    executor = make(llm=ScriptedLlm([refused, refused, filtered]), prompt=prompt())
    assert (await executor.call(VALUES)).stop_reason == "refusal"
    with pytest.raises(RefusalError) as refusal:
        await executor.execute(VALUES)
    assert refusal.value.result.content == (OutputResultRefusal(text="No."),)
    with pytest.raises(ContentFilterError) as stopped:
        await executor.execute(VALUES)
    assert (stopped.value.status, stopped.value.code) == (200, "SAFETY")
    assert stopped.value.result is not None


@both_kinds
async def test_an_answer_with_nothing_in_it_is_no_answer(make: Any) -> None:
    """Retryable, and the result is kept; an image is something."""
    image = OutputResultImage(data="aGk=", media_type="image/png")
    executor = make(
        llm=ScriptedLlm([[], [OutputResultReasoning(text="hm")], [image]]), prompt=prompt()
    )
    for _ in range(2):
        with pytest.raises(ResponseDecodeError) as caught:
            await executor.execute(VALUES)
        assert caught.value.retryable
        assert caught.value.result is not None
    assert await executor.execute(VALUES) == ""


# ---------------------------------------------------------------- hooks


async def test_hooks_are_told_in_order() -> None:
    """Sync and async ones; success or error, then completion, of one trace."""
    told: list[tuple[Any, ...]] = []

    async def success(output: Any, metadata: ExecutionMetadata) -> None:
        await anyio.lowlevel.checkpoint()
        told.append(("success", output, metadata))

    executor = create_llm_executor(
        llm=ScriptedLlm(["hi", ValueError("broken")]),
        prompt=prompt(),
        name="greeter",
        hooks={"on_success": success, "on_error": lambda *a: told.append(("error", *a))},
    )
    executor.on("on_complete", lambda metadata: told.append(("complete", metadata)))
    await executor.execute(VALUES, trace_id="t1")
    with pytest.raises(ValueError, match="broken"):
        await executor.execute(VALUES)
    assert [event[0] for event in told] == ["success", "complete", "error", "complete"]
    assert told[0][1] == "hi"
    assert str(told[2][1]) == "broken"
    metadata = [event[-1] for event in told]
    assert {m.executor for m in metadata} == {"greeter"}
    assert [m.trace_id for m in metadata[:2]] == ["t1", "t1"]
    assert metadata[2].trace_id == metadata[3].trace_id
    assert len(metadata[2].trace_id) == 32
    assert all(m.duration >= 0 for m in metadata)


async def test_hooks_come_and_go() -> None:
    """`once` a single time, `off` no more; the methods return the executor."""
    told: list[str] = []

    def always(*_: Any) -> None:
        told.append("always")

    executor = create_core_executor(str)
    assert executor.on("on_success", always).once("on_success", lambda *_: told.append("once"))
    await executor.execute(1)
    await executor.execute(2)
    assert executor.off("on_success", always) is executor
    assert executor.off("on_error", always) is executor
    await executor.execute(3)
    assert told == ["always", "once", "always"]
    with pytest.raises(ConfigurationError, match="on_complete, on_error"):
        executor.on("on_sucess", always)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(ConfigurationError, match="cannot be called"):
        executor.on("on_success", "no function")  # type: ignore[arg-type]  # what is tested


async def test_a_hook_that_fails_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged; the others are still told, and the output is what it was."""
    told: list[Any] = []

    def broken(*_: Any) -> None:
        raise RuntimeError("in a hook")

    async def broken_later(*_: Any) -> None:
        raise RuntimeError("in a hook")

    hooks = {"on_success": [broken, broken_later, lambda output, _: told.append(output)]}
    executor = create_core_executor(str, hooks=hooks)
    with caplog.at_level(logging.ERROR, "llm_tools.executors"):
        assert await executor.execute(1) == "1"
    assert told == ["1"]
    assert [record.name for record in caplog.records] == ["llm_tools.executors"] * 2


async def test_metadata_tells_no_secret() -> None:
    """Neither the key nor what was said."""
    seen: list[str] = []
    transport = ScriptedTransport([{"choices": [{"message": {"content": "answer"}}]}])
    executor = create_llm_function_executor(
        llm=use_llm("openai.gpt-4o-mini", api_key=KEY, transport=transport), prompt=prompt()
    )
    executor.on("on_complete", lambda metadata: seen.append(repr(metadata)))
    await executor.execute(VALUES)
    assert seen
    assert not any(word in seen[0] for word in (KEY, "Hello", "answer", "Ada"))
    assert KEY not in repr(executor)


async def test_one_executor_many_calls() -> None:
    """Concurrent executions do not mix: each output, trace and hook is its own."""
    told: dict[str, Any] = {}

    async def say(call: Any) -> str:
        await anyio.sleep(0)
        return f"answer to {call.messages[-1].content}"

    executor = create_llm_executor(llm=ScriptedLlm(say), prompt=prompt())
    executor.on("on_success", lambda output, m: told.__setitem__(m.trace_id, output))
    outputs: dict[str, str] = {}

    async def one(number: int) -> None:
        trace = f"t{number}"
        outputs[trace] = await executor.execute({"user": "Ada", "input": number}, trace_id=trace)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(one, number)
    assert outputs == told == {f"t{n}": f"answer to {n}" for n in range(50)}


# ---------------------------------------------------------------- calls and streams


async def test_options_of_one_call() -> None:
    """`llm_options` change the model for it alone."""
    llm = ScriptedLlm(["a", "b"])
    executor = create_llm_executor(llm=llm, prompt=prompt())
    await executor.execute(VALUES, llm_options={"temperature": 0.5})
    await executor.execute(VALUES)
    assert [call.options.get("temperature") for call in llm.calls] == [0.5, None]


@both_kinds
async def test_an_executor_streams(make: Any) -> None:
    """The events of one answer, and the answer at their end."""
    executor = make(llm=ScriptedLlm(["hello"]), prompt=prompt())
    async with executor.stream(VALUES) as events:
        kinds = [type(event).__name__ async for event in events]
    assert kinds[-1] == "Finished"
    assert events.result.text == "hello"


async def test_all_of_an_answer_with_a_call_comes_back() -> None:
    """Every item, in the provider's order; the parser is not asked."""
    parts = [
        OutputResultReasoning(text="hm"),
        OutputResultText(text="Let me look."),
        OutputResultFunctionUse(name="f", input={"a": 1}, function_id="c1"),
        OutputResultText(text="Done."),
    ]
    executor = create_llm_function_executor(
        llm=ScriptedLlm([parts]), prompt=prompt(), parser=create_parser("number")
    )
    assert await executor.execute(VALUES, functions=[{"name": "f"}]) == parts


async def test_the_plain_executor_takes_no_functions() -> None:
    """They belong to its subclass."""
    executor = create_llm_executor(llm=ScriptedLlm(["x"]), prompt=prompt())
    assert type(executor) is LlmExecutor
    with pytest.raises(TypeError, match="functions"):
        await executor.execute(VALUES, functions=[])


def test_executors_work_in_any_loop() -> None:
    """One made outside of every loop runs in one after another."""
    executor = create_llm_executor(llm=ScriptedLlm(["a", "b"]), prompt=prompt())
    assert asyncio.run(executor.execute(VALUES)) == "a"
    assert anyio.run(executor.execute, VALUES, backend="trio") == "b"


def test_a_core_executor_needs_something_to_call() -> None:
    """Told when it is made."""
    with pytest.raises(ConfigurationError, match="function of the input, got 5"):
        create_core_executor(5)  # type: ignore[arg-type]
