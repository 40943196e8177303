"""Limits of one schema and of one request: what is beyond goes out plain."""

from __future__ import annotations

from typing import Any

import pytest
from functions.wires import ANTHROPIC, BEDROCK, OPENAI, prepared

from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.preparing import PreparedFunctions, prepare_functions
from llm_tools.functions.rewriting.limits import Cost, cost_of, over_limits, over_request
from llm_tools.functions.subsets import Limits, RequestLimits, WireRules

SMALL = Limits(
    properties=3, depth=2, enum_values=4, characters=30, long_enum=2, enum_characters=8
)  # fmt: skip


def obj(**properties: Any) -> dict[str, Any]:
    """An object with these properties."""
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (obj(a={}, b={}, c={}), None),
        (obj(a={}, b={}, c={}, d={}), "more than 3 properties"),
        (obj(a={}, b=obj(c={}, d={})), "more than 3 properties"),
        (obj(a={}, b={}) | {"$defs": {"D": obj(c={}, d={})}}, None),
        (obj(a={}) | {"$defs": {"D": obj(a={}, b={}, c={}, d={})}}, "more than 3 properties"),
        (obj(a=obj(b={})), None),
        (obj(a={"items": {"anyOf": [obj(b=obj())]}}), "objects nested more than 2 deep"),
        (obj(a={"enum": ["a", "b", "c", "d"]}), None),
        (obj(a={"enum": ["a", "b", "c"]}, b={"enum": [1, 2]}), "more than 4 enum values"),
        (obj(a={"enum": ["abc", "def", "ghi"]}), "an enum of more than 8 characters"),
        (obj(a={"enum": ["abcdefghi"]}), None),
        (obj(a={"const": "x" * 29}), None),
        (obj(a={"const": "x" * 30}), "more than 30 characters"),
        (obj(**{"x" * 31: {}}), "more than 30 characters"),
    ],
)
def test_limits_of_one_schema(schema: Any, reason: str | None) -> None:
    """Each limit, and just below it."""
    assert over_limits(schema, SMALL) == reason


def test_openai_depth() -> None:
    """Eleven levels of objects cannot be strict at OpenAI, ten can."""

    def nested(levels: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(levels):
            schema = obj(a=schema)
        return schema

    assert prepared(nested(10), OPENAI).strict
    item = prepared(nested(11), OPENAI)
    assert (item.strict, item.validate) == (False, True)
    assert item.warnings[0].detail.endswith("objects nested more than 10 deep")


def test_openai_size() -> None:
    """5,000 properties and 1,000 enum values are the end."""
    assert prepared(obj(**{f"p{n}": {"type": "null"} for n in range(5000)}), OPENAI).strict
    assert not prepared(obj(**{f"p{n}": {"type": "null"} for n in range(5001)}), OPENAI).strict
    enum = {"type": "object", "properties": {"a": {"enum": list(range(1000))}}, "required": ["a"]}
    assert prepared(enum, OPENAI).strict
    assert not prepared(enum | {"required": []}, OPENAI).strict


def test_cost() -> None:
    """Optional and union properties, not behind references."""
    schema = {
        **obj(a={"type": ["string", "null"]}, b={"anyOf": []}, c={"$ref": "#/$defs/D"}, d=obj(e={})),
        "required": ["a"],
        "$defs": {"D": obj(x={}, y={"anyOf": []})},
    }  # fmt: skip
    assert cost_of(schema) == Cost(functions=1, optionals=4, unions=2)
    assert Cost(1, 2, 3) + Cost(1, 1, 1) == Cost(2, 3, 4)
    limits = RequestLimits(functions=1)
    assert over_request(Cost(2, 99, 99), limits) == "more than 1 strict functions in one request"
    assert over_request(Cost(1, 99, 99), limits) is None


def many(count: int, schema: Any, rules: WireRules, **options: Any) -> PreparedFunctions:
    """That many functions of one schema."""
    functions = normalize_functions(
        [{"name": f"f{n}", "parameters": schema} for n in range(count)]
    )  # fmt: skip
    return prepare_functions(functions, rules, strict=True, **options)


def strict_names(prepared_: PreparedFunctions) -> list[str]:
    """The functions that are strict."""
    return [item.wire_name for item in prepared_.items if item.strict]


@pytest.mark.parametrize("rules", [ANTHROPIC, BEDROCK])
def test_twenty_strict_functions(rules: WireRules) -> None:
    """The first twenty are strict, the rest is plain with a warning and validated here."""
    prepared_ = many(22, obj(a={"type": "string"}) | {"required": ["a"]}, rules)
    assert strict_names(prepared_) == [f"f{n}" for n in range(20)]
    assert [item.wire_name for item in prepared_.items] == [f"f{n}" for n in range(22)]
    assert [item.validate for item in prepared_.items[20:]] == [True, True]
    assert [(w.code, w.detail) for w in prepared_.warnings] == [
        (
            "strict_unavailable",
            f"f{n}: not strict, but validated here: more than 20 strict functions in one request",
        )
        for n in (20, 21)
    ]


def test_optionals_and_unions_of_a_request() -> None:
    """A function too dear is plain, a cheaper one after it may still be strict."""
    dear = obj(**{f"p{n}": {"type": "string"} for n in range(10)})
    functions = normalize_functions(
        [
            {"name": "a", "parameters": dear},
            {"name": "b", "parameters": dear},
            {"name": "c", "parameters": dear},
            {"name": "d", "parameters": obj(x={"type": "string"})},
        ]
    )
    assert strict_names(prepare_functions(functions, ANTHROPIC, strict=True)) == ["a", "b", "d"]
    union = obj(**{f"p{n}": {"type": ["string", "null"]} for n in range(9)})
    union["required"] = list(union["properties"])
    assert strict_names(many(2, union, ANTHROPIC)) == ["f0"]


def test_what_an_output_spends() -> None:
    """A strict output schema counts against the same limits."""
    schema = obj(a={"type": "string"})
    assert len(strict_names(many(3, schema, ANTHROPIC, spent=Cost(0, 23, 0)))) == 1
    assert len(strict_names(many(3, schema, ANTHROPIC))) == 3
