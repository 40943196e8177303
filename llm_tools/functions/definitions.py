"""The functions of a call, normalised once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, cast

import msgspec
from msgspec import Struct

from ..content import JSON, ResultWarning
from ..errors import ConfigurationError
from .caching import Bounded, ByContent, Same
from .numbers import refuse_lacking
from .schemas.checking import check_schema
from .schemas.nesting import decode_shallow
from .schemas.roots import check_object_root, is_empty_root
from .shapes import read_dict

T = TypeVar("T")

_PLAIN_CALLABLES = (FunctionType, MethodType, BuiltinFunctionType)


class FunctionDefinition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A function a model may call; `parameters` is a JSON Schema of its input (an object)."""

    name: str
    description: str = ""
    parameters: dict[str, JSON] | None = None


class HasDefinition(Protocol):
    """A callable that brings its own definition (`CallableExecutor`, `@tool`)."""

    @property
    def definition(self) -> FunctionDefinition:
        """What the model is told."""


FunctionLike: TypeAlias = dict[str, Any] | FunctionDefinition | HasDefinition | Callable[..., Any]


class FunctionSet:
    """Functions that go out together, in order, with what was made from them so far.

    What a dialect or a subset makes of them is kept by `cached`, so it is made once. `warnings`
    say what of the caller's dicts means nothing here.
    """

    __slots__ = ("_made", "by_name", "definitions", "warnings")

    def __init__(
        self, definitions: Sequence[FunctionDefinition], warnings: Sequence[ResultWarning] = ()
    ) -> None:
        self.definitions: tuple[FunctionDefinition, ...] = tuple(definitions)
        self.warnings: tuple[ResultWarning, ...] = tuple(warnings)
        self.by_name: dict[str, FunctionDefinition] = {item.name: item for item in definitions}
        self._made: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for `key`, made on first use."""
        try:
            return cast("T", self._made[key])
        except KeyError:
            return cast("T", self._made.setdefault(key, make()))


_ENCODER = msgspec.json.Encoder()
_PACKER = msgspec.msgpack.Encoder()
_SETS: Bounded[FunctionSet] = Bounded(256)
_SETS_OF_OBJECTS: Bounded[tuple[FunctionSet, tuple[Any, ...]]] = Bounded(256)
_DICTS = frozenset({dict})
_SETS_OF_DICTS: ByContent[FunctionSet] = ByContent(256)


def normalize_functions(functions: Iterable[FunctionLike]) -> FunctionSet:
    """Read the caller's functions, in any accepted form, into a `FunctionSet`.

    The caller's objects are neither kept nor changed. Functions with the same content give the
    same set again, so what was made from it is reused; a dict changed in between gives another.

    Raises:
        ConfigurationError: no list of functions, a name that is missing, blank or given twice, or
            parameters that are not the JSON Schema of an object.
    """
    if isinstance(functions, FunctionSet):
        return functions
    if are_plain_dicts(functions):
        return _find_set_of_dicts(functions)
    if type(functions) in (list, tuple) and all(map(_is_settled, functions)):
        held = tuple(functions)
        found = _SETS_OF_OBJECTS.get(tuple(map(id, held)), lambda: (_find_set(held), held))
        return found[0]
    require_list(functions)
    return _find_set(list(functions))


def require_name(name: str) -> None:
    """Refuse a Python function without a name of its own.

    Raises:
        ConfigurationError: it is a lambda.
    """
    if not name:
        raise ConfigurationError("A lambda has no name: give one with tool(name=…)(function).")


def require_list(functions: Any) -> None:
    """Refuse what is no list of functions, of whatever type.

    Raises:
        ConfigurationError: it cannot be looked through, or is text or a mapping.
    """
    if type(functions) in (list, tuple):
        return
    if isinstance(functions, str | bytes | Mapping) or not isinstance(functions, Iterable):
        raise ConfigurationError(
            f"functions must be a list of functions, got {type(functions).__name__}."
        )


def are_plain_dicts(functions: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether this is a list of dicts and nothing else, the usual case."""
    return type(functions) is list and _DICTS.issuperset(map(type, functions))


