"""`approve` decides each call, once its input is valid and before it runs."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from llm_tools import (
    DEFER,
    ConfigurationError,
    Edited,
    FunctionInputError,
    FunctionNotApprovedError,
    OutputResultFunctionUse,
    Refused,
    create_callable_executor,
    dispatch,
    tool,
)

pytestmark = pytest.mark.anyio


def call(function_id: str, **arguments: Any) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name="double", input=arguments, function_id=function_id)


@tool
async def double(n: int) -> int:
    """Double it."""
    return 2 * n


@pytest.mark.parametrize("is_async", [False, True])
async def test_it_decides_each_call_in_order(is_async: bool) -> None:
    """True runs, False and Refused do not, Edited runs with its input, DEFER is refused here."""
    asked: list[Any] = []
    decisions = {
        "c_1": True,
        "c_2": False,
        "c_3": Refused("too dear"),
        "c_4": Edited({"n": 9}),
        "c_5": DEFER,
    }

    def approve(one: OutputResultFunctionUse) -> Any:
        asked.append((one.name, one.input, one.function_id))
        return decisions[one.function_id]

    async def approve_later(one: OutputResultFunctionUse) -> Any:
        await checkpoint()
        return approve(one)

    results = await dispatch(
        [call(key, n=1) for key in decisions],
        [double],
        approve=approve_later if is_async else approve,
    )
    assert asked == [("double", {"n": 1}, key) for key in decisions]
    assert [(r.content, r.is_error) for r in results] == [
        (2, False),
        ("The call of 'double' was not approved.", True),
        ("The call of 'double' was not approved: too dear", True),
        (18, False),
        ("The call waits for approval.", True),
    ]
    refused = [r.error for r in results if r.is_error]
    assert [type(error) for error in refused] == [FunctionNotApprovedError] * 3


async def test_it_waits_for_nobody_else() -> None:
    """Calls that were approved run while the next decision is waited for."""
    ran = anyio.Event()

    async def works(_: Any) -> None:
        ran.set()

    async def approve(one: OutputResultFunctionUse) -> bool:
        if one.function_id == "c_2":
            await ran.wait()
        return True

    function = create_callable_executor(name="double", handler=works)
    with anyio.fail_after(10):
        results = await dispatch([call("c_1"), call("c_2")], [function], approve=approve)
    assert not any(r.is_error for r in results)


async def test_an_edited_input_is_validated_too() -> None:
    """A wrong correction does not run."""
    (result,) = await dispatch([call("c", n=1)], [double], approve=lambda _: Edited({"n": "two"}))
    assert isinstance(result.error, FunctionInputError)
    assert "at /n: expected integer" in str(result.content)
    (result,) = await dispatch([call("c", n=1)], [double], approve=lambda _: Edited("x"))  # type: ignore[arg-type]
    assert isinstance(result.error, FunctionInputError)


async def test_it_sees_valid_calls_only() -> None:
    """A call that could not run anyway is not asked about: also not one its own check refuses."""
    asked: list[Any] = []

    async def refuses(_: Any) -> str:
        await checkpoint()
        return "not today"

    checked = create_callable_executor(name="checked", handler=print, validate_input=refuses)
    calls = [
        call("c_1"),
        OutputResultFunctionUse(name="nobody", input={}, function_id="c_2"),
        OutputResultFunctionUse(name="checked", input={}, function_id="c_3"),
        OutputResultFunctionUse(name="double", input={}, function_id="c_4", input_error="cut off"),
        OutputResultFunctionUse(name="double", input={"n": 1}, function_id="c_5", forbidden=True),
    ]
    results = await dispatch(calls, [double, checked], approve=asked.append)
    assert asked == []
    assert all(r.is_error for r in results)


async def test_a_decision_that_fails_is_a_no(caplog: pytest.LogCaptureFixture) -> None:
    """The call does not run, its siblings do; the error is kept and logged."""

    def approve(one: OutputResultFunctionUse) -> bool:
        if one.function_id == "c_2":
            raise ConnectionError("the desk is closed")
        return True

    with caplog.at_level(logging.ERROR, "llm_tools"):
        first, second, third = await dispatch(
            [call(f"c_{n}", n=n) for n in (1, 2, 3)], [double], approve=approve
        )
    assert (first.content, third.content) == (2, 6)
    assert second.content == "The call of 'double' was not approved: the approval failed"
    assert isinstance(second.error, FunctionNotApprovedError)
    assert isinstance(second.error.__cause__, ConnectionError)
    assert "the desk is closed" in caplog.text


async def test_what_is_no_decision_is_the_caller_s_mistake() -> None:
    """It is raised as itself, and what runs is stopped."""
    stopped = anyio.Event()

    async def hangs(_: Any) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    function = create_callable_executor(name="double", handler=hangs)

    async def approve(one: OutputResultFunctionUse) -> Any:
        await checkpoint()
        return True if one.function_id == "c_1" else None

    with pytest.raises(ConfigurationError, match=r"answered None: it must be True, False, Refused"):
        await dispatch([call("c_1"), call("c_2")], [function], approve=approve)
    assert stopped.is_set()


async def test_a_function_that_requires_approval_is_not_run_without() -> None:
    """Nobody was asked, so the answer is no."""
    guarded = create_callable_executor(name="double", handler=print, requires_approval=True)
    (result,) = await dispatch([call("c")], [guarded])
    assert isinstance(result.error, FunctionNotApprovedError)
