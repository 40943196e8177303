"""Executors: a prompt, a model, a parser and hooks behind one `execute`."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint
from testing.answers import completion

from llm_tools import (
    DEFER,
    ConfigurationError,
    ContentFilterError,
    FunctionNotApprovedError,
    LlmExecutorOpenAiFunctions,
    LlmExecutorWithFunctions,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    ParserError,
    PromptError,
    RefusalError,
    ResponseDecodeError,
    ScriptedLlm,
    ScriptedTransport,
    UnknownFunctionError,
    create_callable_executor,
    create_chat_prompt,
    create_core_executor,
    create_llm_executor,
    create_llm_function_executor,
    create_parser,
    dispatch,
    guards,
    tool,
    use_executors,
    use_llm,
)

pytestmark = pytest.mark.anyio

PROMPT = create_chat_prompt("Be brief.").add_user_message("{{ input }}")


def use(name: str, function_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": arguments, "functionId": function_id}


def result(stop_reason: Any, *content: Any) -> OutputResult:
    return OutputResult(
        id="r", name="m", created=0, usage=None, stop_reason=stop_reason, content=content
    )


def executor_of(*answers: Any, **options: Any) -> tuple[Any, ScriptedLlm]:
    llm = ScriptedLlm(answers)
    options.setdefault("prompt", PROMPT)
    return create_llm_function_executor(llm=llm, **options), llm


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class TestExecute:
    """What it gives back, and when it raises instead."""

    async def test_text_goes_through_the_parser(self) -> None:
        """A string by default."""
        executor, llm = executor_of("hi there", "42", "yes")
        assert await executor.execute({"input": "x"}) == "hi there"
        numbers = create_llm_executor(llm=llm, prompt=PROMPT, parser=create_parser("number"))
        assert await numbers.execute("x") == 42
        truth = create_llm_executor(llm=llm, prompt=PROMPT, parser=create_parser("boolean"))
        assert await truth.execute("x") is True

    async def test_a_schema_of_the_parser_goes_to_the_model(self) -> None:
        """For both executors; one given in the call goes before it."""

        class Point(msgspec.Struct):
            x: int

        parser = create_parser("json", schema=Point)
        for make in (create_llm_executor, create_llm_function_executor):
            llm = ScriptedLlm(['{"x": 1}', '{"x": 2}'])
            executor: Any = make(llm=llm, prompt=PROMPT, parser=parser)
            assert await executor.execute("x") == Point(1)
            assert await executor.execute("x", json_schema={"type": "object"}) == Point(2)
            assert [call.json_schema for call in llm.calls] == [
                parser.json_schema,
                {"type": "object"},
            ]

    async def test_calls_come_as_content_in_the_model_s_order(self) -> None:
        """All of it: reasoning, text and calls; the parser is not asked."""
        executor, _ = executor_of(
            [
                {"type": "reasoning", "text": "hm"},
                {"type": "text", "text": "not a number"},
                use("add", a=1, b=2),
            ],
            parser=create_parser("number"),
        )
        response = await executor.execute("x", functions=[add])
        assert guards.has_function_call(response)
        assert response == [
            OutputResultReasoning(text="hm"),
            OutputResultText(text="not a number"),
            OutputResultFunctionUse(name="add", input={"a": 1, "b": 2}, function_id="c1"),
        ]

    async def test_the_call_gives_the_whole_answer(self) -> None:
        """Unparsed, whatever its reason."""
        refusal = result("refusal", OutputResultRefusal(text="No."))
        executor, _ = executor_of(refusal, parser=create_parser("number"))
        assert await executor.call("x", functions=[add]) == refusal

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (result("refusal", OutputResultRefusal(text="No.")), RefusalError),
            (result("content_filter", OutputResultText(text="It is eas")), ContentFilterError),
            (result("stop"), ResponseDecodeError),
            (result("stop", OutputResultReasoning(text="hm")), ResponseDecodeError),
            ("not a number", ParserError),
        ],
    )
    async def test_what_is_no_answer_is_an_error_with_the_result(
        self, answer: Any, kind: Any
    ) -> None:
        """On the text path."""
        executor, _ = executor_of(answer, parser=create_parser("number"))
        with pytest.raises(kind) as caught:
            await executor.execute("x", functions=[add])
        assert isinstance(caught.value.result, OutputResult)
        assert caught.value.retryable == (kind is ResponseDecodeError)
        if kind is ContentFilterError:
            assert caught.value.status == 200

    async def test_options_of_the_model_change_for_one_call(self) -> None:
        """The executor's model stays as it is."""
        executor, llm = executor_of("a", "b", use("add", a=1, b=1), "c")
        await executor.execute("x", llm_options={"temperature": 0.1, "max_tokens": 5})
        await executor.call("x")
        await executor.run("x", functions=[add], llm_options={"seed": 7})
        assert [call.options for call in llm.calls] == [
            {"temperature": 0.1, "max_tokens": 5},
            {},
            {"seed": 7},
            {"seed": 7},
        ]

    async def test_a_stream_is_the_same_request(self) -> None:
        """As events; the result at the end."""
        executor, llm = executor_of([{"type": "text", "text": "hm"}, use("add", a=1, b=2)])
        async with executor.stream("x", functions=[add], function_call="any") as events:
            seen = [type(event).__name__ async for event in events]
        assert seen == [
            "TextDelta", "FunctionUseStart", "FunctionInputDelta", "FunctionUseDone", "Finished",
        ]  # fmt: skip
        assert events.result.function_calls[0].input == {"a": 1, "b": 2}
        assert (llm.calls[0].functions, llm.calls[0].function_call) == (("add",), "any")

    async def test_an_executor_without_functions_takes_the_same_but_them(self) -> None:
        """Call and stream included; text by a prompt that is a string goes out as it is."""
        llm = ScriptedLlm(["a", "b", "c"])
        executor = create_llm_executor(llm=llm, prompt="{{ not a template }}")
        assert await executor.execute("x") == "a"
        assert (await executor.call("x", llm_options={"seed": 1})).text == "b"
        async with executor.stream("x", json_schema={"type": "string"}) as events:
            with pytest.raises(ParserError):
                async for _ in events:
                    pass
        assert [call.messages[0].content for call in llm.calls] == ["{{ not a template }}"] * 3
        assert [call.json_schema for call in llm.calls] == [None, None, {"type": "string"}]
        with pytest.raises(TypeError):
            await executor.execute("x", functions=[add])  # type: ignore[call-arg]


