"""`CallableExecutor` and `UseExecutors`: offered, looked up, checked, called."""

from __future__ import annotations

import contextvars
import dataclasses
import logging
import threading
from typing import Any, TypedDict

import anyio
import msgspec
import pytest

from llm_tools.callables import (
    CallableExecutor,
    FunctionSettings,
    Tool,
    as_callable,
    by_name,
    create_callable_executor,
    tool,
    use_executors,
    visible_functions,
)
from llm_tools.content import OutputResultFunctionUse, OutputResultImage
from llm_tools.errors import (
    ConfigurationError,
    FunctionInputError,
    FunctionTimeoutError,
    UnknownFunctionError,
)
from llm_tools.functions.definitions import FunctionDefinition

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}


def increase(value: dict[str, Any]) -> int:
    return value["n"] + 1


def plain(n: int) -> int:
    """Plain."""
    return n


def make(**options: Any) -> CallableExecutor:
    return create_callable_executor(
        **{"name": "inc", "handler": increase, "parameters": SCHEMA, **options}
    )


class Echo:
    """An executor like any other: it has `execute`."""

    async def execute(self, value: Any) -> Any:
        await anyio.sleep(0)
        return {"got": value}


@pytest.mark.anyio
async def test_a_handler_gets_the_whole_input() -> None:
    """A copy of it, so that it may change it."""
    executor = make(description="Adds one.", retries=2)
    assert executor.definition == FunctionDefinition(
        name="inc", description="Adds one.", parameters=SCHEMA
    )
    assert executor.settings == FunctionSettings(retries=2)
    assert (executor.name, executor.key, executor.is_async) == ("inc", "inc", False)
    assert await executor.invoke({"n": 1}) == 2
    given = {"n": 1}
    await make(handler=lambda value: value.clear()).invoke(given)
    assert given == {"n": 1}
    assert executor.validate({"n": 1}) is None
    assert "/n" in executor.validate({"n": "1"})
    assert create_callable_executor(name="x", handler=increase).validate({"any": 1}) is None
    assert repr(executor) == "<CallableExecutor 'inc'>"


class Amount(msgspec.Struct):
    n: int


@dataclasses.dataclass
class AmountClass:
    n: int


class AmountDict(TypedDict):
    n: int


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [Amount, AmountClass, AmountDict])
async def test_parameters_may_be_a_type(kind: Any) -> None:
    """The handler gets an instance."""
    executor = make(parameters=kind, handler=lambda value: value)
    assert executor.definition.parameters == SCHEMA
    assert await executor.invoke({"n": 1}) == kind(n=1)
    with pytest.raises(FunctionInputError, match="Expected `int`"):
        executor.decode({"n": "1"})


@pytest.mark.anyio
async def test_any_executor_can_be_a_handler() -> None:
    """Also another callable executor, which then checks its input."""
    outer = make(handler=Echo())
    assert outer.is_async
    assert await outer.invoke({"n": 1}) == {"got": {"n": 1}}
    nested = make(name="outer", parameters=None, handler=make())
    assert await nested.invoke({"n": 1}) == 2
    with pytest.raises(FunctionInputError, match="The input of 'inc' is not usable"):
        await nested.invoke({})
    assert outer.source is None


@pytest.mark.parametrize("handler", [None, 5, "x"])
def test_a_handler_must_be_callable(handler: Any) -> None:
    """Or an executor."""
    with pytest.raises(ConfigurationError, match="handler must be a function"):
        make(handler=handler)


def test_async_handlers_are_known_as_such() -> None:
    """Functions, and objects whose call is async; a class is a sync function."""

    async def later(value: Any) -> None: ...

    class Later:
        async def __call__(self, value: Any) -> None: ...

    class Made:
        def __init__(self, value: Any) -> None:
            self.value = value

        async def execute(self, value: Any) -> None: ...

    assert make(handler=later).is_async
    assert make(handler=Later()).is_async
    assert not make(handler=Made).is_async


def test_a_module_level_handler_can_run_in_a_process() -> None:
    """Found by its name; everything else is refused when it is made."""
    executor = make(isolation="process")
    call, arguments = executor.remote({"n": 1})
    assert arguments == (__name__, "increase", [{"n": 1}], {})
    assert call(*arguments) == 2
    for handler in (Echo(), lambda value: value, Echo().execute):
        with pytest.raises(ConfigurationError, match="isolation='process'"):
            make(handler=handler, isolation="process")


