"""Runs that wait for a decision, here and in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from llm_tools import (
    DEFER,
    ConfigurationError,
    Edited,
    FunctionNotApprovedError,
    FunctionResult,
    OutputResultImage,
    PendingRun,
    RunLimitError,
    RunResult,
    ScriptedLlm,
    create_callable_executor,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    tool,
    use_executors,
)
from llm_tools.history import mend

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "string"}


def use(name: str, function_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": arguments, "functionId": function_id}


def executor_of(*answers: Any, **options: Any) -> tuple[Any, ScriptedLlm]:
    llm = ScriptedLlm(answers)
    prompt = create_chat_prompt("You settle bills.").add_user_message("{{ input }}")
    return create_llm_function_executor(llm=llm, prompt=prompt, **options), llm


@tool(requires_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def look(key: str) -> str:
    """Look it up."""
    return f"{key}!"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_another_process_goes_on(backend: str) -> None:
    """With every sort of decision, everything the run was told, and nothing done twice."""
    answer = [
        use("pay", "yes", amount=5),
        use("look", "seen", key="a"),
        use("pay", "no", amount=6),
        use("pay", "never", amount=7),
        use("pay", "less", amount=8),
        use("pay", "by_hand", amount=9),
    ]
    executor, _ = executor_of(use("look", "c0", key="z"), answer)
    dialogue = create_dialogue("bills")
    waiting = await executor.run(
        "please",
        functions=[pay, look],
        function_call="any",
        function_call_strict_input=True,
        json_schema=SCHEMA,
        dialogue=dialogue,
    )
    assert [m.role for m in dialogue.history] == ["user", "assistant", "function"]
    assert waiting.output is None
    assert [c.function_id for c in waiting.pending.waiting] == [
        "yes",
        "no",
        "never",
        "less",
        "by_hand",
    ]
    text = waiting.pending.to_json()
    script = Path(__file__).with_name("resuming.py")
    process = await anyio.run_process(
        [sys.executable, str(script), backend],
        input=text.encode(),
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert process.returncode == 0, process.stdout.decode()
    done = json.loads(process.stdout)
    assert done == {
        "output": '"all settled"',
        "turns": 3,
        "tokens": 6,
        "made": [1, 5],
        "results": [
            ["c0", "z!", False],
            ["yes", "paid 5", False],
            ["seen", "a!", False],
            ["no", "The call of 'pay' was not approved.", True],
            ["never", "The call of 'pay' was not approved: out of budget", True],
            ["less", "paid 1", False],
            ["by_hand", "paid in cash", False],
        ],
        "messages": [
            ["system", None],
            ["user", None],
            ["assistant", None],
            ["function", "c0"],
            ["assistant", None],
            *[["function", each] for each in ("yes", "seen", "no", "never", "less", "by_hand")],
        ],
        "function_call": "auto",
        "strict": True,
        "schema": SCHEMA,
        "first": "You settle bills.",
    }


async def test_nothing_is_forgotten_in_the_same_process() -> None:
    """Callbacks, types and functions need not be given again."""
    told: list[Any] = []
    executor, llm = executor_of(use("pay", "c1", amount=5), use("pay", "c2", amount=6), "done")
    waiting = await executor.run(
        "please",
        functions=[pay],
        function_call=lambda turn: ["any", "auto", "none"][turn],
        approve=lambda call: DEFER if call.function_id == "c1" else True,
        on_event=told.append,
        max_turns=3,
    )
    done = await executor.resume(waiting.pending, decisions={"c1": True})
    assert done.output == "done"
    assert [r.content for r in done.results] == ["paid 5", "paid 6"]
    assert [call.function_call for call in llm.calls] == ["any", "auto", "none"]
    assert [r.content for r in told if isinstance(r, FunctionResult)] == ["paid 5", "paid 6"]


async def test_options_may_change_between() -> None:
    """What `resume` is given holds from then on; what it does not know it refuses."""
    executor, llm = executor_of(use("pay", "c1", amount=5), use("pay", "c2", amount=6), "done")
    waiting = await executor.run("please", functions=[pay])
    with pytest.raises(
        ConfigurationError, match=r"resume\(\) has no option 'max_turns'. Known: approve"
    ):
        await executor.resume(waiting.pending, decisions={}, max_turns=3)
    done = await executor.resume(
        waiting.pending,
        decisions={"c1": True},
        function_call="none",
        approve=lambda _: True,
        llm_options={"temperature": 0.5},
    )
    assert done.output == "done"
    assert [call.function_call for call in llm.calls] == [None, "none", "none"]
    assert [call.options for call in llm.calls] == [{}, {"temperature": 0.5}, {"temperature": 0.5}]
    assert [r.content for r in done.results] == [
        "paid 5",
        "Function calls are not allowed in this turn; answer in text.",
    ]


async def test_a_call_without_a_decision_goes_on_waiting() -> None:
    """Again and again; the dialogue grows when all is decided."""
    executor, _ = executor_of([use("pay", f"c{n}", amount=n) for n in range(3)], "done")
    dialogue = create_dialogue("d")
    result = await executor.run("please", functions=[pay], dialogue=dialogue)
    for n in (2, 0, 1):
        assert dialogue.history == ()
        assert result.pending is not None
        pending = PendingRun.from_json(result.pending.to_json())
        assert [c.function_id for c in pending.waiting] == [
            c.function_id for c in result.pending.waiting
        ]
        result = await executor.resume(result.pending, decisions={f"c{n}": True})
    assert [r.content for r in result.results] == ["paid 0", "paid 1", "paid 2"]
    assert [m.role for m in dialogue.history] == [
        "user", "assistant", "function", "function", "function", "assistant",
    ]  # fmt: skip


async def test_edited_input_is_validated_and_results_may_come_from_elsewhere() -> None:
    """A correction that does not fit is told to the model; a result takes the call's own names."""
    executor, _ = executor_of([use("pay", "c1", amount=1), use("pay", "c2", amount=2)], "done")
    waiting = await executor.run("please", functions=[pay])
    image = OutputResultImage(url="https://example.org/receipt.png")
    done = await executor.resume(
        waiting.pending,
        decisions={
            "c1": Edited({"amount": "two"}),
            "c2": FunctionResult(name="x", function_id="y", content=(image,)),
        },
    )
    assert "at /amount: expected integer" in done.results[0].content
    assert (done.results[1].name, done.results[1].function_id) == ("pay", "c2")
    assert done.dialogue.history[-2].content == (image,)