def _find_set_of_dicts(functions: list[dict[str, Any]]) -> FunctionSet:
    """The set of plain dicts, found by their MessagePack, which tells NaN from null."""
    try:
        content = _PACKER.encode(functions)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return _find_set(functions)  # it says which of them is no JSON
    return _SETS_OF_DICTS.get(content, lambda: _find_set(functions))


def _is_settled(item: Any) -> bool:
    """Whether what is told of a function stays as it is: then its identity is enough."""
    return type(item) in _PLAIN_CALLABLES or getattr(item, "is_settled", False) is True


def _find_set(functions: Sequence[Any]) -> FunctionSet:
    contents = tuple([_content(item, position) for position, item in enumerate(functions)])
    return _SETS.get(contents, lambda: _read_all(contents))


def _content(item: Any, position: int) -> Hashable:
    """All that is kept of one function: its JSON, or a Python function that has none yet."""
    if isinstance(item, dict | FunctionDefinition):
        return _encode(item, position)
    definition = None if isinstance(item, type) else getattr(item, "definition", None)
    if isinstance(definition, dict | FunctionDefinition):
        return _encode(definition, position)
    if isinstance(item, Mapping):
        return _encode(dict(item), position)
    if callable(item):
        return item if isinstance(item, _PLAIN_CALLABLES) else Same(item)
    raise ConfigurationError(
        f"functions[{position}] is {type(item).__name__}: give a dict with a name, a "
        "FunctionDefinition, a @tool, a CallableExecutor or a typed Python function."
    )


def _encode(item: dict[str, Any] | FunctionDefinition, position: int) -> bytes:
    owner = f"functions[{position}] ({_name_of(item)!r})"
    try:
        content = _ENCODER.encode(item)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ConfigurationError(f"{owner} is not plain JSON: {error}.") from None
    refuse_lacking(content, item, owner)
    return content


def _name_of(item: dict[str, Any] | FunctionDefinition) -> Any:
    if isinstance(item, FunctionDefinition):
        return item.name
    inner = item.get("function")
    return item.get("name", inner.get("name") if isinstance(inner, dict) else None)


def _read_all(contents: Sequence[Hashable]) -> FunctionSet:
    definitions: dict[str, FunctionDefinition] = {}
    warnings: list[ResultWarning] = []
    for position, content in enumerate(contents):
        definition, ignored = _read_one(content, position)
        if definition.name in definitions:
            raise ConfigurationError(
                f"Two functions are called {definition.name!r}: names must be unique in a call."
            )
        definitions[definition.name] = definition
        warnings.extend(ignored)
    return FunctionSet(list(definitions.values()), warnings)


def _read_one(
    content: Hashable, position: int
) -> tuple[FunctionDefinition, tuple[ResultWarning, ...]]:
    if not isinstance(content, bytes):
        content = _encode(_derive(content), position)
    try:
        data = decode_shallow(content)
    except RecursionError:
        raise ConfigurationError(
            f"functions[{position}] is nested too deeply to be sent."
        ) from None
    name, description, parameters, ignored = read_dict(data, position)
    definition = FunctionDefinition(
        name=name, description=description, parameters=_read_parameters(name, parameters)
    )
    return definition, ignored


def _derive(content: Hashable) -> FunctionDefinition:
    from .deriving import derive_definition

    function = content.value if isinstance(content, Same) else content
    definition = derive_definition(cast("Callable[..., Any]", function))
    require_name(definition.name)
    return definition


def _read_parameters(name: str, parameters: JSON) -> dict[str, JSON] | None:
    """A checked schema; None where the function takes nothing, however that was written."""
    if parameters is None or parameters == {}:
        return None
    owner = f"function {name!r}"
    check_schema(parameters, owner)
    check_object_root(parameters, owner)
    return None if is_empty_root(parameters) else cast("dict[str, JSON]", parameters)
