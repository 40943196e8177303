"""A schema apart from its definitions, with every reference in one spelling."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..schemas.walking import Path, Schema, map_children, read_pointer, resolve

ROOT = "#"
_HOLDERS = ("$defs", "definitions")
_PREFIX = "#/$defs/"


class Definition(Struct, frozen=True):
    """A schema that is referred to, and where the caller wrote it."""

    path: Path
    schema: Schema


class Document(Struct, frozen=True):
    """The root without definitions, and those it reaches, by name.

    References are `#` (the root) or `#/$defs/<name>`, whatever the caller's pointed at.
    """

    root: Schema
    definitions: dict[str, Definition]

    def find(self, reference: str) -> Schema:
        """The schema a reference of this document stands for."""
        if reference == ROOT:
            return self.root
        return self.definitions[_name_of(reference)].schema

    def path_of(self, reference: str) -> Path:
        """Where the caller wrote it."""
        return () if reference == ROOT else self.definitions[_name_of(reference)].path

    def map(self, change: Callable[[Schema, Path], Schema]) -> Document:
        """The document with the root and each definition changed."""
        return Document(
            change(self.root, ()),
            {
                name: Definition(item.path, change(item.schema, item.path))
                for name, item in self.definitions.items()
            },
        )

    def assemble(self) -> Schema:
        """One schema again."""
        if not self.definitions:
            return self.root
        return self.root | {"$defs": {name: item.schema for name, item in self.definitions.items()}}


def reference_to(name: str) -> str:
    """A reference to a definition of a document."""
    return _PREFIX + name


def _name_of(reference: str) -> str:
    return reference.removeprefix(_PREFIX)


def read_document(root: Schema, *, root_ref: bool) -> Document:
    """Take a checked schema apart.

    Args:
        root: the caller's schema; not changed.
        root_ref: whether `#` may stay; else the root becomes a definition, too.
    """
    reader = _Reader(root, root_ref)
    body = reader.read(root, ())
    return Document(body, reader.definitions)


class _Reader:
    __slots__ = ("_names", "_root", "_root_ref", "definitions")

    def __init__(self, root: Schema, root_ref: bool) -> None:
        self._root = root
        self._root_ref = root_ref
        self._names: dict[str, str] = {}
        self.definitions: dict[str, Definition] = {}

    def read(self, schema: Any, path: Path) -> Any:
        if isinstance(schema, bool):
            return schema
        bare = {key: value for key, value in schema.items() if key not in _HOLDERS}
        node = map_children(bare, path, self.read)
        if "$ref" in node:
            node["$ref"] = self._refer(node["$ref"])
        return node

    def _refer(self, reference: str) -> str:
        """The new spelling; what it points at becomes a definition the first time."""
        steps = read_pointer(reference)
        if steps == () and self._root_ref:
            return ROOT
        if reference not in self._names:
            name = self._new_name(steps[-1] if steps else reference[1:] or "root")
            self._names[reference] = reference_to(name)
            target = resolve(self._root, reference)
            path = (reference,) if steps is None else steps
            self.definitions[name] = Definition(path, {})  # holds the place while it is read
            read = self.read(target, path)
            self.definitions[name] = Definition(path, _as_object(read))
        return self._names[reference]

    def _new_name(self, wanted: str) -> str:
        """Letters, digits, `_`, `.` and `-`: pointers to it need no escapes."""
        clean = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:60]
        name, number = clean, 2
        while name in self.definitions:
            name, number = f"{clean}_{number}", number + 1
        return name


def _as_object(schema: Any) -> Schema:
    if schema is True:
        return {}
    return {"not": {}} if schema is False else schema
