"""Functions made ready for one wire: legal names, legal schemas, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ..content import JSON, ResultWarning
from ..errors import ConfigurationError
from .definitions import FunctionDefinition, FunctionSet
from .naming import legal_name, legal_names
from .rewriting.changes import Changes, Unavailable
from .rewriting.limits import NO_COST, Cost, cost_of, over_request
from .rewriting.restoring import Way, hide, restore
from .rewriting.steps import rewrite
from .schemas.roots import settle_root
from .schemas.walking import Schema
from .subsets import NameRule, SchemaSubset, WireRules


class PreparedFunction(Struct, frozen=True, kw_only=True):
    """One function as it goes out.

    `schema` is what the wire gets (None: no parameters); `strict` whether the wire holds the
    model to it; `restore` turns the model's input back into the caller's terms (None: as is);
    `hide` turns the caller's into the wire's, for replay (None: as is); `validate` whether the
    input must be validated here.
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

    __slots__ = ("_fragments", "_names", "by_name", "by_wire_name", "items", "warnings")

    def __init__(
        self,
        items: tuple[PreparedFunction, ...],
        names: NameRule | None = None,
        warnings: tuple[ResultWarning, ...] = (),
    ) -> None:
        self.items: tuple[PreparedFunction, ...] = items
        self.by_name: dict[str, PreparedFunction] = {item.definition.name: item for item in items}
        self.by_wire_name: dict[str, PreparedFunction] = {item.wire_name: item for item in items}
        self.warnings: tuple[ResultWarning, ...] = (
            *warnings,
            *(warning for item in items for warning in item.warnings),
        )
        self._names = names or NameRule()
        self._fragments: dict[str, Raw] = {}

    def wire_name(self, name: str) -> str:
        """The name on the wire; of a name no function has, a legal one."""
        item = self.by_name.get(name)
        return item.wire_name if item else legal_name(name, self._names)

    def wire_input(self, name: str, value: dict[str, Any]) -> dict[str, Any]:
        """An input in the wire's terms, for replay; of a name no function has, as it is."""
        item = self.by_name.get(name)
        return value if item is None or item.hide is None else item.hide(value)

    def fragment(self, key: str, render: Callable[[PreparedFunction], JSON]) -> Raw:
        """The encoded JSON list of all functions, each as `render` gives it; made once per key."""
        try:
            return self._fragments[key]
        except KeyError:
            raw = Raw(msgspec.json.encode([render(item) for item in self.items]))
            return self._fragments.setdefault(key, raw)


def prepare_functions(
    functions: FunctionSet, rules: WireRules, *, strict: bool, spent: Cost = NO_COST
) -> PreparedFunctions:
    """Make the functions legal for a wire; cached in the set.

    Args:
        functions: the normalised functions.
        rules: what the wire takes.
        strict: whether the wire should hold the model to the schemas. A function that cannot be
            strict goes out plain, with a warning, to be validated here.
        spent: what a strict output schema has used up of the request's limits.

    Raises:
        ConfigurationError: a schema too deep to be rewritten.
    """
    return functions.cached(
        (rules, strict, spent), lambda: _prepare_all(functions, rules, strict, spent)
    )


def _prepare_all(
    functions: FunctionSet, rules: WireRules, strict: bool, spent: Cost
) -> PreparedFunctions:
    wire_names = legal_names(functions.by_name, rules.names)
    warnings = list(functions.warnings)
    subset = rules.strict if strict else None
    if strict and subset is None and functions.definitions:
        detail = "This wire has no strict mode: the input of functions is validated here."
        warnings.append(ResultWarning(code="strict_emulated", detail=detail))
    items = [
        _prepare(definition, wire_names[definition.name], rules, strict)
        for definition in functions.definitions
    ]
    if subset is not None:
        items = _within_request(items, rules, subset, spent)
    return PreparedFunctions(tuple(items), rules.names, tuple(warnings))


def _prepare(
    definition: FunctionDefinition, wire_name: str, rules: WireRules, strict: bool
) -> PreparedFunction:
    try:
        if not strict or rules.strict is None:
            return _plain(definition, wire_name, rules, validate=strict)
        try:
            return _fit(definition, wire_name, rules.strict, rules.property_names, strict=True)
        except Unavailable as reason:
            return _plain(definition, wire_name, rules, validate=True, reason=str(reason))
    except RecursionError:
        raise ConfigurationError(
            f"The schema of function {definition.name!r} is too deeply nested to be rewritten."
        ) from None


def _plain(
    definition: FunctionDefinition,
    wire_name: str,
    rules: WireRules,
    *,
    validate: bool,
    reason: str | None = None,
) -> PreparedFunction:
    """The function without strictness, and why, where it was wanted."""
    item = _fit(definition, wire_name, rules.plain, rules.property_names, strict=False)
    warnings = item.warnings
    if reason is not None:
        detail = f"{definition.name}: not strict, but validated here: {reason}"
        warnings = (ResultWarning(code="strict_unavailable", detail=detail), *warnings)
    return replace(item, validate=validate, warnings=warnings)


def _fit(
    definition: FunctionDefinition,
    wire_name: str,
    subset: SchemaSubset,
    names: NameRule | None,
    *,
    strict: bool,
) -> PreparedFunction:
    changes = Changes(definition.name)
    if definition.parameters is None:
        schema = _no_parameters(subset)
    else:
        root = settle_root(definition.parameters)
        schema = rewrite(root, subset, changes, names=names, strict=strict)
        if subset.no_parameters == "nothing" and _is_nothing(schema):
            schema = None
    way = Way(definition.parameters or {}, changes.names, changes.nulls, changes.texts)
    renamed = bool(changes.names) or changes.texts
    return PreparedFunction(
        definition=definition,
        wire_name=wire_name,
        schema=schema,
        strict=strict,
        validate=strict and changes.loosened,
        restore=partial(restore, way) if renamed or changes.nulls else None,
        hide=partial(hide, way) if renamed else None,
        warnings=tuple(changes.warnings),
    )


def _no_parameters(subset: SchemaSubset) -> Schema | None:
    if subset.no_parameters == "nothing":
        return None
    schema: Schema = {"type": "object", "properties": {}}
    if subset.closed:
        schema["additionalProperties"] = False
        if subset.optional == "null":
            schema["required"] = []
    return schema


def _is_nothing(schema: Schema) -> bool:
    """Whether a root describes no property and takes no other."""
    others = schema.get("additionalProperties", False)
    return not schema.get("properties") and others is False and "anyOf" not in schema


def _within_request(
    items: list[PreparedFunction], rules: WireRules, subset: SchemaSubset, spent: Cost
) -> list[PreparedFunction]:
    """The functions in order, those beyond a limit of the request plain."""
    failed = next((item.definition.name for item in items if not item.strict), None)
    out: list[PreparedFunction] = []
    for item in items:
        reason = None
        if item.strict and subset.all_strict and failed is not None:
            reason = f"the provider takes all functions strict or none, and {failed!r} is not."
        elif item.strict and subset.request is not None:
            total = spent + cost_of(item.schema or {})
            reason = over_request(total, subset.request)
            spent = spent if reason else total
        if reason is None:
            out.append(item)
        else:
            definition, name = item.definition, item.wire_name
            out.append(_plain(definition, name, rules, validate=True, reason=reason))
    return out