class TestPrompts:
    """What becomes of the input."""

    async def test_a_mapping_is_the_values_and_anything_else_the_value_input(self) -> None:
        """Data is never a template."""
        executor, llm = executor_of(*["ok"] * 3)
        for value in ({"input": "{{ 7 * 7 }}"}, "{{ 7 * 7 }}", 49):
            await executor.execute(value)
        assert [call.messages[-1].content for call in llm.calls] == ["{{ 7 * 7 }}"] * 2 + ["49"]

    async def test_it_may_be_a_function_of_the_input(self) -> None:
        """Sync or async; it answers a prompt, text, or messages."""

        def a_prompt(value: Any) -> Any:
            return create_chat_prompt().add_user_message(f"{value['who']}: {{{{ what }}}}")

        async def a_text(value: Any) -> str:
            await checkpoint()
            return f"{{{{ {value['who']} }}}}"

        def messages(value: Any) -> Any:
            return [{"role": "user", "content": value["what"]}]

        value = {"who": "Ada", "what": "{{ hello }}"}
        contents = []
        for prompt in (a_prompt, a_text, messages):
            executor, llm = executor_of("ok", prompt=prompt)
            await executor.execute(value)
            contents.append(llm.calls[0].messages[-1].content)
        assert contents == ["Ada: {{ hello }}", "{{ Ada }}", "{{ hello }}"]

    async def test_a_missing_value_is_named_before_any_request(self) -> None:
        """And is an error of the execution like any other."""
        executor, llm = executor_of("never")
        told: list[Any] = []
        executor.on("on_error", lambda error, _: told.append(error))
        with pytest.raises(PromptError, match="input"):
            await executor.execute({"other": 1})
        assert llm.calls == []
        assert isinstance(told[0], PromptError)

    def test_what_is_no_prompt_is_refused_when_the_executor_is_made(self) -> None:
        """With what would be one."""
        with pytest.raises(ConfigurationError, match="create_chat_prompt"):
            executor_of("never", prompt=3)


