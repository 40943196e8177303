"""What a run may use up, also together with the runs inside its functions."""

from __future__ import annotations

import pickle
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from llm_tools import (
    ConfigurationError,
    LlmToolsError,
    OutputResult,
    OutputResultText,
    ParserError,
    RateLimitError,
    RunLimitError,
    RunResult,
    ScriptedLlm,
    UnmetFunctionCallError,
    Usage,
    create_chat_prompt,
    create_custom_parser,
    create_dialogue,
    create_llm_function_executor,
    tool,
)

pytestmark = pytest.mark.anyio


def use(name: str, function_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": arguments, "functionId": function_id}


def executor_of(*answers: Any, **options: Any) -> tuple[Any, ScriptedLlm]:
    llm = ScriptedLlm(answers)
    prompt = create_chat_prompt("Be brief.").add_user_message("{{ input }}")
    return create_llm_function_executor(llm=llm, prompt=prompt, **options), llm


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    await checkpoint()
    return a + b


class TestSharing:
    """Runs inside functions draw on the outer run's limits, if asked to."""

    @staticmethod
    def outer_with(inner: Any, calls: int = 1, **options: Any) -> Any:
        @tool
        async def ask() -> str:
            """Ask another model."""
            done = await inner.run("y", functions=[add], **options)
            return str(done.output)

        executor, llm = executor_of([use("ask", f"c{n}") for n in range(calls)], "outer says")
        return executor, llm, ask

    @pytest.mark.parametrize(("share", "tokens", "turns"), [(False, 4, 2), (True, 6, 3)])
    async def test_usage_and_requests(self, share: bool, tokens: int, turns: int) -> None:
        """The outer run's numbers hold the inner ones', or do not."""
        inner, _ = executor_of("inner says")
        executor, _, ask = self.outer_with(inner, share_limits=share)
        done = await executor.run("x", functions=[ask])
        assert (done.usage.total_tokens, done.turns) == (tokens, turns)
        assert done.results[0].content == "inner says"

    async def test_the_outer_run_s_requests(self) -> None:
        """Side by side, no more are made than are left; who comes too late is told."""
        inner, inner_llm = executor_of(*["inner says"] * 20)
        executor, _, ask = self.outer_with(inner, calls=20, share_limits=True)
        with pytest.raises(RunLimitError, match="max_turns=8") as caught:
            await executor.run("x", functions=[ask], max_turns=8)
        results = caught.value.result.results
        assert [r.is_error for r in results].count(False) == 7
        assert len(inner_llm.calls) == 7
        assert caught.value.result.turns == 8
        assert all("max_turns=8 requests were made" in r.content for r in results if r.is_error)

    async def test_the_outer_run_s_tokens(self) -> None:
        """The inner run stops where the outer one's are used up, and then the outer one."""
        inner, inner_llm = executor_of(*[use("add", f"c{n}", a=n, b=n) for n in range(20)])
        executor, _, ask = self.outer_with(inner, share_limits=True, max_turns=20)
        with pytest.raises(RunLimitError, match="max_total_tokens=8 is reached") as caught:
            await executor.run("x", functions=[ask], max_total_tokens=8)
        assert len(inner_llm.calls) == 3
        assert caught.value.result.usage.total_tokens == 8
        assert "max_total_tokens=8" in caught.value.result.results[0].content

    async def test_the_inner_run_s_own(self) -> None:
        """They are not the outer run's: it goes on."""
        inner, _ = executor_of(*[use("add", f"c{n}", a=n, b=n) for n in range(20)])
        executor, _, ask = self.outer_with(inner, share_limits=True, max_turns=2)
        done = await executor.run("x", functions=[ask])
        assert done.output == "outer says"
        assert "max_turns=2" in done.results[0].content

    async def test_the_clock(self) -> None:
        """The outer run's stops the inner one, whatever it shares."""
        stopped = anyio.Event()

        async def never(_: Any) -> str:
            try:
                await anyio.sleep_forever()
            finally:
                stopped.set()

        inner, _ = executor_of(never)
        executor, _, ask = self.outer_with(inner)
        with pytest.raises(RunLimitError, match=r"max_seconds=0\.2"):
            await executor.run("x", functions=[ask], max_seconds=0.2)
        assert stopped.is_set()

    async def test_from_a_thread(self) -> None:
        """A sync function's run draws on the same limits."""
        inner, _ = executor_of("inner says")

        @tool
        def ask() -> str:
            """Ask another model."""

            async def run() -> Any:
                return await inner.run("y", functions=[add], share_limits=True)

            return str(anyio.from_thread.run(run).output)

        executor, _ = executor_of(use("ask", "c1"), "outer says")
        done = await executor.run("x", functions=[ask])
        assert (done.results[0].content, done.turns) == ("inner says", 3)

    async def test_turns_are_numbered_by_the_run_itself(self) -> None:
        """Whatever the runs inside have used."""
        inner, _ = executor_of("a", "b", "c")
        executor, llm, ask = self.outer_with(inner, calls=3, share_limits=True)
        seen = []
        executor.on("on_turn", lambda turn, *_: seen.append(turn))
        await executor.run("x", functions=[ask], function_call=["any", "none"].__getitem__)
        assert [call.function_call for call in llm.calls] == ["any", "none"]
        assert seen == [1, 2]


class TestErrors:
    """Whatever ends a run carries what was done."""

    async def test_a_refused_answer_is_counted_and_kept(self) -> None:
        """Its tokens were spent, its request was made; the error's result has it as output."""
        said = OutputResult(
            id="r", name="m", created=0, usage=Usage(input_tokens=7, output_tokens=3),
            stop_reason="stop", content=(OutputResultText(text="I would rather talk."),),
        )  # fmt: skip
        for streamed in (False, True):
            executor, _ = executor_of(said)
            with pytest.raises(UnmetFunctionCallError) as caught:
                await executor.run("x", functions=[add], function_call="any", start_early=streamed)
            result = caught.value.result
            assert isinstance(result, RunResult)
            assert (result.output, result.usage.total_tokens, result.turns) == (said, 10, 1)
            assert result.dialogue.history == ()

    async def test_a_failed_request_was_made_and_one_refused_here_was_not(self) -> None:
        """`turns` counts requests."""
        executor, _ = executor_of(use("add", "c1", a=1, b=1), RateLimitError("slow down"))
        with pytest.raises(RateLimitError) as limited:
            await executor.run("x", functions=[add])
        assert limited.value.result.turns == 2
        executor, _ = executor_of(use("add", "c1", a=1, b=1))
        with pytest.raises(ConfigurationError, match="which no function has") as wrong:
            await executor.run("x", functions=[add], function_call=[None, "nobody"].__getitem__)
        assert wrong.value.result.turns == 1

    async def test_a_request_that_was_never_made_is_not_the_outer_run_s_either(self) -> None:
        """Here a fake refuses it, its script at an end."""
        inner, _ = executor_of()
        outer, _, ask = TestSharing.outer_with(inner, share_limits=True)
        done = await outer.run("x", functions=[ask])
        assert (done.turns, done.results[0].is_error) == (2, True)

    async def test_errors_that_are_not_ours(self) -> None:
        """A callback's exception is left as it is, and carries the result too."""

        def on_event(event: Any) -> None:
            if getattr(event, "is_error", None) is False:
                raise LookupError("mine")

        executor, _ = executor_of(use("add", "c1", a=1, b=1), "never")
        with pytest.raises(LookupError, match="mine") as caught:
            await executor.run("x", functions=[add], on_event=on_event)
        assert [r.content for r in caught.value.result.results] == [2]  # type: ignore[attr-defined]

        class Slotted(Exception):
            __slots__ = ()

        class Taken(Exception):
            result = "taken"

        for kind in (Slotted, Taken):

            def broken(_: int, kind: Any = kind) -> Any:
                raise kind

            executor, _ = executor_of("never")
            with pytest.raises(kind):
                await executor.run("x", functions=[add], function_call=broken)
        assert Taken().result == "taken"

    async def test_a_parser_s_error(self) -> None:
        """With all rounds before it; the text that did not fit is not in the dialogue."""
        executor, _ = executor_of(
            use("add", "c1", a=1, b=1), "two", parser=create_custom_parser("digits", int)
        )
        with pytest.raises(ParserError) as caught:
            await executor.run({"input": "q"}, functions=[add])
        assert caught.value.text == "two"
        assert [r.content for r in caught.value.result.results] == [2]
        assert [m.role for m in caught.value.result.dialogue.history] == [
            "user",
            "assistant",
            "function",
        ]

    async def test_they_can_be_pickled(self) -> None:
        """With their result and what they say."""
        executor, _ = executor_of(use("add", "c1", a=1, b=1))
        with pytest.raises(RunLimitError) as caught:
            await executor.run("x", functions=[add], max_turns=1)
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert again.result.dialogue == caught.value.result.dialogue
        assert again.result.results == caught.value.result.results

    @pytest.mark.parametrize(
        "options",
        [
            {"max_turns": None},
            {"max_turns": -1},
            {"max_turns": "3"},
            {"max_total_tokens": 1.5},
            {"max_seconds": "1"},
            {"max_calls_per_function": -1},
            {"max_concurrency": 0},
            {"function_timeout": 0},
        ],
    )
    async def test_impossible_limits(self, options: Any) -> None:
        """Refused by name, before any request."""
        executor, llm = executor_of(use("add", "c1", a=1, b=1))
        with pytest.raises(ConfigurationError, match=r"must be|above zero"):
            await executor.run("x", functions=[add], **options)
        assert llm.calls == []

    async def test_no_turns_at_all(self) -> None:
        """A limit of zero allows nothing."""
        executor, llm = executor_of("never")
        with pytest.raises(RunLimitError, match="max_turns=0"):
            await executor.run("x", functions=[add], max_turns=0)
        assert llm.calls == []


class TestNames:
    """A run holds the model to the names of its `function_call`."""

    @pytest.mark.parametrize(
        "choice", ["add", {"name": "add"}, {"names": ["add"]}, {"names": ["add"], "mode": "auto"}]
    )
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_others_are_not_run(self, choice: Any, streamed: bool) -> None:
        """They are answered with the names there are."""
        ran = []

        @tool
        def wipe() -> None:
            """Delete everything."""
            ran.append(1)

        executor, _ = executor_of([use("wipe", "c1"), use("add", "c2", a=1, b=1)], "done")
        done = await executor.run(
            "x", functions=[add, wipe], function_call=choice, start_early=streamed
        )
        assert ran == []
        assert [r.content for r in done.results] == [
            "There is no function 'wipe'. Available functions: add.",
            2,
        ]


class TestIdempotence:
    """Equal calls of an idempotent function are made once in a run."""

    async def test_failures_are_not_remembered(self) -> None:
        """Who waited for one tries for itself, one at a time; later calls find the success."""
        tries, inside = [], []

        @tool(idempotent=True)
        async def flaky(key: str) -> str:
            """Fail twice."""
            tries.append(key)
            inside.append(1)
            assert len(inside) == 1
            await checkpoint()
            inside.pop()
            if len(tries) < 3:
                raise OSError("again")
            return "fine"

        executor, _ = executor_of(
            [use("flaky", f"c{n}", key="a") for n in range(5)], use("flaky", "c9", key="a"), "done"
        )
        done = await executor.run("x", functions=[flaky])
        assert tries == ["a", "a", "a"]
        assert [r.is_error for r in done.results].count(True) == 2
        assert (done.results[-1].content, done.results[-1].function_id) == ("fine", "c9")

    async def test_one_run_does_not_know_of_another(self) -> None:
        """The memory ends with the run."""
        tries = []

        @tool(idempotent=True)
        def look() -> int:
            """Look."""
            tries.append(1)
            return len(tries)

        executor, _ = executor_of(use("look", "c1"), "done", use("look", "c2"), "done")
        dialogue = create_dialogue("d")
        for expected in (1, 2):
            done = await executor.run("x", functions=[look], dialogue=dialogue)
            assert [r.content for r in done.results] == [expected]


async def test_every_error_of_ours_can_carry_a_result() -> None:
    """So that `error.result` may be asked of any."""
    assert LlmToolsError("x").result is None
