"""`dispatch`: every call has its one result, whatever becomes of it."""

from __future__ import annotations

import contextvars
import threading
import time
from typing import Any

import anyio
import msgspec
import pytest

from llm_tools import (
    ConfigurationError,
    FunctionInputError,
    FunctionNotApprovedError,
    FunctionTimeoutError,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
    UnknownFunctionError,
    create_callable_executor,
    dispatch,
    tool,
    use_executors,
)

pytestmark = pytest.mark.anyio

ANYTHING = {"type": "object"}


def call(name: str, function_id: str = "c_1", **fields: Any) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name=name, function_id=function_id, **{"input": {}, **fields})


def function(name: str, handler: Any, **settings: Any) -> Any:
    return create_callable_executor(
        name=name, description=name, parameters=ANYTHING, handler=handler, **settings
    )


def answer(*calls: OutputResultFunctionUse) -> Any:
    return OutputResult(
        id="r",
        name="m",
        created=0,
        usage=None,
        stop_reason="function_use",
        content=(OutputResultText(text="Let me see."), *calls),
    )


async def returns_its_input(value: dict[str, Any]) -> dict[str, Any]:
    return value


async def test_calls_run_side_by_side_and_answer_in_call_order() -> None:
    """The first call ends last, and its result still stands first."""
    second_ran = anyio.Event()

    async def first(_: Any) -> str:
        await second_ran.wait()
        return "first"

    async def second(_: Any) -> str:
        second_ran.set()
        return "second"

    results = await dispatch(
        answer(call("a", "c_1"), call("b", "c_2")), [function("a", first), function("b", second)]
    )
    assert [(r.function_id, r.content, r.is_error) for r in results] == [
        ("c_1", "first", False),
        ("c_2", "second", False),
    ]


async def test_calls_start_in_call_order() -> None:
    """A hundred calls start in the order the model made them."""
    started: list[int] = []

    async def note(value: dict[str, int]) -> None:
        started.append(value["n"])
        await anyio.lowlevel.checkpoint()

    calls = [call("note", f"c_{n}", input={"n": n}) for n in range(100)]
    await dispatch(calls, [function("note", note)], max_concurrency=7)
    assert started == list(range(100))


async def test_one_failure_leaves_nineteen_siblings_alone() -> None:
    """The error is that call's result; the others run to their end."""
    failed = anyio.Event()

    async def boom(_: Any) -> None:
        failed.set()
        raise ValueError("disk full")

    async def fine(value: dict[str, int]) -> int:
        await failed.wait()
        return value["n"]

    calls = [call("boom", "c_boom")]
    calls += [call("fine", f"c_{n}", input={"n": n}) for n in range(19)]
    results = await dispatch(calls, [function("boom", boom), function("fine", fine)])
    assert results[0].is_error
    assert isinstance(results[0].error, ValueError)
    assert results[0].content == "ValueError: disk full"
    assert [r.content for r in results[1:]] == list(range(19))
    assert not any(r.is_error for r in results[1:])


async def test_unknown_names_are_told_the_names_there_are() -> None:
    """Only functions offered in this call can run."""
    (result,) = await dispatch(
        [call("made_up")], [function("b", returns_its_input), function("a", returns_its_input)]
    )
    assert result.is_error
    assert isinstance(result.error, UnknownFunctionError)
    assert result.content == "There is no function 'made_up'. Available functions: a, b."


async def test_a_definition_alone_cannot_run() -> None:
    """A function without a Python function behind it gives an honest result."""
    (result,) = await dispatch([call("f")], [{"name": "f", "description": "d"}])
    assert isinstance(result.error, UnknownFunctionError)
    assert "no implementation" in result.content


async def test_bad_input_never_reaches_the_function() -> None:
    """Validation is exact and names the place; `"1"` is not an integer."""
    ran = []

    @tool
    def double(n: int) -> int:
        """Double it."""
        ran.append(n)
        return 2 * n

    results = await dispatch(
        [call("double", "c_1", input={"n": "1"}), call("double", "c_2", input={"n": 2})], [double]
    )
    assert ran == [2]
    assert isinstance(results[0].error, FunctionInputError)
    assert "/n" in results[0].content
    assert results[1].content == 4


async def test_unusable_arguments_never_run() -> None:
    """A call with `input_error` is answered by what was wrong with it."""
    ran = []
    broken = call("f", input_error="not JSON: line 1", raw_input='{"a": ')
    (result,) = await dispatch([broken], [function("f", ran.append)])
    assert ran == []
    assert isinstance(result.error, FunctionInputError)
    assert "not JSON: line 1" in result.content


