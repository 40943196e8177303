"""What goes out of the functions a call was given."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from llm_tools import create_callable_executor, tool, use_executors
from llm_tools.callables import CallableExecutor
from llm_tools.errors import ConfigurationError
from llm_tools.functions.visibility import offer_functions


def make(name: str = "inc", **options: Any) -> CallableExecutor:
    return create_callable_executor(
        name=name, description="d", parameters=None, handler=lambda given: given, **options
    )


def names_of(functions: Any) -> list[str]:
    offered = offer_functions(functions)
    return [] if offered is None else list(offered.by_name)


class Shy(CallableExecutor):
    """There for none but every second question."""

    asked = 0

    def visible(self, input: Any, attributes: Mapping[str, Any] | None = None) -> bool:
        self.asked += 1
        return self.asked % 2 == 1


@tool
def plain(n: int) -> int:
    """Plain."""
    return n


def test_constant_functions_are_the_same_set_however_they_come() -> None:
    functions = [make("a"), plain]
    assert all(item.name for item in functions)  # now each of them has its definition
    assert all(item.is_constant for item in functions)
    first = offer_functions(functions)
    assert first is not None
    assert list(first.by_name) == ["a", "plain"]
    for again in (functions, [*functions], tuple(functions), use_executors(functions)):
        assert offer_functions(again) is first
    assert names_of(iter(functions)) == ["a", "plain"]
    assert names_of(functions[::-1]) == ["plain", "a"]


def test_a_function_that_may_hide_is_asked_every_time() -> None:
    there = True
    hiding = make(visibility_handler=lambda value, attributes: there)
    assert hiding.name
    assert not hiding.is_constant
    assert names_of([hiding, plain]) == ["inc", "plain"]
    there = False
    assert names_of([hiding, plain]) == ["plain"]
    assert names_of([hiding]) == []


def test_a_subclass_with_its_own_idea_of_visible_is_asked_every_time() -> None:
    shy = Shy(
        implementation=make()._implementation,
        define=lambda: make().definition,
        settings=make().settings,
    )
    assert shy.name
    assert not shy.is_constant
    assert [names_of([shy]) for _ in range(3)] == [["inc"], [], ["inc"]]


def test_a_dict_is_read_as_it_is_now() -> None:
    written = {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}
    functions = [make("a"), written]
    before = offer_functions(functions)
    written["parameters"]["properties"]["b"] = {}  # type: ignore[index]
    after = offer_functions(functions)
    assert before is not None
    assert after is not None
    assert list(before.by_name["f"].parameters["properties"]) == ["a"]  # type: ignore[index]
    assert list(after.by_name["f"].parameters["properties"]) == ["a", "b"]  # type: ignore[index]


def test_a_list_that_grew_is_another() -> None:
    functions = [plain]
    assert names_of(functions) == ["plain"]
    functions.append(make("b"))  # type: ignore[arg-type]
    assert names_of(functions) == ["plain", "b"]


class MadeOnDemand:
    """Each time it is looked through, its items are new."""

    def __init__(self) -> None:
        self.names = ["a"]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[CallableExecutor]:
        for name in self.names:
            item = make(name)
            assert item.name
            yield item


def test_items_made_on_demand_are_not_known_by_ids_that_were_freed() -> None:
    functions = MadeOnDemand()
    for number in range(300):
        functions.names = [f"f{number}", "b"]
        assert names_of(functions) == functions.names


def test_functions_given_up_are_not_mistaken_for_new_ones() -> None:
    """Their ids are taken again and again; what is remembered keeps those it was made from."""
    for number in range(600):
        assert names_of([make(f"f{number}")]) == [f"f{number}"]


@pytest.mark.parametrize("none", [[], (), iter([]), use_executors([])])
def test_no_functions_are_none(none: Any) -> None:
    assert offer_functions(none) is None


@pytest.mark.parametrize("wrong", ["abc", b"abc", {"name": "f"}, 7, [7]])
def test_what_is_no_list_of_functions_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="functions"):
        offer_functions(wrong)


class StandIn:
    """Stands for an executor in all but when it is there."""

    def __init__(self, executor: CallableExecutor) -> None:
        self.executor = executor
        self.shown = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.executor, name)

    def visible(self, input: Any, attributes: Mapping[str, Any] | None = None) -> bool:
        return self.shown


def test_what_stands_for_a_function_is_asked_for_itself() -> None:
    inner = make("inner")
    assert inner.name
    outer = StandIn(inner)
    assert names_of([outer]) == names_of([outer]) == ["inner"]
    outer.shown = False
    assert names_of([outer]) == []


def test_functions_of_one_request_go_with_it() -> None:
    """Only what comes again is remembered."""

    class Request:
        @tool
        def find(self, n: int) -> int:
            """Find."""
            return n

    gone = []
    for _ in range(20):
        request = Request()
        gone.append(weakref.ref(request))
        assert names_of([request.find]) == ["find"]
    del request
    gc.collect()
    assert [reference() for reference in gone] == [None] * 20


def test_functions_that_change_under_another_thread_stay_apart() -> None:
    """A list that is changed while it is read gives no other list its functions."""
    shared = [make("shared")]
    over = threading.Event()

    def change() -> None:
        while not over.is_set():
            shared[0] = make("shared")
            assert shared[0].name

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    changing = threading.Thread(target=change)
    changing.start()
    try:
        for number in range(1500):
            offer_functions(shared)
            own = make(f"own{number}")
            assert own.name
            assert names_of([own]) == [f"own{number}"]
    finally:
        sys.setswitchinterval(before)
        over.set()
        changing.join()
