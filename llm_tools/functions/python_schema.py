"""Python types as JSON Schema."""

from __future__ import annotations

import datetime
import enum
import types
import typing
from collections import abc
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any
from uuid import UUID

import msgspec

from ..content import JSON
from ..errors import ConfigurationError
from .generics import class_of
from .hints import (
    MISSING,
    Field,
    Namespace,
    class_docstring,
    fields_of,
    is_path,
    unwrap,
)

Schema = dict[str, Any]

LISTS: frozenset[Any] = frozenset(
    {list, set, frozenset, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable}
    | {abc.Set, abc.MutableSet}
)
MAPPINGS: frozenset[Any] = frozenset({dict, abc.Mapping, abc.MutableMapping})

_BASE64 = "Bytes, as base64 text."
_PLAIN: dict[Any, Schema] = {
    Any: {},
    object: {},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    typing.LiteralString: {"type": "string"},
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    UUID: {"type": "string", "format": "uuid"},
    Decimal: {"type": "string", "description": "A decimal number, as text."},
    bytes: {"type": "string", "description": _BASE64},
    bytearray: {"type": "string", "description": _BASE64},
}
_JSON_NAMES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    types.NoneType: "null",
}
_WORDS = ("title", "description", "examples")
_NUMBERS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LIMITS = {
    "integer": _NUMBERS,
    "number": _NUMBERS,
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}


class SchemaWriter:
    """Writes the schemas of one function or type; types that hold themselves go to `$defs`."""

    def __init__(self, owner: str, namespace: Namespace) -> None:
        self._owner = owner
        self._namespace = namespace
        self._open: dict[Any, str] = {}
        self._recursive: set[str] = set()
        self.definitions: dict[str, Schema] = {}
        self._generic: dict[Any, Callable[[tuple[Any, ...]], Schema]] = {
            typing.Union: self._union,
            types.UnionType: self._union,
            typing.Literal: self._enumeration,
            tuple: self._tuple,
            **dict.fromkeys(LISTS, self._list),
            **dict.fromkeys(MAPPINGS, self._mapping),
        }

    def write(self, hint: Any) -> Schema:
        """The schema of a hint.

        Raises:
            ConfigurationError: a type that JSON has no word for, or a hint that is not resolved.
        """
        bare, metadata = unwrap(hint)
        schema = self._write(bare)
        for item in metadata:
            schema = _annotated(schema, item)
        return schema

    def object_of(self, fields: list[Field]) -> Schema:
        """The schema of an object with these fields."""
        properties = {}
        for field in fields:
            schema = self.write(field.hint)
            if field.description and not _describes(field.hint):
                schema = {**schema, "description": field.description}
            if (default := _plain_default(field.default)) is not MISSING:
                schema = {**schema, "default": default}
            properties[field.wire] = schema
        required = [field.wire for field in fields if field.required]
        shape: Schema = {"type": "object", "properties": properties}
        return {**shape, "required": required} if required else shape

    def _write(self, hint: Any) -> Schema:
        plain = _look_up(hint)
        if plain is not None:
            return dict(plain)
        if is_path(hint):
            return {"type": "string"}
        write = self._generic.get(typing.get_origin(hint) or hint)
        return write(typing.get_args(hint)) if write else self._class(hint)

    def _union(self, members: tuple[Any, ...]) -> Schema:
        # `UNSET` stands for a field that is not there, which JSON says by leaving it out.
        written = [self.write(member) for member in members if member is not msgspec.UnsetType]
        return written[0] if len(written) == 1 else {"anyOf": written}

    def _list(self, arguments: tuple[Any, ...]) -> Schema:
        return {"type": "array", "items": self.write(arguments[0]) if arguments else {}}

    def _tuple(self, arguments: tuple[Any, ...]) -> Schema:
        if not arguments or arguments[-1] is Ellipsis:
            return self._list(arguments)
        items = [self.write(argument) for argument in arguments]
        size = len(items)
        return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}

    def _mapping(self, arguments: tuple[Any, ...]) -> Schema:
        values = self.write(arguments[1]) if arguments else {}
        return {"type": "object", "additionalProperties": values or True}

    def _enumeration(self, values: tuple[Any, ...]) -> Schema:
        if any(type(value) not in _JSON_NAMES for value in values):
            raise self._refusal(f"the values {list(values)!r}")
        kinds = list(dict.fromkeys([_JSON_NAMES[type(value)] for value in values]))
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(values)}

    def _class(self, hint: Any) -> Schema:
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _described(self._enumeration(tuple(item.value for item in hint)), hint)
        fields = fields_of(hint, self._namespace)
        if fields is None:
            return self._foreign(hint)
        if hint in self._open:
            self._recursive.add(self._open[hint])
            return {"$ref": f"#/$defs/{self._open[hint]}"}
        return self._structured(hint, fields)

    def _structured(self, hint: Any, fields: list[Field]) -> Schema:
        cls = class_of(hint)
        name = self._free_name(cls.__name__)
        self._open[hint] = name
        schema = _tagged(_described(self.object_of(fields), cls), cls)
        if name not in self._recursive:
            del self._open[hint]
            return schema
        self.definitions[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def _free_name(self, stem: str) -> str:
        taken = set(self._open.values()) | set(self.definitions)
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}{number}", number + 1
        return name

    def _foreign(self, hint: Any) -> Schema:
        """A type only msgspec knows: named tuples, attrs classes, structs written as arrays."""
        try:
            schemas, definitions = msgspec.json.schema_components(
                [hint], ref_template="#/$defs/{name}"
            )
        except Exception as error:
            raise self._refusal(f"{hint!r}") from error
        self.definitions |= definitions
        return dict(schemas[0])

    def _refusal(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"{self._owner}: JSON has no word for {what}. Use str, int, float, bool, list, dict, "
            "Literal, an Enum of texts or numbers, datetime, UUID, Decimal, Path, a dataclass, a "
            "TypedDict or a msgspec.Struct; or no hint at all."
        )