class TestFunctionsInEveryForm:
    """A list of anything, or a `UseExecutors`: in execute, call, stream, run and dispatch."""

    async def test_use_executors(self) -> None:
        """One object all the way."""
        together = use_executors([add, {"name": "other", "description": "A definition."}])
        executor, llm = executor_of(*[use("add", a=1, b=2)] * 3, "done")
        response = await executor.execute("x", functions=together)
        assert [r.content for r in await dispatch(response, together)] == [3]
        await executor.call("x", functions=together, function_call="add")
        async with executor.stream("x", functions=together) as events:
            async for _ in events:
                pass
        assert [call.functions for call in llm.calls] == [("add", "other")] * 3
        executor, llm = executor_of(use("add", a=1, b=2), "done")
        done = await executor.run("x", functions=use_executors([add]))
        assert (done.output, done.results[0].content) == ("done", 3)

    async def test_any_iterable(self) -> None:
        """Also one that can be read once only."""
        executor, llm = executor_of(use("add", a=1, b=2), "done", "done")
        done = await executor.run("x", functions=(f for f in [add]))
        assert done.results[0].content == 3
        await executor.execute("x", functions=iter([add]))
        assert llm.calls[-1].functions == ("add",)

    @pytest.mark.parametrize("functions", ["add", {"name": "add"}, 3, [3], [add, add]])
    async def test_what_is_none_is_refused(self, functions: Any) -> None:
        """By a typed error, before any request, wherever it is given."""
        executor, llm = executor_of("never")
        for attempt in (executor.execute, executor.call, executor.run):
            with pytest.raises(ConfigurationError):
                await attempt("x", functions=functions)
        with pytest.raises(ConfigurationError):
            async with executor.stream("x", functions=functions):
                pass
        with pytest.raises(ConfigurationError):
            await dispatch([], functions)
        assert llm.calls == []


class TestOptionsOfRuns:
    """Keywords with the types of `RunKeywords`."""

    async def test_an_unknown_one_is_refused_with_the_nearest_name(self) -> None:
        """By run, stream_run and resume alike, before any request."""
        executor, llm = executor_of(use("add", a=1, b=1))
        with pytest.raises(
            ConfigurationError, match=r"run\(\) has no option 'max_turn'. Did you mean 'max_turns'"
        ):
            await executor.run("x", functions=[add], max_turn=3)
        with pytest.raises(ConfigurationError, match="Did you mean 'approve'"):
            async with executor.stream_run("x", functions=[add], aprove=print) as events:
                async for _ in events:
                    pass
        assert llm.calls == []
        waiting = await executor.run("x", functions=[add], approve=lambda _: DEFER)
        with pytest.raises(ConfigurationError, match=r"resume\(\) has no option 'max_seconds'"):
            await executor.resume(waiting.pending, decisions={}, max_seconds=3)

    async def test_hooks_are_told_of_a_prompt_that_fails(self) -> None:
        """A run is observed from its prompt on."""
        executor, llm = executor_of("never")
        told: list[Any] = []
        executor.on("on_error", lambda error, _: told.append(type(error)))
        with pytest.raises(PromptError):
            await executor.run({"other": 1}, functions=[add])
        assert (told, llm.calls) == ([PromptError], [])


class TestVisibility:
    """A hidden function is neither sent nor run, anywhere."""

    @staticmethod
    def functions(ran: list[Any]) -> list[Any]:
        def admins_only(value: Any, attributes: Any) -> bool:
            return value.get("who") == attributes["owner"]

        wipe = create_callable_executor(
            name="wipe",
            description="Delete everything.",
            handler=ran.append,
            attributes={"owner": "root"},
            visibility_handler=admins_only,
        )
        return [add, wipe]

    async def test_it_is_decided_by_the_prompt_s_input(self) -> None:
        """In execute, call, stream and run alike."""
        ran: list[Any] = []
        functions = self.functions(ran)
        calls = [use("wipe"), use("add", "c2", a=1, b=2)]
        for who, offered in (("ada", ("add",)), ("root", ("add", "wipe"))):
            executor, llm = executor_of(calls, calls, calls, calls, "done")
            value = {"input": "x", "who": who}
            response = await executor.execute(value, functions=functions)
            await executor.call(value, functions=functions)
            async with executor.stream(value, functions=functions) as events:
                async for _ in events:
                    pass
            results = await dispatch(response, functions, input=value)
            done = await executor.run(value, functions=functions)
            assert [call.functions for call in llm.calls] == [offered] * 5
            for told in (results, done.results):
                assert [r.is_error for r in told] == [who == "ada", False]
                if who == "ada":
                    assert isinstance(told[0].error, UnknownFunctionError)
                    assert "Available functions: add." in str(told[0].content)
        assert ran == [{}, {}]

    async def test_without_a_prompt_s_input_there_is_none(self) -> None:
        """A bare model call asks about an empty input, a bare dispatch about the call's own."""
        ran: list[Any] = []
        functions = self.functions(ran)
        llm = ScriptedLlm(["ok", "ok"])
        await llm.call("x", functions=functions)
        async with llm.stream("x", functions=use_executors(functions)) as events:
            async for _ in events:
                pass
        assert [call.functions for call in llm.calls] == [("add",)] * 2
        (told,) = await dispatch([use("wipe")], functions)
        assert isinstance(told.error, UnknownFunctionError)
        real = use_llm("openai.gpt-4o-mini", api_key="k")
        body = real.build_request("x", functions=functions).body
        assert [item["function"]["name"] for item in body["tools"]] == ["add"]
        assert ran == []

    async def test_a_hidden_function_cannot_be_named(self) -> None:
        """It is not there."""
        executor, llm = executor_of("never")
        with pytest.raises(ConfigurationError, match="'wipe', which no function has"):
            await executor.execute(
                {"input": "x"}, functions=self.functions([]), function_call="wipe"
            )
        assert llm.calls == []


