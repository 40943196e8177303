"""Property names on the wire."""

from __future__ import annotations

from typing import Any

from ..naming import legal_names
from ..schemas.walking import Path, Schema, map_children, nodes
from ..subsets import NameRule
from .notes import add_note

_LISTS = frozenset({"required", "propertyOrdering"})
_BY_NAME = frozenset({"dependencies", "dependentRequired", "dependentSchemas"})


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
        for key in node.keys() & _LISTS:
            node[key] = self._renamed(node[key])
        for key in node.keys() & _BY_NAME:
            node[key] = {
                self._names.get(name, name): self._renamed(value)
                for name, value in node[key].items()
            }
        if "properties" in node:
            node["properties"] = dict(map(self._rename, node["properties"].items()))
        return node

    def _renamed(self, value: Any) -> Any:
        """A list of names on the wire; a schema as it is."""
        if not isinstance(value, list):
            return value
        return [self._names.get(name, name) for name in value]

    def _rename(self, item: tuple[str, Any]) -> tuple[str, Any]:
        name, schema = item
        wire = self._names.get(name)
        if wire is None:
            return item
        return wire, add_note(schema, f"named {name!r}") if isinstance(schema, dict) else schema