async def test_results_keep_their_form_in_json() -> None:
    """Parts stay parts, errors stay errors, numbers stay numbers."""

    @tool
    def show() -> Any:
        """Show."""
        return [OutputResultImage(url="https://example.org/a.png")]

    @tool
    def fail() -> None:
        """Fail."""
        raise ValueError("no")

    @tool
    def count() -> float:
        """Count."""
        return 1.5

    calls = [use("show", "c1"), use("fail", "c2"), use("count", "c3"), use("pay", "c4", amount=1)]
    executor, _ = executor_of(calls, "done")
    functions = [show, fail, count, pay]
    waiting = await executor.run("please", functions=functions)
    pending = PendingRun.from_json(waiting.pending.to_json())
    done = await executor.resume(pending, decisions={"c4": True}, functions=functions)
    assert [(r.content, r.is_error) for r in done.results] == [
        ((OutputResultImage(url="https://example.org/a.png"),), False),
        ("ValueError: no", True),
        (1.5, False),
        ("paid 1", False),
    ]


async def test_limits_hold_over_the_wait() -> None:
    """Turns, calls per function and repetitions are counted on."""
    executor, _ = executor_of(*[use("pay", f"c{n}", amount=1) for n in range(5)])
    result = await executor.run("please", functions=[pay], max_turns=9, max_calls_per_function=4)
    for n in range(2):
        pending = PendingRun.from_json(result.pending.to_json())
        result = await executor.resume(pending, decisions={f"c{n}": True}, functions=[pay])
        assert result.turns == n + 2
    with pytest.raises(RunLimitError, match="'pay' was called alike three times") as caught:
        pending = PendingRun.from_json(result.pending.to_json())
        await executor.resume(pending, decisions={"c2": True}, functions=[pay])
    assert isinstance(caught.value.result, RunResult)
    assert len(caught.value.result.results) == 3
    executor, _ = executor_of(*[use("pay", f"c{n}", amount=n) for n in range(5)])
    result = await executor.run("please", functions=[pay], max_calls_per_function=1)
    with pytest.raises(RunLimitError, match="max_calls_per_function=1 is reached for 'pay'"):
        await executor.resume(result.pending, decisions={"c0": True})