TOUCHED = {"id": "c1", "type": "function", "function": {"name": "touch", "arguments": "{}"}}
CALLED_ANYWAY = completion(None, tool_calls=[TOUCHED])


async def test_a_call_under_none_is_seen_and_never_run() -> None:
    """However it reaches `dispatch`: whole, as a list, as a part, out of JSON."""
    ran: list[Any] = []
    touch = create_callable_executor(name="touch", handler=ran.append)
    wire = ScriptedTransport([CALLED_ANYWAY] * 2)
    llm = use_llm("openai.gpt-4o-mini", api_key="k", transport=wire)
    executor = create_llm_function_executor(llm=llm, prompt=PROMPT)
    whole = await executor.call("x", functions=[touch], function_call="none")
    assert [warning.code for warning in whole.warnings] == ["forbidden_call"]
    response = await executor.execute("x", functions=[touch], function_call="none")
    assert guards.has_function_call(response)
    stored = msgspec.json.decode(msgspec.json.encode(response))
    for handed in (whole, whole.function_calls, response, response[0], stored):
        (told,) = await dispatch(handed, [touch])
        assert isinstance(told.error, FunctionNotApprovedError)
    assert ran == []


class TestHooks:
    """They are told, and break nothing."""

    async def test_success_and_completion(self) -> None:
        """With who, which, and how long; no content in the metadata."""
        executor, _ = executor_of("hi", name="greeter")
        seen: list[Any] = []
        executor.on("on_success", lambda output, metadata: seen.append((output, metadata)))
        executor.on("on_complete", lambda metadata: seen.append(metadata))
        executor.on("on_error", lambda *_: seen.append("never"))
        await executor.execute("x", trace_id="t-1")
        (output, first), second = seen
        assert (output, first.executor, first.trace_id) == ("hi", "greeter", "t-1")
        assert first.duration >= 0
        assert second == first

    async def test_failure_and_completion(self) -> None:
        """The error itself; each execution has a trace of its own."""
        executor, _ = executor_of(ValueError("a"), ValueError("b"))
        seen: list[Any] = []

        async def on_error(error: Exception, metadata: Any) -> None:
            await checkpoint()
            seen.append((str(error), metadata.trace_id))

        executor.on("on_error", on_error).on("on_complete", lambda m: seen.append(m.trace_id))
        for _ in range(2):
            with pytest.raises(ValueError, match=r"a|b"):
                await executor.execute("x")
        (first, one), completed, (second, two), _ = seen
        assert (first, second, one == two, completed == one) == ("a", "b", False, True)

    async def test_a_failing_hook_is_logged_and_no_more(self, caplog: Any) -> None:
        """The others are told, and the output comes."""
        executor, _ = executor_of("hi", use("add", a=1, b=1), "done")
        seen: list[Any] = []

        def broken(*_: Any) -> None:
            raise RuntimeError("a hook's own trouble")

        for event in ("on_success", "on_complete", "on_turn", "on_function"):
            executor.on(event, broken).on(event, lambda *_: seen.append(1))
        with caplog.at_level(logging.ERROR, "llm_tools"):
            assert await executor.execute("x") == "hi"
            assert (await executor.run("x", functions=[add])).output == "done"
        assert len(seen) == 2 + 2 + 2 + 1
        assert "a hook's own trouble" in caplog.text

    async def test_once_is_once_whatever_runs_at_the_same_time(self) -> None:
        """Ten executions side by side, one telling."""
        executor, _ = executor_of(*["hi"] * 10)
        seen: list[Any] = []

        async def slow(*_: Any) -> None:
            for _ in range(3):
                await checkpoint()

        executor.on("on_success", slow).once("on_success", lambda *_: seen.append(1))
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(executor.execute, "x")
        assert seen == [1]

    async def test_off_and_given_at_once(self) -> None:
        """Hooks may come with the executor, one or several, and go again."""
        seen: list[str] = []

        def first(*_: Any) -> None:
            seen.append("first")

        def second(*_: Any) -> None:
            seen.append("second")

        executor, _ = executor_of(
            *["hi"] * 2, hooks={"on_success": [first, second], "on_complete": first}
        )
        await executor.execute("x")
        executor.off("on_success", first).off("on_complete", second)
        await executor.execute("x")
        assert seen == ["first", "second", "first", "second", "first"]
        with pytest.raises(ConfigurationError, match="no event 'on_sucess'"):
            executor.on("on_sucess", first)
        with pytest.raises(ConfigurationError, match="cannot be called"):
            executor.on("on_success", 3)


