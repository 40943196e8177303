"""`@tool` makes a function one that a model may call, and leaves it a function."""

from __future__ import annotations

import gc
import inspect
import weakref
from collections.abc import AsyncIterator, Iterator
from functools import partial, wraps
from typing import Any

import anyio
import msgspec
import pytest

from llm_tools.callables import FunctionSettings, Tool, tool
from llm_tools.errors import ConfigurationError, FunctionInputError
from llm_tools.functions.definitions import FunctionDefinition, normalize_functions

PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
    "required": ["a"],
}


@tool
def add(a: int, b: int = 2) -> int:
    """Add them."""
    return a + b


@tool(name="wait", description="Waits.", timeout=5, group="slow", key="k", attributes={"x": 1})
async def sleep(seconds: float) -> float:
    """Not told."""
    await anyio.sleep(0)
    return seconds


def test_a_tool_is_still_its_function() -> None:
    """It is called, named and inspected as before."""
    assert isinstance(add, Tool)
    assert add(1) == 3
    assert add(a=1, b=1) == 2
    assert (add.__name__, add.__doc__) == ("add", "Add them.")
    assert list(inspect.signature(add).parameters) == ["a", "b"]
    assert repr(add) == "<Tool 'add'>"


def test_a_tool_says_what_the_model_is_told() -> None:
    """From the function, once."""
    assert add.definition == FunctionDefinition(
        name="add", description="Add them.", parameters=PARAMETERS
    )
    assert add.definition is add.definition
    assert (add.name, add.key, add.attributes, add.settings) == (
        "add",
        "add",
        {},
        FunctionSettings(),
    )
    assert not add.is_async


def test_options_go_before_the_function_s_own() -> None:
    """Name and description, settings, key and attributes."""
    assert sleep.name == "wait"
    assert sleep.definition.description == "Waits."
    assert sleep.settings == FunctionSettings(timeout=5, group="slow")
    assert (sleep.key, sleep.attributes) == ("k", {"x": 1})
    assert sleep.is_async
    assert tool(description="")(add.source).definition.description == ""


@pytest.mark.anyio
async def test_a_tool_is_invoked_with_a_model_s_input() -> None:
    """Checked against the hints, then called; async functions are awaited."""
    assert add.validate({"a": 1}) is None
    assert add.validate({"a": "1"}) == 'at /a: expected integer, got string "1"'
    assert add.validate(["a"]) == "expected an object, got list"
    assert add.decode({"a": 1.0}) == ([], {"a": 1})
    assert add.invoke_sync({"a": 1, "b": 5}) == 6
    assert await add.invoke({"a": 1}) == 3
    assert await sleep.invoke({"seconds": 1}) == 1.0
    assert await add.execute({"a": 1}) == 3
    with pytest.raises(
        FunctionInputError, match="The input of 'add' is not usable: at the root: missing 'a'"
    ):
        await add.execute({})
    with pytest.raises(FunctionInputError, match="missing 'a'"):
        await add.invoke({})


@pytest.mark.anyio
async def test_a_tool_may_check_its_input_itself() -> None:
    """After the hints, sync or async; a text or an exception says why not."""

    async def slow(value: dict[str, Any]) -> str | None:
        await anyio.sleep(0)
        if value["a"] == 13:
            raise ValueError("unlucky")
        return "too big" if value["a"] > 5 else None

    def quick(value: dict[str, Any]) -> bool:
        if value["a"] == 13:
            raise KeyError
        return value["a"] < 5

    by_slow = tool(validate_input=slow)(add.source)
    assert await by_slow.validate({"a": 1}) is None
    assert await by_slow.validate({"a": 9}) == "too big"
    assert await by_slow.validate({"a": 13}) == "unlucky"
    assert by_slow.validate({}) == "at the root: missing 'a'"
    with pytest.raises(FunctionInputError, match="too big"):
        await by_slow.execute({"a": 9})
    by_quick = tool(validate_input=quick)(add.source)
    answers = [by_quick.validate({"a": value}) for value in (1, 9, 13)]
    assert answers == [None, "the input was refused", "KeyError"]


class Counter:
    """Counts."""

    def __init__(self) -> None:
        self.calls = 0

    @tool
    def count(self, step: int) -> int:
        """Count on."""
        self.calls += step
        return self.calls

    @staticmethod
    @tool
    def zero() -> int:
        """Nothing."""
        return 0

    @tool
    @staticmethod
    def one(more: int) -> int:
        """One, and more."""
        return 1 + more

    @classmethod
    @tool
    def named(cls, ending: str) -> str:
        """The name of the class."""
        return cls.__name__ + ending


class Slotted:
    __slots__ = ()

    @tool(max_concurrency=1)
    def go(self) -> str:
        return "gone"


def test_a_method_is_a_tool_on_each_instance() -> None:
    """Without `self`, always the same one, and it does not keep the instance."""
    counter = Counter()
    assert counter.count is counter.count
    assert counter.count.definition == FunctionDefinition(
        name="count",
        description="Count on.",
        parameters={
            "type": "object",
            "properties": {"step": {"type": "integer"}},
            "required": ["step"],
        },
    )
    assert counter.count.invoke_sync({"step": 2}) == 2
    assert counter.count(3) == 5
    assert Counter().count is not counter.count
    assert isinstance(Counter.count, Tool)
    assert Counter.zero.invoke_sync({}) == Counter.zero() == 0
    seen = weakref.ref(counter)
    del counter
    gc.collect()
    assert seen() is None


