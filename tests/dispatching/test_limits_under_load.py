"""Barriers, groups and limits hold when hundreds of calls meet them."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from llm_tools import (
    ConfigurationError,
    OutputResultFunctionUse,
    create_callable_executor,
    dispatch,
)

pytestmark = pytest.mark.anyio

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "alone": {"sequential": True},
    "red_1": {"group": "red under load"},
    "red_2": {"group": "red under load", "max_concurrency": 2},
    "blue": {"group": "blue under load"},
    "three": {"max_concurrency": 3},
    "timed": {"timeout": 60},
}


class Watch:
    """Notes who is inside, and what must not be."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: Counter[str] = Counter()
        self.started: list[int] = []
        self.broken: list[str] = []
        self.most = 0

    def enter(self, name: str, number: int) -> None:
        with self._lock:
            self._inside[name] += 1
            self.started.append(number)
            count = self._inside
            self.most = max(self.most, count.total())
            if count["alone"] and count.total() > 1:
                self.broken.append(f"beside 'alone': {count}")
            if count["red_1"] + count["red_2"] > 1 or count["blue"] > 1 or count["three"] > 3:
                self.broken.append(str(count))

    def leave(self, name: str) -> None:
        with self._lock:
            self._inside[name] -= 1


def functions_for(watch: Watch) -> list[Any]:
    def make(name: str, settings: dict[str, Any]) -> Any:
        async def on_the_loop(value: dict[str, int]) -> int:
            watch.enter(name, value["n"])
            for _ in range(value["n"] % 4):
                await checkpoint()
            watch.leave(name)
            return value["n"]

        def in_a_thread(value: dict[str, int]) -> int:
            watch.enter(name, value["n"])
            watch.leave(name)
            return value["n"]

        handler = in_a_thread if name == "red_2" else on_the_loop
        return create_callable_executor(
            name=name, handler=handler, parameters={"type": "object"}, **settings
        )

    return [make(name, settings) for name, settings in SETTINGS.items()]


@pytest.mark.parametrize("seed", range(5))
async def test_nothing_breaks_a_limit(seed: int) -> None:
    """Three hundred calls of every kind: one result each, in call order, no limit broken."""
    names = random.Random(seed).choices([*SETTINGS], [6, 1, 2, 2, 2, 6, 3], k=300)
    calls = [
        OutputResultFunctionUse(name=name, input={"n": n}, function_id=f"c{n}")
        for n, name in enumerate(names)
    ]
    watch = Watch()
    results = await dispatch(calls, functions_for(watch), max_concurrency=8)
    assert [(r.name, r.content, r.is_error) for r in results] == [
        (name, n, False) for n, name in enumerate(names)
    ]
    assert watch.broken == []
    assert 1 < watch.most <= 8
    assert sorted(watch.started) == list(range(300))


async def test_calls_without_gates_start_in_call_order() -> None:
    """Whatever the loop, however many there are."""
    watch = Watch()
    calls = [
        OutputResultFunctionUse(name="plain", input={"n": n}, function_id=f"c{n}")
        for n in range(1_000)
    ]
    for limit in (1, 7, 1_000):
        watch.started.clear()
        await dispatch(calls, functions_for(watch), max_concurrency=limit)
        assert watch.started == list(range(1_000))


class TestNesting:
    """A function that dispatches does not wait for itself, and its own calls still take turns."""

    @pytest.mark.parametrize(
        "settings", [{"group": "nested"}, {"max_concurrency": 1}, {"sequential": True}]
    )
    @pytest.mark.parametrize("sync", [False, True])
    async def test_no_call_waits_for_the_one_around_it(
        self, settings: dict[str, Any], sync: bool
    ) -> None:
        """Three levels deep; inside, one at a time."""
        inside, most = 0, 0

        async def descend(value: dict[str, int]) -> Any:
            nonlocal inside, most
            if value["depth"]:
                calls = [
                    OutputResultFunctionUse(
                        name="descend", input={"depth": value["depth"] - 1}, function_id=f"c{n}"
                    )
                    for n in range(3)
                ]
                results = await dispatch(calls, [function])
                return [r.content for r in results]
            inside += 1
            most = max(most, inside)
            await checkpoint()
            inside -= 1
            return "leaf"

        def from_a_thread(value: dict[str, int]) -> Any:
            return anyio.from_thread.run(descend, value)

        function = create_callable_executor(
            name="descend",
            handler=from_a_thread if sync else descend,
            parameters={"type": "object"},
            **settings,
        )
        first = OutputResultFunctionUse(name="descend", input={"depth": 2}, function_id="c")
        with anyio.fail_after(30):
            (result,) = await dispatch([first], [function])
        assert result.content == [["leaf"] * 3] * 3
        if "sequential" not in settings:  # a barrier within one dispatch, not in the process
            assert most == 1


@pytest.mark.parametrize(
    "options", [{"max_concurrency": 0}, {"max_concurrency": 1.5}, {"timeout": 0}, {"timeout": "1"}]
)
async def test_impossible_limits_are_refused(options: Any) -> None:
    """Before anything runs."""
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        await dispatch([], [], **options)


async def test_checks_run_side_by_side_too() -> None:
    """Two inputs are checked at once; neither check waits for the other's call."""
    both = anyio.Event()
    checking = 0

    async def check(_: Any) -> bool:
        nonlocal checking
        checking += 1
        if checking == 2:
            both.set()
        await both.wait()
        return True

    async def done(_: Any) -> str:
        return "done"

    function = create_callable_executor(name="f", handler=done, validate_input=check)
    calls = [OutputResultFunctionUse(name="f", input={}, function_id=f"c{n}") for n in range(2)]
    with anyio.fail_after(10):
        results = await dispatch(calls, [function])
    assert [r.content for r in results] == ["done", "done"]
