"""`json_schema`: the shape the caller wants the text in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..content import JSON, ResultWarning
from ..errors import ConfigurationError
from .caching import Bounded, Same
from .deriving import derive_schema
from .naming import legal_name
from .numbers import refuse_lacking
from .rewriting.changes import Changes, Unavailable
from .rewriting.document import read_document
from .rewriting.limits import NO_COST, Cost, cost_of
from .rewriting.restoring import Way, restore
from .rewriting.steps import rewrite
from .schemas.checking import check_schema
from .schemas.nesting import decode_shallow
from .schemas.roots import is_plain_root, write_out_root
from .schemas.walking import Schema
from .subsets import JSON_SCHEMA, NameRule, SchemaSubset

_WRAP = "value"
_AROUND = frozenset({"type", "name", "description", "schema", "strict", "json_schema"})
"""The keys of a `response_format`, which some take for the schema."""


class OutputSchema(Struct, frozen=True, kw_only=True):
    """The caller's schema under a legal name; `type` where it was derived from a Python type."""

    name: str
    schema: dict[str, JSON]
    type: Any = None


class PreparedOutput(Struct, frozen=True, kw_only=True):
    """The schema as it goes out, and the way back for the text that comes.

    `strict` is whether the wire can hold the model to it: where it was asked for and is False,
    the schema is a plain one, and `warnings` say why. `cost` is what it uses up of the limits of
    a request with strict functions.
    """

    output: OutputSchema
    schema: dict[str, JSON]
    strict: bool = False
    restore: Callable[[JSON], JSON] | None = None
    warnings: tuple[ResultWarning, ...] = ()
    cost: Cost = NO_COST


_OUTPUTS: Bounded[OutputSchema] = Bounded(256)
_PREPARED: Bounded[PreparedOutput] = Bounded(256)


def normalize_output(json_schema: Any) -> OutputSchema:
    """Read a JSON Schema, or a `msgspec.Struct`, dataclass or TypedDict type; cached by content.

    Raises:
        ConfigurationError: neither of them, or a schema that is not valid.
    """
    if isinstance(json_schema, OutputSchema):
        return json_schema
    if isinstance(json_schema, Mapping):
        content = _encode(json_schema)
        return _OUTPUTS.get(content, lambda: _read_schema(content))
    return _OUTPUTS.get(Same(json_schema), lambda: _read_type(json_schema))


def _encode(json_schema: Mapping[str, Any]) -> bytes:
    given = dict(json_schema)
    try:
        content = msgspec.json.encode(given)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ConfigurationError(f"json_schema is not plain JSON: {error}.") from None
    refuse_lacking(content, given, "json_schema")
    return content


def _read_schema(content: bytes) -> OutputSchema:
    try:
        schema = decode_shallow(content)
    except RecursionError:
        raise ConfigurationError("json_schema is nested too deeply to be sent.") from None
    inner = schema.get("schema", schema.get("json_schema"))
    if isinstance(inner, dict) and schema.keys() <= _AROUND:
        raise ConfigurationError(
            "json_schema is the schema itself, without a provider's words around it: give what "
            "stands under 'schema' there, with the name as its 'title'."
        )
    check_schema(schema, "json_schema")
    return OutputSchema(name=_legal(schema.get("title")), schema=schema)


def _read_type(kind: Any) -> OutputSchema:
    try:
        schema = msgspec.json.schema(kind)
    except (TypeError, ValueError, RuntimeError, NameError, AttributeError) as error:
        schema = _derived(kind, error)
    _encode(schema)
    return OutputSchema(name=_legal(getattr(kind, "__name__", None)), schema=schema, type=kind)


def _derived(kind: Any, reason: Exception) -> Schema:
    """The schema of a type that msgspec cannot read, such as a union of dataclasses."""
    schema: Schema = {}
    with suppress(ConfigurationError):
        schema = derive_schema(kind)
    if not schema:
        raise ConfigurationError(
            f"json_schema={kind!r} is no JSON Schema and no type that has one: give a dict, or a "
            f"msgspec.Struct, dataclass or TypedDict type ({reason})."
        ) from None
    return schema


def _legal(name: str | None) -> str:
    return legal_name(name, NameRule()) if name else "output"


def prepare_output(output: OutputSchema, subset: SchemaSubset, *, strict: bool) -> PreparedOutput:
    """Make the schema legal for a wire; cached.

    Args:
        output: the caller's schema.
        subset: what the wire takes.
        strict: whether the wire is to hold the model to it. Where the subset cannot say the
            schema, the result has `strict=False` and a plain schema.

    Raises:
        ConfigurationError: a schema too deep to be rewritten.
    """
    key = (Same(output), subset, strict)
    return _PREPARED.get(key, lambda: _prepare(output, subset, strict))


def _prepare(output: OutputSchema, subset: SchemaSubset, strict: bool) -> PreparedOutput:
    try:
        if not strict:
            return _fit(output, JSON_SCHEMA if subset.closed else subset, strict=False)
        try:
            return _fit(output, subset, strict=True)
        except Unavailable as reason:
            return _plain(output, str(reason))
    except RecursionError:
        raise ConfigurationError(
            "json_schema is too deeply nested to be rewritten for this provider."
        ) from None


def _plain(output: OutputSchema, reason: str) -> PreparedOutput:
    prepared = _fit(output, JSON_SCHEMA, strict=False)
    detail = f"json_schema: not strict, but validated here: {reason}"
    warning = ResultWarning(code="strict_unavailable", detail=detail)
    return replace(prepared, warnings=(warning, *prepared.warnings))


def _fit(output: OutputSchema, subset: SchemaSubset, *, strict: bool) -> PreparedOutput:
    if not subset.root_object:
        subset = replace(subset, root_union=True)
    changes = Changes("json_schema")
    root = write_out_root(output.schema)
    if "type" not in root and "properties" in root:
        root = {"type": "object", **root}
    wrapped = subset.root_object and not is_plain_root(root)
    if wrapped:
        root = _wrap(root)
        changes.tell("output_wrapped", f"the root is no plain object and went out as {_WRAP!r}.")
    elif strict and subset.closed and _is_open(root):
        raise Unavailable((), "an object whose properties are not listed")
    schema = rewrite(root, subset, changes, names=None, strict=strict)
    way = Way(root, changes.names, changes.nulls, changes.texts)
    back: Callable[[JSON], JSON] | None = None
    if wrapped:
        back = partial(_unwrap, way)
    elif changes.nulls or changes.texts:
        back = partial(restore, way)
    return PreparedOutput(
        output=output,
        schema=schema,
        strict=strict,
        restore=back,
        warnings=tuple(changes.warnings),
        cost=cost_of(schema, functions=0) if strict else NO_COST,
    )


def _is_open(root: Schema) -> bool:
    """Whether any object fits; as the parameters of a function the same would be none."""
    return not root.get("properties") and "additionalProperties" not in root


def _wrap(schema: Schema) -> Schema:
    """An object that holds the value; references to the old root lead to a definition."""
    document = read_document(schema, root_ref=False)
    inside = document.assemble()
    value = {key: item for key, item in inside.items() if key != "$defs"}
    root: Schema = {"type": "object", "properties": {_WRAP: value}, "required": [_WRAP]}
    return root | {"$defs": inside["$defs"]} if "$defs" in inside else root


def _unwrap(way: Way, value: JSON) -> JSON:
    restored = restore(way, value)
    if isinstance(restored, dict) and restored.keys() == {_WRAP}:
        return cast("JSON", restored[_WRAP])
    return value