async def test_calls_of_an_answer_that_was_to_make_none_do_not_run() -> None:
    """A call that its request ruled out is answered, not run, however it is handed over."""
    ran: list[Any] = []
    out = call("f", forbidden=True)
    stored = msgspec.to_builtins(out)
    for handed in (answer(out), [out], out, stored, [stored]):
        (result,) = await dispatch(handed, [function("f", ran.append)])
        assert isinstance(result.error, FunctionNotApprovedError)
        assert result.content == "'f' may not be called in this turn."
    assert ran == []


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit])
async def test_the_end_of_the_program_is_not_a_result(fatal: type[BaseException]) -> None:
    """It leaves as itself, unwrapped; siblings are cancelled."""
    cancelled = anyio.Event()

    async def waits(_: Any) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async def ends(_: Any) -> None:
        raise fatal("enough")

    with pytest.raises(fatal, match="enough"):
        await dispatch(
            [call("waits", "c_1"), call("ends", "c_2")],
            [function("waits", waits), function("ends", ends)],
        )
    assert cancelled.is_set()


async def test_the_first_of_several_fatal_errors_is_raised() -> None:
    """In call order; the others are its notes."""
    together = anyio.Event()

    async def late(_: Any) -> None:
        try:
            await together.wait()
        finally:
            raise SystemExit("first in order")

    async def early(_: Any) -> None:
        raise SystemExit("second in order")

    with pytest.raises(SystemExit, match="first in order") as caught:
        await dispatch(
            [call("late", "c_1"), call("early", "c_2")],
            [function("late", late), function("early", early)],
        )
    assert caught.value.__notes__ == ["also raised in the same batch: SystemExit: second in order"]


async def test_cancelling_the_caller_cancels_everything() -> None:
    """The cancellation leaves dispatch; it is no result, and nothing is left running."""
    stopped: list[str] = []
    running = anyio.Event()

    async def waits(value: dict[str, str]) -> None:
        try:
            if value["name"] == "b":
                running.set()
            await anyio.sleep_forever()
        finally:
            stopped.append(value["name"])

    returned = []
    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            returned.append(
                await dispatch(
                    [
                        call("waits", "c_1", input={"name": "a"}),
                        call("waits", "c_2", input={"name": "b"}),
                    ],
                    [function("waits", waits)],
                )
            )

        tasks.start_soon(work)
        await running.wait()
        tasks.cancel_scope.cancel()
    assert sorted(stopped) == ["a", "b"]
    assert returned == []


async def test_async_functions_are_stopped_at_their_timeout() -> None:
    """The call answers that it took too long; the function saw its cancellation."""
    stopped = anyio.Event()

    async def waits(_: Any) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    (result,) = await dispatch([call("waits")], [function("waits", waits)], timeout=0.01)
    assert stopped.is_set()
    assert isinstance(result.error, FunctionTimeoutError)
    assert "was stopped" in result.content


async def test_a_function_s_own_timeout_error_is_not_ours() -> None:
    """A TimeoutError it raises is an ordinary error."""

    async def raises(_: Any) -> None:
        raise TimeoutError("upstream")

    (result,) = await dispatch([call("raises")], [function("raises", raises)], timeout=60)
    assert type(result.error) is TimeoutError
    assert result.content == "TimeoutError: upstream"


async def test_sync_functions_run_in_threads_and_a_timeout_is_honest() -> None:
    """The call returns at once and says that its thread may still run."""
    release = threading.Event()
    ended = threading.Event()

    def blocks(_: Any) -> None:
        release.wait(30)
        ended.set()

    began = time.monotonic()
    (result,) = await dispatch(
        [call("blocks")], [function("blocks", blocks, timeout=0.5)], timeout=60
    )
    assert isinstance(result.error, FunctionTimeoutError)
    assert "may still be running in its thread" in result.content
    assert not ended.is_set()
    assert time.monotonic() - began < 25
    release.set()
    await anyio.to_thread.run_sync(ended.wait)


async def test_context_variables_reach_every_function_and_none_leaks() -> None:
    """Sync and async functions see the caller's; a change stays inside."""
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")
    tenant.set("req-7")

    async def reads(_: Any) -> str:
        value = tenant.get()
        tenant.set("changed")
        await anyio.lowlevel.checkpoint()
        return value

    def reads_in_thread(_: Any) -> str:
        value = tenant.get()
        tenant.set("changed")
        return value

    calls = [call(name, f"c_{name}_{n}") for n in range(3) for name in ("reads", "threaded")]
    results = await dispatch(
        calls, [function("reads", reads), function("threaded", reads_in_thread)]
    )
    assert [r.content for r in results] == ["req-7"] * 6
    assert tenant.get() == "req-7"


