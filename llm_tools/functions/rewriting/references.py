"""What becomes of `$ref`: kept, wrapped, written out, or cut where it would never end."""

from __future__ import annotations

from typing import Any

from ..schemas.matching import type_names
from ..schemas.walking import Path, Schema, children, map_children, nodes
from ..subsets import SchemaSubset
from .changes import Changes, Unavailable
from .document import ROOT, Definition, Document, reference_to
from .merging import Conflict, beside, merge

_MOST_COPIES = 500
_DEEPEST = 24
_SAID_BESIDE = frozenset({"description", "title", "default"})


class Referrer:
    """Brings the references of a document into a subset's form.

    Cycles are found per path: a definition used twice is written out twice.
    """

    __slots__ = ("_changes", "_copies", "_document", "_endless", "_home", "_strict", "_subset")

    def __init__(
        self, document: Document, subset: SchemaSubset, changes: Changes, strict: bool
    ) -> None:
        self._document = document
        self._subset = subset
        self._changes = changes
        self._strict = strict and subset.closed
        self._copies = 0
        self._endless = _endless_references(document, subset)
        self._home = ROOT

    def rewrite(self) -> Document:
        """The whole document; where nothing may be referred to, a root alone."""
        if self._subset.refs == "none":
            return Document(self._write_out(self._document.root, (), (ROOT,)), {})
        root = self._adjust(self._document.root, ())
        definitions = {}
        for name, item in self._document.definitions.items():
            self._home = reference_to(name)
            definitions[name] = Definition(item.path, self._adjust(item.schema, item.path))
        return Document(root, definitions)

    # ------------------------------------------------------------ kept

    def _adjust(self, schema: Schema, path: Path) -> Schema:
        node = map_children(schema, path, self._adjust)
        reference = node.get("$ref")
        if reference is None:
            return node
        if (self._home, reference) in self._endless:
            return self._cut(node, path)
        if len(node) == 1 or self._subset.ref_siblings == "keep":
            return node
        if self._subset.ref_siblings == "wrap" and node.keys() <= {"$ref"} | _SAID_BESIDE:
            return {"anyOf": [{"$ref": reference}], **beside(node)}
        return self._inline(node, path)

    def _inline(self, node: Schema, path: Path) -> Schema:
        self._copies += 1
        if self._copies > _MOST_COPIES:
            return self._cut(node, path)
        merged = self._combine(node, path)
        if "$ref" in merged:
            return self._adjust(merged, path)
        return map_children(merged, path, self._adjust)

    # ------------------------------------------------------------ written out

    def _write_out(self, schema: Schema, path: Path, inside: tuple[str, ...]) -> Schema:
        node, at, within = schema, path, inside
        while "$ref" in node:
            reference = node["$ref"]
            self._copies += 1
            if reference in within or len(within) > _DEEPEST or self._copies > _MOST_COPIES:
                return self._cut(node, at)
            node, at = self._combine(node, at), self._document.path_of(reference)
            within = (*within, reference)
        return map_children(node, at, lambda child, below: self._write_out(child, below, within))

    def _combine(self, node: Schema, path: Path) -> Schema:
        """Keywords beside a reference and what it stands for, in one schema."""
        target = self._document.find(node["$ref"])
        try:
            return merge(beside(node), target)
        except Conflict:
            at = (*path, "$ref")
            if self._strict:
                raise Unavailable(at, "what stands beside it contradicts it") from None
            self._changes.lose("schema_loosened", at, "what contradicts it was left out")
            return target

    def _cut(self, node: Schema, path: Path) -> Schema:
        """A plain value in place of a reference that would never end."""
        reference, at = node["$ref"], (*path, "$ref")
        if self._strict:
            raise Unavailable(at, f"{reference} is recursive or too large")
        self._changes.lose("schema_recursion_cut", at, f"{reference} was cut to a plain value")
        named = type_names(self._document.find(reference))
        kept = {key: value for key, value in node.items() if key in _SAID_BESIDE}
        return {"type": named[0] if len(named) == 1 else "object", **kept}


def pruned(document: Document) -> Document:
    """A document without the definitions that nothing refers to any more."""
    reached: set[str] = set()
    waiting = [document.root]
    while waiting:
        for _, node in nodes(waiting.pop()):
            reference = node.get("$ref", ROOT)
            if reference != ROOT and reference not in reached:
                reached.add(reference)
                waiting.append(document.find(reference))
    kept = {
        name: item for name, item in document.definitions.items() if reference_to(name) in reached
    }
    return Document(document.root, kept)


def _endless_references(document: Document, subset: SchemaSubset) -> frozenset[tuple[str, str]]:
    """Pairs of a definition and a reference in it, on a cycle the subset does not allow."""
    if subset.refs not in ("acyclic", "optional"):
        return frozenset()
    every = subset.refs == "acyclic"
    edges = {
        reference_to(name): _targets(item.schema, every)
        for name, item in document.definitions.items()
    }
    edges[ROOT] = _targets(document.root, every)
    return frozenset(
        (home, reference)
        for home, references in edges.items()
        for reference in references
        if _leads_to(edges, reference, home)
    )


def _targets(schema: Schema, every: bool) -> set[str]:
    """What a schema refers to; without `every` only where a value must be."""
    found: set[str] = set()
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, bool):
            continue
        if "$ref" in node:
            found.add(node["$ref"])
        required = node.get("required", ())
        waiting.extend(
            child
            for step, child in children(node)
            if every or step[0] != "properties" or step[1] in required
        )
    return found


def _leads_to(edges: dict[str, set[str]], start: str, goal: str) -> bool:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            waiting.extend(edges.get(name, ()))
    return False
