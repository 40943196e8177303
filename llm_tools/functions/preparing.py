"""Functions made ready for one wire: legal names, legal schemas, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..content import JSON, ResultWarning
from .definitions import FunctionDefinition, FunctionSet
from .subsets import WireRules


class PreparedFunction(Struct, frozen=True, kw_only=True):
    """One function as it goes out.

    `schema` is what the wire gets (None: no parameters); `strict` whether the wire holds the
    model to it; `restore` turns the model's input back into the caller's terms (None: as is);
    `validate` whether the input must be validated here.
    """

    definition: FunctionDefinition
    wire_name: str
    schema: dict[str, JSON] | None
    strict: bool = False
    validate: bool = False
    restore: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    hide: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    warnings: tuple[ResultWarning, ...] = ()


class PreparedFunctions:
    """All functions of a call for one wire."""

    __slots__ = ("_fragments", "by_name", "by_wire_name", "items", "warnings")

    def __init__(self, items: tuple[PreparedFunction, ...]) -> None:
        self.items = items
        self.by_name = {item.definition.name: item for item in items}
        self.by_wire_name = {item.wire_name: item for item in items}
        self.warnings = tuple(warning for item in items for warning in item.warnings)
        self._fragments: dict[str, Raw] = {}

    def wire_name(self, name: str) -> str:
        """The name on the wire; of a name no function has, a legal one."""
        item = self.by_name.get(name)
        return item.wire_name if item else name

    def fragment(self, key: str, render: Callable[[PreparedFunction], JSON]) -> Raw:
        """The encoded JSON list of all functions, each as `render` gives it; made once per key."""
        try:
            return self._fragments[key]
        except KeyError:
            raw = Raw(msgspec.json.encode([render(item) for item in self.items]))
            return self._fragments.setdefault(key, raw)


def prepare_functions(
    functions: FunctionSet, rules: WireRules, *, strict: bool
) -> PreparedFunctions:
    """Make the functions legal for a wire; cached in the set."""
    return functions.cached(
        (rules, strict),
        lambda: PreparedFunctions(
            tuple(
                PreparedFunction(definition=item, wire_name=item.name, schema=item.parameters)
                for item in functions.definitions
            )
        ),
    )
