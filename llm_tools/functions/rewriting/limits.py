"""How big a schema is, in the terms in which providers limit it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ..schemas.walking import Schema, nodes
from ..subsets import Limits, RequestLimits
from .openapi import enum_text


class Cost(Struct, frozen=True):
    """What strict schemas use up of a request: functions, optional and union properties."""

    functions: int = 0
    optionals: int = 0
    unions: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.functions + other.functions,
            self.optionals + other.optionals,
            self.unions + other.unions,
        )


NO_COST = Cost()


def cost_of(schema: Schema, *, functions: int = 1) -> Cost:
    """The cost of one strict schema; what stands behind a `$ref` is not counted."""
    optionals = unions = 0
    for _, node in nodes(_without_definitions(schema)):
        required = node.get("required", ())
        for name, item in node.get("properties", {}).items():
            optionals += name not in required
            unions += "anyOf" in item or isinstance(item.get("type"), list)
    return Cost(functions, optionals, unions)


def over_request(cost: Cost, limits: RequestLimits) -> str | None:
    """The first limit of a request that is exceeded, in words."""
    for count, limit, what in (
        (cost.functions, limits.functions, "strict functions"),
        (cost.optionals, limits.optionals, "optional properties in strict schemas"),
        (cost.unions, limits.unions, "properties of several types in strict schemas"),
    ):
        if limit is not None and count > limit:
            return f"more than {limit} {what} in one request"
    return None


def over_limits(schema: Schema, limits: Limits) -> str | None:
    """The first limit of one schema that is exceeded, in words."""
    parts = [_without_definitions(schema), *schema.get("$defs", {}).values()]
    for part in parts:
        if sum(len(node.get("properties", ())) for _, node in nodes(part)) > limits.properties:
            return f"more than {limits.properties} properties"
        if max((depth for depth in _depths(part)), default=0) > limits.depth:
            return f"objects nested more than {limits.depth} deep"
    return _over_texts(parts, limits)


def _over_texts(parts: list[Schema], limits: Limits) -> str | None:
    characters = values = 0
    for node in (node for part in parts for _, node in nodes(part)):
        texts = [enum_text(value) for value in node.get("enum", ())]
        size = sum(map(len, texts))
        if len(texts) > limits.long_enum and size > limits.enum_characters:
            return f"an enum of more than {limits.enum_characters} characters"
        values += len(texts)
        characters += size + sum(map(len, node.get("properties", ())))
        characters += len(enum_text(node["const"])) if "const" in node else 0
    if values > limits.enum_values:
        return f"more than {limits.enum_values} enum values"
    return f"more than {limits.characters} characters" if characters > limits.characters else None


def _without_definitions(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "$defs"}


def _depths(schema: Schema) -> Iterator[int]:
    """For every object with properties, how many such objects it stands in, itself included."""
    stack: list[tuple[int, Any]] = [(0, schema)]
    while stack:
        depth, node = stack.pop()
        inner = [node.get("items"), *node.get("anyOf", ())]
        if "properties" in node:
            depth += 1
            yield depth
            inner += node["properties"].values()
        stack.extend((depth, child) for child in inner if isinstance(child, dict))