def _annotated(schema: Schema, metadata: Any) -> Schema:
    """The schema with what one item of an `Annotated` says."""
    said = _said(metadata)
    if not isinstance(metadata, msgspec.Meta):
        return {**schema, **said}
    limited = _limited(schema, metadata)
    return {**limited, **said, **(metadata.extra_json_schema or {})}


def _said(metadata: Any) -> Schema:
    """What an item says to people: a text is a description."""
    if isinstance(metadata, msgspec.Meta):
        given = {word: getattr(metadata, word) for word in _WORDS}
        return {word: value for word, value in given.items() if value is not None}
    text = metadata if isinstance(metadata, str) else getattr(metadata, "documentation", None)
    return {"description": text} if isinstance(text, str) else {}  # `documentation`: typing.Doc


def _limited(schema: Schema, metadata: msgspec.Meta) -> Schema:
    """The schema with the limits that fit its type; of a union, in each member."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [_limited(member, metadata) for member in schema["anyOf"]]}
    limits = {
        word: getattr(metadata, name)
        for name, word in _LIMITS.get(str(schema.get("type")), {}).items()
        if getattr(metadata, name) is not None
    }
    if schema.get("description") == _BASE64:  # four characters for every three bytes begun
        limits = {word: -(-number // 3) * 4 for word, number in limits.items()}
    return {**schema, **limits}


def _describes(hint: Any) -> bool:
    return any("description" in _said(item) for item in unwrap(hint)[1])


def _described(schema: Schema, cls: type) -> Schema:
    description = class_docstring(cls).description
    return {**schema, "description": description} if description else schema


def _tagged(schema: Schema, cls: type) -> Schema:
    """A `msgspec.Struct`'s tag is a property like the others; extras may be forbidden."""
    config = getattr(cls, "__struct_config__", None)
    if config is None:
        return schema
    if config.tag_field is not None:
        tag = {config.tag_field: {"type": _JSON_NAMES[type(config.tag)], "enum": [config.tag]}}
        schema["properties"] = tag | schema["properties"]
        schema["required"] = [config.tag_field, *schema.get("required", ())]
    if config.forbid_unknown_fields:
        schema["additionalProperties"] = False
    return schema


def _plain_default(value: Any) -> JSON:
    """A default worth telling: a plain JSON value that is not null."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, float) and not isfinite(value):
        return MISSING
    return value if value is not None and type(value) in _JSON_NAMES else MISSING


def _look_up(hint: Any) -> Schema | None:
    try:
        return _PLAIN.get(hint)
    except TypeError:  # a hint that cannot be hashed is none of them
        return None