def test_a_function_may_hide(caplog: pytest.LogCaptureFixture) -> None:
    """Its handler sees input and attributes; one that fails hides it, and that is logged."""
    seen: list[Any] = []

    def admins_only(value: Any, attributes: Any) -> bool:
        seen.append((value, dict(attributes)))
        return attributes["role"] == "admin"

    executor = make(visibility_handler=admins_only, attributes={"role": "guest", "team": 1})
    assert not executor.visible("in")
    assert executor.visible("in", {"role": "admin"})
    assert seen == [
        ("in", {"role": "guest", "team": 1}),
        ("in", {"role": "admin", "team": 1}),
    ]
    failing = make(visibility_handler=admins_only)
    with caplog.at_level(logging.WARNING, logger="llm_tools"):
        assert not failing.visible("SECRET")
    assert "'inc' raised KeyError" in caplog.text
    assert "SECRET" not in caplog.text
    assert make().visible(None)


def test_hidden_functions_are_left_out_of_a_list() -> None:
    """The same list comes back where nothing is hidden."""
    hidden = make(name="no", visibility_handler=lambda value, attributes: "key" in attributes)
    functions = [plain, {"name": "d"}, hidden]
    assert visible_functions(functions, {}) == functions[:2]
    assert visible_functions(functions, {}, {"key": 1}) is functions
    together = use_executors(functions)
    assert [item.name for item in visible_functions(together, {})] == ["plain", "d"]
    assert visible_functions(None, {}) is None
    with pytest.raises(ConfigurationError, match="must be a list of functions, got dict"):
        visible_functions({"name": "x"}, {})


def test_every_form_of_function_is_found_by_name() -> None:
    """Only what has Python behind it can run."""
    executor, decorated = make(), tool(name="decorated")(plain)
    found = by_name([executor, decorated, plain, {"name": "d"}, FunctionDefinition(name="e")])
    assert list(found) == ["inc", "decorated", "plain", "d", "e"]
    assert found["inc"] is executor
    assert found["decorated"] is decorated
    assert isinstance(found["plain"], Tool)
    assert found["d"] is found["e"] is None
    assert by_name(None) == {}
    assert by_name(use_executors([executor])) == {"inc": executor}
    openai = {"type": "function", "function": {"name": "f"}}
    assert by_name([openai]) == {"f": None}


def test_a_plain_function_is_read_once() -> None:
    """The same executor each time, so that what is known of it is kept."""
    assert as_callable(plain) is as_callable(plain)
    method = Echo().execute
    assert as_callable(method) is as_callable(method)


class Described:
    definition = FunctionDefinition(name="elsewhere")


def test_a_definition_that_runs_elsewhere_is_no_callable() -> None:
    """Such as a function of a server."""
    assert by_name([Described()]) == {"elsewhere": None}


@pytest.mark.parametrize("functions", [5, "x", {"name": "x"}, [5], [int], [make(), make()]])
def test_what_is_no_list_of_functions_is_refused(functions: Any) -> None:
    """A typed error, also for a name given twice."""
    with pytest.raises(ConfigurationError):
        by_name(functions)


def test_what_is_no_function_is_no_callable() -> None:
    """A class or a number."""
    for item in (5, int):
        with pytest.raises(ConfigurationError, match="is no function"):
            as_callable(item)


@tool(timeout=0.02)
async def stuck() -> None:
    """Never ends."""
    await anyio.sleep_forever()


@tool
async def own_timeout() -> None:
    """Has a timeout of its own."""
    raise TimeoutError("the database is slow")


@tool
def thread_name() -> str:
    """Where it runs."""
    return threading.current_thread().name


TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="none")


@tool
def tenant() -> str:
    """Who asks."""
    return TENANT.get()


@tool
def picture() -> OutputResultImage:
    """Draws."""
    return OutputResultImage(url="u")


@tool
def silent_failure() -> None:
    """Fails without a word."""
    raise ValueError


ALL = use_executors(
    [
        make(),
        plain,
        stuck,
        own_timeout,
        thread_name,
        tenant,
        picture,
        silent_failure,
        make(name="echo", handler=Echo(), parameters=None),
        make(name="lazy", handler=lambda value: Echo().execute(value), parameters=None),
        make(name="hidden", visibility_handler=lambda value, attributes: "key" in attributes),
        make(name="picky", validate_input=lambda value: "not this one"),
        {"name": "bare", "parameters": SCHEMA},
    ]
)


