"""Property names on the wire."""

from __future__ import annotations

from typing import Any

from .naming import legal_names
from .notes import add_note
from .subsets import NameRule
from .walking import Path, Schema, map_children, nodes

_LISTS = ("required", "propertyOrdering")


def property_names(root: Schema, rule: NameRule | None) -> dict[str, str]:
    """The caller's property names that are illegal on the wire, each with a legal one."""
    if rule is None:
        return {}
    names: dict[str, None] = {}
    for _, schema in nodes(root):
        names.update(dict.fromkeys(schema.get("properties", ())))
        names.update(dict.fromkeys(schema.get("required", ())))
    return {name: wire for name, wire in legal_names(names, rule).items() if name != wire}


class Renamer:
    """Puts the wire's names in place of the caller's, wherever a schema names a property."""

    __slots__ = ("_names",)

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def __call__(self, schema: Any, path: Path) -> Any:
        """One schema and all in it; a renamed property's description tells its real name."""
        if isinstance(schema, bool):
            return schema
        node = map_children(schema, path, self)
        for key in _LISTS:
            if key in node:
                node[key] = [self._names.get(name, name) for name in node[key]]
        for key in ("dependentRequired", "dependentSchemas"):
            if key in node:
                node[key] = {self._names.get(name, name): v for name, v in node[key].items()}
        if "properties" in node:
            node["properties"] = dict(map(self._rename, node["properties"].items()))
        return node

    def _rename(self, item: tuple[str, Any]) -> tuple[str, Any]:
        name, schema = item
        wire = self._names.get(name)
        if wire is None:
            return item
        return wire, add_note(schema, f"named {name!r}") if isinstance(schema, dict) else schema