async def test_sync_functions_run_side_by_side() -> None:
    """Three threads meet at a barrier: none waits for another to end."""
    barrier = threading.Barrier(3, timeout=30)
    results = await dispatch(
        [call("meet", f"c_{n}") for n in range(3)],
        [function("meet", lambda _: barrier.wait() >= 0)],
    )
    assert [r.content for r in results] == [True, True, True]


class Overlap:
    """Counts how many of its runs are inside at once."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0

    async def __call__(self, _: Any) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        for _ in range(30):
            await anyio.lowlevel.checkpoint()
        self.inside -= 1


async def test_one_group_never_overlaps() -> None:
    """Functions of one group exclude each other, also across dispatches."""
    overlap = Overlap()
    functions = [function("a", overlap, group="db"), function("b", overlap, group="db")]
    calls = [call("ab"[n % 2], f"c_{n}") for n in range(20)]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatch, calls, functions)
        tasks.start_soon(dispatch, calls, functions)
    assert overlap.most == 1


async def test_a_function_s_own_limit_holds() -> None:
    """`max_concurrency` of a function, and of the dispatch."""
    own, shared = Overlap(), Overlap()
    await dispatch(
        [call("f", f"c_{n}") for n in range(20)], [function("f", own, max_concurrency=3)]
    )
    await dispatch(
        [call("f", f"c_{n}") for n in range(20)], [function("f", shared)], max_concurrency=4
    )
    assert (own.most, shared.most) == (3, 4)


async def test_a_sequential_function_is_a_barrier() -> None:
    """What came before has ended when it starts, what comes after waits for it."""
    log: list[str] = []

    async def logs(value: dict[str, str]) -> None:
        log.append(f"{value['n']} in")
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        log.append(f"{value['n']} out")

    functions = [function("any", logs), function("alone", logs, sequential=True)]
    names = ["any", "any", "alone", "any"]
    await dispatch(
        [call(name, f"c_{n}", input={"n": str(n)}) for n, name in enumerate(names)], functions
    )
    assert log.index("2 in") > max(log.index("0 out"), log.index("1 out"))
    assert log.index("3 in") > log.index("2 out")


async def test_a_group_open_to_its_holder() -> None:
    """A function that dispatches one of its own group does not wait for itself."""

    async def inner(_: Any) -> str:
        return "inner"

    async def outer(_: Any) -> Any:
        (result,) = await dispatch([call("inner")], [function("inner", inner, group="g")])
        return result.content

    with anyio.fail_after(10):
        (result,) = await dispatch([call("outer")], [function("outer", outer, group="g")])
    assert result.content == "inner"


async def test_retries_are_the_function_s_own_setting() -> None:
    """It is tried again until it works, so often at most."""
    tries = []

    async def flaky(_: Any) -> str:
        tries.append(1)
        if len(tries) < 3:
            raise OSError("again")
        return "done"

    (result,) = await dispatch([call("flaky")], [function("flaky", flaky, retries=2)])
    assert (result.content, len(tries)) == ("done", 3)


async def test_a_long_result_keeps_its_head_and_tail() -> None:
    """The model is told a shortened text, the caller keeps the whole."""
    text = "a" * 500 + "b" * 500

    async def talks(_: Any) -> str:
        return text

    (result,) = await dispatch([call("talks")], [function("talks", talks, max_result_bytes=20)])
    assert result.content == "aaaaaaaaaa\n[… 980 bytes left out …]\nbbbbbbbbbb"
    assert result.value == text


async def test_long_errors_and_long_parts_are_shortened_too() -> None:
    """Images stay; JSON is shortened as text; what fits is left as it is."""
    image = OutputResultImage(url="https://example.org/a.png")

    async def answers(value: dict[str, Any]) -> Any:
        if value["kind"] == "error":
            raise ValueError("x" * 100)
        parts = [OutputResultText(text="y" * 100), image]
        return {"parts": parts, "json": {"z": "z" * 100}, "short": {"z": 1}}[value["kind"]]

    kinds = ("error", "parts", "json", "short")
    results = await dispatch(
        [call("f", kind, input={"kind": kind}) for kind in kinds],
        [function("f", answers, max_result_bytes=16)],
    )
    assert [r.content for r in results] == [
        "ValueErr\n[… 96 bytes left out …]\nxxxxxxxx",
        (OutputResultText(text="yyyyyyyy\n[… 84 bytes left out …]\nyyyyyyyy"), image),
        '{"z":"zz\n[… 92 bytes left out …]\nzzzzzz"}',
        {"z": 1},
    ]


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (None, None),
        (0, 0),
        (False, False),
        ("", ""),
        ([], []),
        ({1: {2}}, {"1": [2]}),
        (OutputResultText(text="a"), (OutputResultText(text="a"),)),
        ([OutputResultImage(url="u")], (OutputResultImage(url="u"),)),
        (float("nan"), "NaN"),
        ("\ud83d", "\ufffd"),
    ],
)
async def test_any_value_may_be_a_result(value: Any, content: Any) -> None:
    """As JSON or parts for the model, as it is for the caller."""

    async def gives(_: Any) -> Any:
        return value

    (result,) = await dispatch([call("f")], [function("f", gives)])
    assert (result.content, result.is_error) == (content, False)
    assert result.value is value


@pytest.mark.parametrize("calls", [None, 3, "text", [3], [{"type": "function_use"}], b""])
async def test_what_holds_no_calls_is_refused(calls: Any) -> None:
    """By a typed error, before anything runs."""
    with pytest.raises(ConfigurationError):
        await dispatch(calls, [function("f", returns_its_input)])


async def test_calls_from_anywhere() -> None:
    """One alone, a tuple, a generator; a struct made by hand with an input that is none."""
    functions = [function("f", returns_its_input)]
    for calls in (call("f"), (call("f"),), (each for each in [call("f")])):
        (result,) = await dispatch(calls, functions)
        assert result.content == {}
    assert await dispatch([], functions) == []
    assert await dispatch([OutputResultText(text="no call")], functions) == []
    with pytest.raises(ConfigurationError, match="/input: expected an object"):
        await dispatch(call("f", input=[1]), functions)


async def test_hidden_functions_do_not_run() -> None:
    """Visibility is enforced when a function is called, not only when it is listed."""
    ran = []
    hidden = function("f", ran.append, visibility_handler=lambda _, attributes: False)
    for functions in ([hidden], use_executors([hidden])):
        (result,) = await dispatch([call("f")], functions)
        assert isinstance(result.error, UnknownFunctionError)
    assert ran == []


async def test_errors_without_words_still_say_something() -> None:
    """An empty message gives the type; a broken one too; no traceback goes out."""

    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    async def silent(_: Any) -> None:
        raise ValueError

    async def unspeakable(_: Any) -> None:
        raise Unspeakable

    results = await dispatch(
        [call("silent", "c_1"), call("unspeakable", "c_2")],
        [function("silent", silent), function("unspeakable", unspeakable)],
    )
    assert [r.content for r in results] == ["ValueError", "Unspeakable"]


async def test_calls_in_their_json_form() -> None:
    """What was stored as JSON can be dispatched as it is."""
    part = {"type": "function_use", "name": "f", "input": {"x": 1}, "functionId": "c_1"}
    results = await dispatch(
        [{"type": "text", "text": "hm"}, part], [function("f", returns_its_input)]
    )
    assert [(r.function_id, r.content) for r in results] == [("c_1", {"x": 1})]


def sum_of_squares(n: int) -> int:
    """Add up squares."""
    return sum(i * i for i in range(n))


def spin(n: int) -> int:
    """Never return."""
    while True:
        n += 1


async def test_process_isolation_runs_elsewhere_and_is_killed_at_its_timeout() -> None:
    """A function in a worker process answers, and one that spins is ended with its process."""
    works = tool(isolation="process")(sum_of_squares)
    spins = tool(isolation="process", timeout=3)(spin)
    results = await dispatch(
        [call("sum_of_squares", "c_1", input={"n": 4}), call("spin", "c_2", input={"n": 1})],
        [works, spins],
    )
    assert results[0].content == 14, results[0]
    assert isinstance(results[1].error, FunctionTimeoutError)
    assert "was stopped" in results[1].content


async def test_an_approve_that_cannot_be_asked_is_refused_before_anything_runs() -> None:
    """`approve=True` is no function of the call."""
    ran: list[Any] = []
    wrong: Any = True
    with pytest.raises(ConfigurationError, match="approve must be a function of the call"):
        await dispatch([call("f")], [function("f", ran.append)], approve=wrong)
    assert ran == []
