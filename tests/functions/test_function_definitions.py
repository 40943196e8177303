"""Reading functions: every accepted form, one result; every mistake, one clear error."""

from __future__ import annotations

import copy
from types import MappingProxyType
from typing import Any

import pytest

from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import FunctionDefinition, FunctionSet, normalize_functions

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = FunctionDefinition(name="weather", description="By city.", parameters=SCHEMA)


class Tool:
    """Something that brings its definition along."""

    def __init__(self, definition: Any) -> None:
        self.definition = definition

    def __call__(self) -> None:
        """Never called here."""


@pytest.mark.parametrize(
    "written",
    [
        {"name": "weather", "description": "By city.", "parameters": SCHEMA},
        {"name": "weather", "description": "By city.", "input_schema": SCHEMA},
        {"name": "weather", "description": "By city.", "inputSchema": SCHEMA},
        {
            "type": "function",
            "function": {"name": "weather", "description": "By city.", "parameters": SCHEMA},
        },
        {"type": "function", "name": "weather", "description": "By city.", "parameters": SCHEMA},
        {"type": "custom", "name": "weather", "description": "By city.", "input_schema": SCHEMA},
        WEATHER,
        Tool(WEATHER),
        Tool({"name": "weather", "description": "By city.", "parameters": SCHEMA}),
        MappingProxyType({"name": "weather", "description": "By city.", "parameters": SCHEMA}),
    ],
)
def test_forms(written: Any) -> None:
    """Every accepted form reads as the same definition."""
    assert normalize_functions([written]).definitions == (WEATHER,)


def test_python_function() -> None:
    """A typed Python function is read from its signature and docstring."""

    def weather(city: str) -> str:
        """By city."""
        return city

    (definition,) = normalize_functions([weather]).definitions
    assert (definition.name, definition.description) == ("weather", "By city.")
    assert definition.parameters is not None
    assert definition.parameters["required"] == ["city"]
    assert normalize_functions([weather]) is normalize_functions(iter([weather]))


def test_callable_object_without_definition() -> None:
    """An object that is merely callable is derived once, by identity."""

    class Doubler:
        def __call__(self, n: int) -> int:
            """Double it."""
            return 2 * n

        __name__ = "double"

    doubler = Doubler()
    assert normalize_functions([doubler]) is normalize_functions([doubler])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        None,
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {}, "required": [], "title": "Args"},
    ],
)
def test_no_parameters(parameters: Any) -> None:
    """All spellings of "takes nothing" are one."""
    written = {"name": "ping", "parameters": parameters}
    assert normalize_functions([written]).definitions == (FunctionDefinition(name="ping"),)
    assert normalize_functions([{"name": "ping"}]).definitions[0].parameters is None


