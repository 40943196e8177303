"""Type hints: resolved, unwrapped, and the fields of structured types."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
import typing_extensions
from msgspec import Struct

from ..errors import ConfigurationError
from .docstrings import Docstring, parse_docstring
from .generics import alias_value, class_of, fill_in, is_alias

Namespace = Mapping[str, Any]

_NAME = re.compile(r"[^\W\d]\w*")

MISSING: Any = object()
"""Stands for a default that is not there."""

_WRAPPERS = (
    typing.Required,
    typing.NotRequired,
    typing.Final,
    typing.ClassVar,
    typing_extensions.ReadOnly,
)


class Field(Struct, frozen=True):
    """A field of a structured type, or a parameter: `wire` is its name in JSON."""

    name: str
    wire: str
    hint: Any
    required: bool
    default: Any = MISSING
    description: str = ""


def hints_of(owner: Any, namespace: Namespace, what: str) -> dict[str, Any]:
    """The resolved type hints of a function or class, with their annotations.

    Args:
        owner: the function or class.
        namespace: names its hints may use beside those of its module.
        what: whose hints they are, for the error.

    Raises:
        ConfigurationError: a hint names something that cannot be found.
    """
    try:
        return typing.get_type_hints(owner, localns=dict(namespace), include_extras=True)
    except (NameError, SyntaxError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"A type hint of {what} cannot be resolved: {error}. Define the type where the module "
            "of the function can see it, above the function, or leave the hint out."
        ) from error


def names_around(function: Callable[..., Any]) -> dict[str, Any]:
    """The names a function closes over; its hints may use them."""
    plain = inspect.unwrap(underlying(function))
    code = getattr(plain, "__code__", None)
    cells = zip(code.co_freevars, plain.__closure__ or (), strict=False) if code else ()
    found = {}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return found


def underlying(function: Callable[..., Any]) -> Any:
    """The function that holds the code and hints of a callable."""
    while isinstance(function, partial):
        function = function.func
    if inspect.ismethod(function):
        return function.__func__
    if inspect.isroutine(function):
        return function
    return getattr(type(function).__call__, "__func__", type(function).__call__)


def unwrap(hint: Any) -> tuple[Any, list[Any]]:
    """A hint without its wrappers, and the metadata of its `Annotated`s, the outermost last."""
    metadata: list[Any] = []
    while True:
        origin = typing.get_origin(hint)
        if origin is typing.Annotated:
            hint, metadata = hint.__origin__, [*hint.__metadata__, *metadata]
        elif origin in _WRAPPERS:
            hint = typing.get_args(hint)[0]
        elif isinstance(hint, dataclasses.InitVar):
            hint = hint.type
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif is_alias(hint):
            hint = alias_value(hint)
        elif isinstance(hint, typing.TypeVar):
            hint = hint.__bound__ or Any
        else:
            return hint, metadata


def is_typed_dict(hint: Any) -> bool:
    """Whether a hint is a `TypedDict` class."""
    return typing_extensions.is_typeddict(hint) or typing.is_typeddict(hint)


def is_path(hint: Any) -> bool:
    """Whether a hint is one of `pathlib`'s paths, which are text in JSON."""
    from pathlib import PurePath

    return isinstance(hint, type) and issubclass(hint, PurePath)


def fields_of(cls: Any, namespace: Namespace) -> list[Field] | None:
    """The fields of a dataclass, `msgspec.Struct` or `TypedDict`; None for any other type.

    Those of a generic one have the types it was given (`Box[int]`).

    Raises:
        ConfigurationError: a hint cannot be resolved.
    """
    given, cls = cls, class_of(cls)
    if not isinstance(cls, type) or not _is_structured(cls):
        return None
    nested = "<locals>" in cls.__qualname__
    hints = fill_in(given, hints_of(cls, namespace if nested else {}, cls.__qualname__))
    notes = class_docstring(cls).parameters
    if issubclass(cls, Struct):
        fields = _struct_fields(cls, hints)
    elif dataclasses.is_dataclass(cls):
        fields = _dataclass_fields(cls, hints)
    else:
        fields = _typed_dict_fields(cls, hints)
    return [msgspec.structs.replace(item, description=notes.get(item.name, "")) for item in fields]


def class_docstring(cls: type) -> Docstring:
    """What a class's own docstring says; nothing where Python wrote it."""
    return parse_docstring(class_text(cls))


def class_text(cls: type) -> str:
    """A class's own docstring; empty where Python wrote it."""
    text = cls.__dict__.get("__doc__") or ""
    written = not (dataclasses.is_dataclass(cls) and text.startswith(f"{cls.__name__}("))
    return text if written else ""


def _is_structured(cls: type) -> bool:
    if is_typed_dict(cls) or dataclasses.is_dataclass(cls):
        return True
    return issubclass(cls, Struct) and not cls.__struct_config__.array_like


def _struct_fields(cls: type[Struct], hints: Mapping[str, Any]) -> list[Field]:
    names, wires = cls.__struct_fields__, cls.__struct_encode_fields__
    defaults = (msgspec.NODEFAULT,) * (len(names) - len(cls.__struct_defaults__))
    return [
        Field(name, wire, hints[name], default is msgspec.NODEFAULT, default)
        for name, wire, default in zip(
            names, wires, (*defaults, *cls.__struct_defaults__), strict=True
        )
    ]


def _dataclass_fields(cls: Any, hints: Mapping[str, Any]) -> list[Field]:
    found = []
    for item in cls.__dataclass_fields__.values():
        hint = hints[item.name]
        if item.init and typing.ClassVar not in (hint, typing.get_origin(hint)):
            absent = item.default is dataclasses.MISSING
            required = absent and item.default_factory is dataclasses.MISSING
            default = MISSING if absent else item.default
            found.append(Field(item.name, item.name, hint, required, default))
    return found


def _typed_dict_fields(cls: Any, hints: Mapping[str, Any]) -> list[Field]:
    return [
        Field(name, name, hint, _is_required(hint, name in cls.__required_keys__))
        for name, hint in hints.items()
    ]


def _is_required(hint: Any, otherwise: bool) -> bool:
    """Python 3.11 overlooks `NotRequired` where hints are strings, so look at the hint itself."""
    while True:
        origin = typing.get_origin(hint)
        if origin is typing.NotRequired:
            return False
        if origin is typing.Required:
            return True
        if origin is typing.Annotated:
            hint = hint.__origin__
        elif origin is typing_extensions.ReadOnly:
            hint = typing.get_args(hint)[0]
        else:
            return otherwise


def annotation_names(function: Callable[..., Any]) -> set[str]:
    """The names a function's hints use, where the hints are kept as text."""
    annotations = getattr(underlying(function), "__annotations__", {})
    texts = [hint for hint in annotations.values() if isinstance(hint, str)]
    return {name for text in texts for name in _NAME.findall(text)}