@pytest.mark.parametrize("stored", [False, True])
async def test_a_limit_passed_beside_a_waiting_call_ends_the_run(stored: bool) -> None:
    """Once the round is whole, as it would have without the wait."""
    calls = [use("look", "c0", key="a"), use("look", "c1", key="b"), use("pay", "c2", amount=1)]
    executor, llm = executor_of(calls, "never asked for")
    waiting = await executor.run("please", functions=[pay, look], max_calls_per_function=1)
    pending = waiting.pending
    if stored:
        pending = PendingRun.from_json(pending.to_json())
    with pytest.raises(RunLimitError, match="max_calls_per_function=1 is reached for 'look'") as e:
        await executor.resume(pending, decisions={"c2": True}, functions=[pay, look])
    assert isinstance(e.value.result, RunResult)
    assert [(r.content, r.is_error) for r in e.value.result.results] == [
        ("a!", False),
        ("Not run: 'look' may be called 1 times in a run.", True),
        ("paid 1", False),
    ]
    assert len(llm.calls) == 1


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("who", ["ada", "root"])
async def test_a_function_hidden_from_the_run_stays_hidden(stored: bool, who: str) -> None:
    """Although it is given again: its handler was asked about the run's own input."""
    ran: list[Any] = []
    wipe = create_callable_executor(
        name="wipe",
        handler=lambda _: ran.append("wiped") or "gone",
        visibility_handler=lambda value, _: value.get("who") == "root",
    )
    functions = use_executors([look, wipe, pay])
    executor, llm = executor_of(use("pay", "c1", amount=1), use("wipe", "c2"), "done")
    waiting = await executor.run({"input": "please", "who": who}, functions=functions)
    pending = waiting.pending
    if stored:
        pending = PendingRun.from_json(pending.to_json())
    done = await executor.resume(pending, decisions={"c1": True}, functions=functions)
    names = ("look", "wipe", "pay") if who == "root" else ("look", "pay")
    assert [call.functions for call in llm.calls] == [names] * 3
    assert done.results[1].is_error is (who == "ada")
    assert ran == (["wiped"] if who == "root" else [])


async def test_a_resumed_round_that_is_cut_short_is_kept() -> None:
    """Approved calls that did not end are "not completed"; the dialogue can be sent."""
    running = anyio.Event()

    @tool(requires_approval=True)
    async def hang() -> None:
        """Hang."""
        running.set()
        await anyio.sleep_forever()

    executor, _ = executor_of([use("pay", "c1", amount=1), use("hang", "c2")])
    waiting = await executor.run("please", functions=[pay, hang])
    async with anyio.create_task_group() as tasks:

        async def resume() -> None:
            await executor.resume(waiting.pending, decisions={"c1": True, "c2": True})

        tasks.start_soon(resume)
        await running.wait()
        tasks.cancel_scope.cancel()
    history = waiting.dialogue.history
    mend(history, strict=True)
    assert [m.role for m in history] == ["user", "assistant", "function", "function"]
    assert history[-1].content == "The call was not completed."