class TestCoreExecutor:
    """A function with an executor's face."""

    async def test_sync_and_async(self) -> None:
        """Its output, its name, its errors."""

        async def later(value: int) -> int:
            await checkpoint()
            return value + 1

        assert await create_core_executor(later).execute(1) == 2
        assert create_core_executor(later).name == "later"
        core = create_core_executor(lambda value: value["n"] * 2, name="double")
        assert (core.name, await core.execute({"n": 4})) == ("double", 8)
        told: list[Any] = []
        core.on("on_error", lambda error, _: told.append(type(error)))
        with pytest.raises(KeyError):
            await core.execute({})
        assert told == [KeyError]
        with pytest.raises(ConfigurationError, match="function of the input"):
            create_core_executor(3)  # type: ignore[call-overload]


class TestExecutorsAsHandlers:
    """Any executor can stand behind a function."""

    async def test_every_kind(self) -> None:
        """A core executor, a prompt, a prompt with functions, a callable."""
        core = create_core_executor(lambda value: value["input"].upper())
        prompt, _ = executor_of("from a prompt", prompt="go")
        inner, _ = executor_of("from a loop", prompt="go")
        handlers = {
            "core": core,
            "prompt": create_llm_executor(llm=ScriptedLlm(["from text"]), prompt="go"),
            "functions": prompt,
            "callable": create_callable_executor(name="inner", handler=inner),
        }
        functions = [
            create_callable_executor(name=name, parameters={"type": "object"}, handler=handler)
            for name, handler in handlers.items()
        ]
        calls = [use(name, name, input="x") for name in handlers]
        results = await dispatch(calls, functions)
        assert [(r.content, r.is_error) for r in results] == [
            ("X", False),
            ("from text", False),
            ("from a prompt", False),
            ("from a loop", False),
        ]

    async def test_its_error_is_the_call_s(self) -> None:
        """Told to the outer model in words."""
        broken, _ = executor_of(result("refusal", OutputResultRefusal(text="No.")), prompt="go")
        ask = create_callable_executor(name="ask", handler=broken)
        outer, _ = executor_of(use("ask"), "sorry")
        done = await outer.run("x", functions=[ask])
        assert done.output == "sorry"
        assert isinstance(done.results[0].error, RefusalError)
        assert str(done.results[0].content).startswith("RefusalError: The model declined")


async def test_two_hundred_at_once_on_one_executor() -> None:
    """Each gets its own answer, calls, results and hooks."""

    async def answer(seen: Any) -> Any:
        await checkpoint()
        number = int(seen.messages[1].content)
        if seen.messages[-1].role == "function":
            return f"{number}: {seen.messages[-1].content}"
        return use("add", a=number, b=1)

    executor = create_llm_function_executor(llm=ScriptedLlm(answer), prompt=PROMPT)
    traces: set[str] = set()
    executor.on("on_success", lambda output, metadata: traces.add(metadata.trace_id))
    outputs: dict[int, str] = {}

    async def one(number: int) -> None:
        done = await executor.run(str(number), functions=[add])
        outputs[number] = done.output

    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(one, number)
    assert outputs == {number: f"{number}: {number + 1}" for number in range(200)}
    assert len(traces) == 200


class TestTheOldName:
    """It works, and says where to change it."""

    async def test_it_warns_at_the_caller_s_line(self) -> None:
        """Once for each place, when made, not when imported."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            executor = LlmExecutorOpenAiFunctions(llm=ScriptedLlm(["hi"]), prompt=PROMPT)
        (warning,) = caught
        assert warning.category is DeprecationWarning
        assert warning.filename == __file__
        with open(__file__) as file:
            line = file.read().splitlines()[warning.lineno - 1]
        assert "LlmExecutorOpenAiFunctions(" in line
        assert "LlmExecutorWithFunctions" in str(warning.message)
        assert isinstance(executor, LlmExecutorWithFunctions)
        assert await executor.execute("x") == "hi"