def test_a_group_of_functions_is_looked_up() -> None:
    """By name, in order, all or only the visible ones."""
    assert ALL.has_function("inc")
    assert not ALL.has_function("nope")
    assert ALL.get_function("stuck") is stuck
    assert ALL.get_function("bare") == FunctionDefinition(name="bare", parameters=SCHEMA)
    assert ALL.get_function("nope") is None
    assert len(ALL) == len(ALL.get_functions()) == len(list(ALL)) == 13
    assert len(ALL.get_visible_functions()) == 12
    assert len(ALL.get_visible_functions(None, {"key": 1})) == 13


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("inc", {"n": 1}, 2),
        ("inc", '{"n": 1}', 2),
        ("plain", {"n": 1}, 1),
        ("echo", None, {"got": {}}),
        ("lazy", {"a": 1}, {"got": {"a": 1}}),
        ("picture", {}, (OutputResultImage(url="u"),)),
    ],
)
async def test_a_function_is_called_by_name(name: str, given: Any, expected: Any) -> None:
    """A `FunctionResult` comes back, never a bare value."""
    result = await ALL.call_function(name, given, function_id="c1")
    assert (result.name, result.function_id, result.content) == (name, "c1", expected)
    assert (result.is_error, result.error) == (False, None)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "given", "kind", "expected"),
    [
        ("inc", {"n": "1"}, FunctionInputError, "The input of 'inc' is not usable: at /n"),
        ("inc", "{", FunctionInputError, "The input of 'inc' is not usable"),
        ("inc", [1], FunctionInputError, "expected an object, got list"),
        ("inc", "[1]", FunctionInputError, "The input of 'inc' is not usable"),
        ("picky", {"n": 1}, FunctionInputError, "not this one"),
        ("hidden", {"n": 1}, UnknownFunctionError, "There is no function 'hidden'."),
        ("nope", {}, UnknownFunctionError, "There is no function 'nope'."),
        ("bare", {"n": 1}, UnknownFunctionError, "has no implementation here"),
        ("stuck", {}, FunctionTimeoutError, "'stuck' took longer than 0.02 s"),
        ("own_timeout", {}, TimeoutError, "TimeoutError: the database is slow"),
        ("silent_failure", {}, ValueError, "ValueError"),
    ],
)
async def test_what_goes_wrong_is_the_result(
    name: str, given: Any, kind: type[Exception], expected: str
) -> None:
    """In one line for the model, with the exception beside it."""
    result = await ALL.call_function(name, given)
    assert result.is_error
    assert isinstance(result.error, kind)
    assert expected in result.content
    assert "Traceback" not in result.content


@pytest.mark.anyio
async def test_a_call_of_the_model_is_called_as_it_is() -> None:
    """Name, input and id come from it; one that could not be read never runs."""
    use = OutputResultFunctionUse(name="inc", input={"n": 1}, function_id="c9")
    result = await ALL.call_function(use)
    assert (result.function_id, result.content) == ("c9", 2)
    broken = msgspec.structs.replace(use, input_error="cut off")
    refused = await ALL.call_function(broken)
    assert "cut off" in refused.content
    assert isinstance(refused.error, FunctionInputError)


@pytest.mark.anyio
async def test_visibility_is_enforced_with_the_caller_s_attributes() -> None:
    """Listed or not, a hidden function does not run."""
    assert (await ALL.call_function("hidden", {"n": 1}, attributes={"key": 1})).content == 2


@pytest.mark.anyio
async def test_sync_functions_run_in_a_thread_with_the_caller_s_context() -> None:
    """The loop is not held up, and context variables are there."""
    token = TENANT.set("req-7")
    try:
        assert (await ALL.call_function("tenant")).content == "req-7"
    finally:
        TENANT.reset(token)
    name = (await ALL.call_function("thread_name")).content
    assert name != threading.current_thread().name


@pytest.mark.anyio
async def test_input_is_checked_without_a_call() -> None:
    """The problem in words, or None; an unknown name is an error."""
    assert await ALL.validate_function_input("inc", {"n": 1}) is None
    assert "/n" in (await ALL.validate_function_input("inc", {"n": "1"}) or "")
    assert await ALL.validate_function_input("picky", {"n": 1}) == "not this one"
    assert await ALL.validate_function_input("bare", {}) is None
    assert await ALL.validate_function_input("bare", [1]) == "expected an object, got list"
    with pytest.raises(UnknownFunctionError, match="'nope'"):
        await ALL.validate_function_input("nope", {})


def test_what_is_no_function_makes_no_group() -> None:
    """A typed error."""
    for functions in ([5], [make(), make()], None, 5):
        with pytest.raises(ConfigurationError):
            use_executors(functions)