async def test_hooks_are_told_of_resumed_runs() -> None:
    """The turn and the function, and how it ended."""
    executor, _ = executor_of(use("pay", "c1", amount=1), "done")
    seen: list[Any] = []
    executor.on("on_turn", lambda turn, result, _: seen.append((turn, result.stop_reason)))
    executor.on("on_function", lambda result, _: seen.append(result.content))
    executor.on("on_success", lambda output, _: seen.append(output.output))
    waiting = await executor.run("please", functions=[pay])
    await executor.resume(waiting.pending, decisions={"c1": False})
    assert seen == [
        (1, "function_use"),
        None,
        "The call of 'pay' was not approved.",
        (2, "stop"),
        "done",
    ]
    assert isinstance(waiting.pending.waiting[0].input, dict)


class TestMistakes:
    """What cannot be resumed says why, before anything runs."""

    async def test_decisions(self) -> None:
        """An id nothing waits under; an answer that is none."""
        executor, _ = executor_of(use("pay", "c1", amount=1))
        waiting = await executor.run("please", functions=[pay])
        with pytest.raises(ConfigurationError, match="No call waits under c9; there wait c1"):
            await executor.resume(waiting.pending, decisions={"c9": True})
        with pytest.raises(
            ConfigurationError, match="The decision on c1 is 'yes': it must be True"
        ):
            await executor.resume(waiting.pending, decisions={"c1": "yes"})

    async def test_other_kinds(self) -> None:
        """JSON that was not read, no pending run at all, decisions that are no dict."""
        executor, _ = executor_of(use("pay", "c1", amount=1))
        waiting = await executor.run("please", functions=[pay])
        for wrong in (waiting.pending.to_json(), None):
            with pytest.raises(ConfigurationError, match="from_json"):
                await executor.resume(wrong, decisions={})
        for decisions in (None, [True]):
            with pytest.raises(ConfigurationError, match="decisions must be a dict"):
                await executor.resume(waiting.pending, decisions=decisions)
        with pytest.raises(ConfigurationError, match="No call waits under 5"):
            await executor.resume(waiting.pending, decisions={5: True})

    async def test_functions(self) -> None:
        """They do not come with the JSON; and each needs its Python function."""
        executor, _ = executor_of(use("pay", "c1", amount=1))
        waiting = await executor.run("please", functions=[pay])
        stored = PendingRun.from_json(waiting.pending.to_json())
        with pytest.raises(ConfigurationError, match="needs functions"):
            await executor.resume(stored, decisions={"c1": True})
        with pytest.raises(ConfigurationError, match="needs a Python function behind pay"):
            await executor.resume(
                stored, decisions={"c1": True}, functions=[{"name": "pay", "description": "Pay."}]
            )

    async def test_json(self) -> None:
        """Something else, a later version, a damaged part."""
        executor, _ = executor_of(use("pay", "c1", amount=1))
        waiting = await executor.run("please", functions=[pay])
        data = msgspec.json.decode(waiting.pending.to_json())
        later = msgspec.json.encode(data | {"version": 99})
        damaged = msgspec.json.encode(data | {"content": [{"type": "function_use", "name": 3}]})
        for text in ("", "{}", "[]", b"\xff", "nul", "[" * 5_000, later, damaged):
            with pytest.raises(ConfigurationError):
                PendingRun.from_json(text)
        for value in (None, 5, data):
            with pytest.raises(ConfigurationError, match="no pending run"):
                PendingRun.from_json(value)
        with pytest.raises(ConfigurationError, match="of version 99; this library knows 1"):
            PendingRun.from_json(later)


async def test_what_is_refused_without_a_wait_is_its_own_error() -> None:
    """`approve` that answers at once needs no pending run."""
    executor, _ = executor_of(use("pay", "c1", amount=1), "done")
    done = await executor.run("please", functions=[pay], approve=lambda _: False)
    assert done.pending is None
    assert isinstance(done.results[0].error, FunctionNotApprovedError)