def test_an_instance_without_a_dict_has_tools_too() -> None:
    """Made anew each time."""
    slotted = Slotted()
    assert slotted.go.invoke_sync({}) == "gone"
    assert slotted.go.settings.max_concurrency == 1


def test_types_defined_around_a_tool_are_found() -> None:
    """Hints as text may name types of the function in which it is decorated."""

    class Inner(msgspec.Struct):
        n: int

    class Outer(msgspec.Struct):
        inner: Inner

    @tool
    def use_it(outer: Outer) -> int:
        return outer.inner.n

    @tool()
    def use_both(outer: Outer, inner: Inner) -> int:
        return outer.inner.n + inner.n

    assert use_it.invoke_sync({"outer": {"inner": {"n": 1}}}) == 1
    assert use_both.invoke_sync({"outer": {"inner": {"n": 1}}, "inner": {"n": 2}}) == 3


def test_a_type_may_be_defined_after_the_tool() -> None:
    """Hints are read when the definition is first needed."""
    assert later.definition.parameters is not None
    assert later.invoke_sync({"x": {"n": 1}}) == Later(n=1)


@tool
def later(x: Later) -> Later:
    return x


class Later(msgspec.Struct):
    n: int


async def anything() -> None: ...


def each() -> Iterator[int]:
    yield 1


async def each_later() -> AsyncIterator[int]:
    yield 1


class Each:
    def __call__(self) -> Iterator[int]:
        yield 1


@wraps(each)
def all_of_each() -> list[int]:
    return list(each())


@pytest.mark.parametrize("function", [each, each_later, Each(), partial(each)])
def test_a_function_that_yields_is_refused(function: Any) -> None:
    """A model would be told of a generator object; the message says what to return."""
    for offer in (tool, lambda given: normalize_functions([given])):
        with pytest.raises(ConfigurationError, match="yields, and a call has one result"):
            offer(function)
    assert tool(all_of_each).invoke_sync({}) == [1]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tool(lambda *names: None), r"takes \*names"),
        (lambda: tool(lambda x: x).definition, "a lambda has no name"),
        (lambda: tool(Counter), "is a class"),
        (lambda: tool()(5), "@tool needs a function, got int"),
        (lambda: tool(nam="x")(add.source), "@tool has no option 'nam'"),
        (lambda: tool(timeot=1)(add.source), "Did you mean 'timeout'"),
        (lambda: tool(timeout=0)(add.source), "timeout must be seconds above zero"),
        (lambda: tool(timeout=True)(add.source), "timeout must be seconds above zero"),
        (
            lambda: tool(max_concurrency=0)(add.source),
            "max_concurrency must be a whole number of at least 1",
        ),
        (lambda: tool(retries=-1)(add.source), "retries must be a whole number of at least 0"),
        (
            lambda: tool(max_result_bytes="x")(add.source),
            "max_result_bytes must be a whole number of at least 1",
        ),
        (lambda: tool(isolation="moon")(add.source), "'thread' or 'process'"),
        (lambda: tool(isolation="process")(lambda x: x), "needs a sync function at module level"),
        (lambda: tool(isolation="process")(anything), "needs a sync function at module level"),
        (lambda: tool(isolation="process")(Counter().count), "at module level"),
        (lambda: tool(visibility_handler=anything)(add.source), "must not be async"),
    ],
)
def test_what_makes_no_tool_is_refused(make: Any, expected: str) -> None:
    """When it is decorated, as far as Python then knows."""
    with pytest.raises(ConfigurationError, match=f"(?i){expected}"):
        make()


@tool(isolation="process")
def double(x: int) -> int:
    return 2 * x


def test_a_tool_can_be_called_by_name_elsewhere() -> None:
    """Decoded here, found by its name there, past the decorator that took it."""
    call, arguments = double.remote({"x": 4})
    module, name, positional, named = arguments
    assert (module, name) == double.qualified_name == (__name__, "double")
    assert (positional, named) == ([], {"x": 4})
    assert call(*arguments) == 8
    with pytest.raises(FunctionInputError):
        double.remote({"x": "4"})


class Named(Counter):
    pass


@pytest.mark.parametrize(
    ("method", "value", "expected"),
    [
        (Counter.named, {"ending": "!"}, "Counter!"),
        (Named.named, {"ending": "!"}, "Named!"),
        (Named().named, {"ending": "!"}, "Named!"),
        (Counter.one, {"more": 1}, 2),
        (Counter().one, {"more": 1}, 2),
    ],
)
@pytest.mark.anyio
async def test_class_and_static_methods_are_tools(method: Any, value: Any, expected: Any) -> None:
    """With `@tool` under `@classmethod`, and on either side of `@staticmethod`."""
    assert isinstance(method, Tool)
    assert method.definition.parameters["required"] == list(value)
    assert await method.invoke(value) == expected
