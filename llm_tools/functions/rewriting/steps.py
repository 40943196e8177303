"""A schema rewritten into what one wire takes, step by step; the caller's is never changed."""

from __future__ import annotations

from typing import Any, cast

from ..schemas.matching import type_names
from ..schemas.roots import is_plain_root
from ..schemas.walking import Path, Schema, map_children
from ..subsets import NameRule, SchemaSubset
from .changes import Changes, Unavailable
from .closing import close
from .document import Document, read_document
from .flattening import flatten_root
from .limits import over_limits
from .merging import Merger
from .openapi import Translator
from .references import Referrer, pruned
from .renaming import Renamer, property_names
from .simplifying import Simplifier, with_prefix_items


def rewrite(
    root: Schema, subset: SchemaSubset, changes: Changes, *, names: NameRule | None, strict: bool
) -> Schema:
    """The schema in a subset's terms; what that costs is added to `changes`.

    Args:
        root: a checked schema. names: the rule for property names, if there is one.
        strict: whether the wire is to hold the model to the schema.

    Raises:
        Unavailable: a closed subset cannot say this schema.
    """
    wire_names = property_names(root, names)
    changes.names = {wire: name for name, wire in wire_names.items()}
    plain_root = is_plain_root(root) or subset.root_union or type_names(root) != ["object"]
    if subset.keywords is None and plain_root and not wire_names:
        return cast("Schema", Completer(subset)(root, ()))
    document = _reduce(read_document(root, root_ref=subset.root_ref), subset, changes, strict)
    if subset.closed:
        document = close(document, subset, changes)
    elif not plain_root:
        document = flatten_root(document, changes)
    if wire_names:
        document = document.map(Renamer(wire_names))
    finish = Translator(document, changes) if subset.openapi else Completer(subset)
    document = document.map(finish)
    return _within_limits(pruned(document).assemble(), subset)


def _reduce(document: Document, subset: SchemaSubset, changes: Changes, strict: bool) -> Document:
    """Only keywords, unions and references that the subset takes."""
    if subset.keywords is not None:
        document = document.map(Simplifier(document, subset, changes, strict))
    if subset.refs != "any":
        document = Referrer(document, subset, changes, strict).rewrite()
    return document.map(Merger(document, subset, changes, strict))


class Completer:
    """Items for every array, which OpenAI and Gemini insist on; no empty `required`.

    Where `required` may name described properties only, the others are described as anything.

    A list of items by position becomes `prefixItems`: since draft 2020-12, which OpenAI and
    Anthropic go by, `items` is one schema.
    """

    __slots__ = ("_describe", "_keep_required")

    def __init__(self, subset: SchemaSubset) -> None:
        self._keep_required = subset.optional == "null"
        self._describe = subset.described

    def __call__(self, schema: Any, path: Path) -> Any:
        """One schema and all in it."""
        if isinstance(schema, bool):
            return schema
        node = with_prefix_items(map_children(schema, path, self))
        if "array" in type_names(node):
            node.setdefault("items", {})
        if node.get("required") == [] and not self._keep_required:
            del node["required"]
        return _described(node) if self._describe and "required" in node else node


def _described(node: Schema) -> Schema:
    """The schema with every required name among its properties, unless it forbids the rest."""
    properties, rest = node.get("properties", {}), node.get("additionalProperties", True)
    missing = [name for name in node["required"] if name not in properties]
    if not missing or rest is False:
        return node
    schema = rest if isinstance(rest, dict) else {}
    return {**node, "properties": {**properties, **dict.fromkeys(missing, schema)}}


def _within_limits(schema: Schema, subset: SchemaSubset) -> Schema:
    reason = over_limits(schema, subset.limits) if subset.limits is not None else None
    if reason is not None:
        raise Unavailable((), reason)
    return schema