def test_closed_empty_parameters_are_kept() -> None:
    """An explicit word about further properties is not thrown away."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    (definition,) = normalize_functions([{"name": "ping", "parameters": schema}]).definitions
    assert definition.parameters == schema


def test_same_content_same_set() -> None:
    """Equal functions share one set, and what was made from it."""
    first = normalize_functions([{"name": "a", "parameters": copy.deepcopy(SCHEMA)}])
    assert normalize_functions([{"name": "a", "parameters": copy.deepcopy(SCHEMA)}]) is first
    assert normalize_functions(first.definitions) is not None
    assert normalize_functions(first) is first
    made: list[int] = []
    assert [first.cached("k", lambda: made.append(1) or 7) for _ in range(3)] == [7, 7, 7]
    assert made == [1]


@pytest.mark.parametrize("change", [True, 1.0, 2])
def test_a_change_is_noticed(change: Any) -> None:
    """A dict mutated between two calls gives the new functions, also where 1 became true."""
    written = {
        "name": "f",
        "parameters": {"type": "object", "properties": {"n": {"enum": [1]}}},
    }
    before = normalize_functions([written])
    written["parameters"]["properties"]["n"]["enum"][0] = change  # type: ignore[index]
    after = normalize_functions([written])
    assert before.definitions[0].parameters["properties"]["n"]["enum"] == [1]  # type: ignore[index]
    assert repr(after.definitions[0].parameters["properties"]["n"]["enum"]) == repr([change])  # type: ignore[index]


def test_nothing_is_shared_with_the_caller() -> None:
    """Definitions hold copies."""
    definition = FunctionDefinition(name="f", parameters=copy.deepcopy(SCHEMA))
    (read,) = normalize_functions([definition]).definitions
    assert read.parameters == SCHEMA
    assert read.parameters is not definition.parameters
    assert read.parameters["properties"] is not definition.parameters["properties"]  # type: ignore[index]


def test_order_and_names() -> None:
    """Order is the caller's."""
    functions = normalize_functions([{"name": name} for name in "bca"])
    assert [item.name for item in functions.definitions] == ["b", "c", "a"]
    assert list(functions.by_name) == ["b", "c", "a"]
    assert normalize_functions([]).definitions == ()
    assert isinstance(normalize_functions(()), FunctionSet)


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ("weather", "must be a list of functions, got str"),
        ({"name": "weather"}, "must be a list of functions, got dict"),
        (7, "must be a list of functions, got int"),
        (["weather"], r"functions\[0\] is str"),
        ([7], r"functions\[0\] is int"),
        ([{}], r"functions\[0\] has no name"),
        ([{"name": ""}], "not blank"),
        ([lambda city: city], r"lambda has no name.*tool\(name=…\)\(function\)"),
        ([{"name": " \n"}], "not blank"),
        ([{"name": 7}], "the name 7"),
        ([{"name": None}], "the name None"),
        ([{"name": "f", "description": 7}], "description of function 'f'"),
        ([{"name": "f"}, {"name": "g"}, {"name": "f"}], "Two functions are called 'f'"),
        ([{"type": "function", "function": "f"}], "must be an object with a name"),
        ([{"type": "function", "function": {}}], "has no name"),
        ([{"type": "web_search"}], "no function: tools that the provider runs itself"),
        ([{"type": "custom", "name": "grammar"}], "no function"),
        ([{"name": "f", "paramters": SCHEMA}], "Did you mean 'parameters'"),
        ([{"name": "f", "descripton": "x"}], "Did you mean 'description'"),
        ([{"name": "f", "parameters": SCHEMA, "input_schema": SCHEMA}], "keep one schema"),
        ([{"name": "f", "parameters": [1]}], "'f' is not valid at the root"),
        ([{"name": "f", "parameters": {"x": object()}}], "'f'.* is not plain JSON"),
        ([{"name": "f", "description": "\ud800"}], "is not plain JSON"),
        ([FunctionDefinition(name="f", parameters={"x": int})], "'f'.* is not plain JSON"),
    ],
)
def test_mistakes(functions: Any, said: str) -> None:
    """A mistake is a `ConfigurationError` that names the function or its place."""
    with pytest.raises(ConfigurationError, match=said):
        normalize_functions(functions)


@pytest.mark.parametrize("levels", [70, 300, 5000])
def test_depth_bombs(levels: int) -> None:
    """Endless nesting is a typed error, inside a schema and beside it."""
    value: Any = {}
    for _ in range(levels):
        value = {"items": value, "type": "array"}
    with pytest.raises(ConfigurationError, match=r"nested|plain JSON"):
        normalize_functions(
            [{"name": "f", "parameters": {"type": "object", "properties": {"a": value}}}]
        )
    with pytest.raises(ConfigurationError, match=r"nested|plain JSON"):
        normalize_functions(
            [{"name": "f", "parameters": {"type": "object", "default": value, "not": value}}]
        )


def test_cycle_of_objects() -> None:
    """A dict that holds itself is a typed error."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["self"] = schema
    with pytest.raises(ConfigurationError, match="plain JSON"):
        normalize_functions([{"name": "f", "parameters": schema}])


def test_ignored_keys_are_told() -> None:
    """Keys that mean nothing here leave a warning, `strict` with the way out."""
    functions = normalize_functions(
        [
            {"type": "function", "function": {"name": "f", "strict": True}},
            {"name": "g", "cache_control": {"type": "ephemeral"}, "strict": False, "x": None},
        ]
    )
    assert [(item.code, item.detail) for item in functions.warnings] == [
        (
            "function_key_ignored",
            "f: the key 'strict' of the function was ignored: use function_call_strict_input.",
        ),
        ("function_key_ignored", "g: the key 'cache_control' of the function was ignored."),
    ]
