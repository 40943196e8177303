"""Values that fit a JSON Schema, taken from what the user said where they can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NAME = re.compile(r"(?<=\w )[A-Z]\w+")


class Maker:
    """Makes values; each number and name of the text is used once, in order."""

    def __init__(self, text: str, root: dict[str, Any]) -> None:
        self._text = text
        self._root = root
        self._numbers: Iterator[str] = iter(_NUMBER.findall(text))
        self._names: Iterator[str] = iter(_NAME.findall(text))

    def make(self, schema: dict[str, Any], name: str = "value") -> Any:
        """A value for the schema of a property called `name`."""
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._chosen(schema["enum"])
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = kind[0]
        return self._of_type(kind, schema, name)

    def _of_type(self, kind: str, schema: dict[str, Any], name: str) -> Any:
        match kind:
            case "object":
                needed = schema.get("required", [])
                fields = schema.get("properties", {})
                return {key: self.make(fields.get(key, {}), key) for key in needed}
            case "array":
                return [self.make(schema.get("items", {}), name)]
            case "integer":
                return int(float(next(self._numbers, schema.get("minimum", 1))))
            case "number":
                return float(next(self._numbers, schema.get("minimum", 1)))
            case "boolean":
                return True
            case "null":
                return None
        return next(self._names, name)

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            found: Any = self._root
            for step in schema["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            schema = found
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self._resolved(schema[choice][0])
        return schema

    def _chosen(self, values: list[Any]) -> Any:
        said = [value for value in values if str(value).lower() in self._text.lower()]
        return (said or values)[0]
