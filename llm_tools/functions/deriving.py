"""Functions and schemas from Python: signature, type hints and docstring, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

import msgspec

from ..content import JSON
from ..errors import ConfigurationError, FunctionInputError
from .definitions import FunctionDefinition
from .hints import Namespace
from .python_schema import Schema, SchemaWriter
from .python_values import Converters
from .schemas.walking import where
from .signatures import FunctionSignature, read_signature
from .validating import validate

Arguments: TypeAlias = tuple[list[Any], dict[str, Any]]
Bind: TypeAlias = Callable[[dict[str, JSON]], Arguments]
"""Takes a model's input; gives positional and keyword arguments as the hints ask for."""

_STEP = re.compile(r"\.([^.\[`]+)|\[([^\]]+)\]")
"""One step of a path as msgspec writes it: `.name`, `[3]`, or `[...]` for some key."""


def derive_definition(
    function: Callable[..., Any], namespace: Namespace | None = None
) -> FunctionDefinition:
    """What a model is told of a Python function.

    Name and description come from the function and its docstring, parameters from the signature
    and the type hints (`Annotated[T, "text"]` and `msgspec.Meta` add to them). A parameter without
    a hint takes any JSON, one with a default is optional.

    Args:
        function: a plain function, method, partial or callable object.
        namespace: names its hints may use, beside its module's and those it closes over.

    Raises:
        ConfigurationError: `*args`, a hint that cannot be resolved, or a type that is not JSON's.
    """
    signature = read_signature(function, namespace)
    return FunctionDefinition(
        name=signature.name,
        description=signature.description,
        parameters=_parameters(signature),
    )


def derive_schema(type_: Any, namespace: Namespace | None = None) -> Schema:
    """The JSON Schema of a Python type.

    Raises:
        ConfigurationError: it is no type, a hint in it cannot be resolved, or JSON has no word for
            it.
    """
    if not isinstance(type_, Hashable):
        raise ConfigurationError(
            f"{type_!r} is neither a type nor a JSON Schema: give a dict, or a msgspec.Struct, "
            "dataclass or TypedDict type."
        )
    writer = SchemaWriter(getattr(type_, "__name__", str(type_)), namespace or {})
    schema = writer.write(type_)
    definitions = writer.definitions
    reference = schema.get("$ref", "")
    if set(schema) == {"$ref"}:
        schema = definitions[reference.removeprefix("#/$defs/")]
    return {**schema, "$defs": definitions} if definitions else schema


def derive_converter(type_: Any, namespace: Namespace | None = None) -> Callable[[JSON], Any]:
    """What turns a JSON value into a value of the type.

    Returns:
        A function that raises `msgspec.ValidationError` for a value that does not fit.
    """
    convert = Converters(namespace or {}).of(type_)
    return lambda value: _convert(convert, value)


def bind(function: Callable[..., Any], namespace: Namespace | None = None) -> Bind:
    """What turns a model's input into the function's arguments; nothing is coerced.

    Returns:
        A function that raises `FunctionInputError`, in words for the model, for input that does
        not fit.

    Raises:
        ConfigurationError: as for `derive_definition`.
    """
    return _Binding(read_signature(function, namespace)).bind


class _Binding:
    """One function's parameters, and how each is read."""

    __slots__ = ("_complete", "_extra", "_known", "_parameters", "_readers", "_signature")

    def __init__(self, signature: FunctionSignature) -> None:
        converters = Converters(signature.namespace)
        extras = signature.extras
        self._signature = signature
        self._known = {field.wire for field in signature.fields}
        self._readers = [(field, converters.of(field.hint)) for field in signature.fields]
        self._extra = None if extras is None else converters.of(extras.hint)
        self._complete = converters.complete
        self._parameters: Schema | None = None

    def bind(self, given: dict[str, JSON]) -> Arguments:
        values: dict[str, Any] = {}
        problems: list[str] = []
        for field, convert in self._readers:
            if field.wire in given:
                _take(values, problems, field.name, convert, given[field.wire])
            elif field.required:
                problems.append(f"at /{field.wire}: missing")
        unknown = [name for name in given if name not in self._known]
        if self._extra is not None:
            for name in unknown:
                _take(values, problems, name, self._extra, given[name])
            unknown = []
        if problems or unknown or not self._complete:
            self._refuse(given, problems, unknown)
        return _in_places(self._signature, values)

    def _refuse(self, given: dict[str, JSON], problems: list[str], unknown: list[str]) -> None:
        """Say all that is wrong, in the schema's words where it has some."""
        said = [self._validate(given) or "; ".join(sorted(problems))]
        said += [f"at /{name}: there is no such parameter" for name in sorted(unknown)]
        if any(said):
            raise FunctionInputError("; ".join(filter(None, said)))

    def _validate(self, given: dict[str, JSON]) -> str | None:
        if self._parameters is None:
            self._parameters = _parameters(self._signature)
        return None if self._parameters is None else validate(self._parameters, given)


def _parameters(signature: FunctionSignature) -> Schema | None:
    if not signature.fields and signature.extras is None:
        return None
    writer = SchemaWriter(f"function {signature.name!r}", signature.namespace)
    schema = writer.object_of(list(signature.fields))
    if signature.extras is not None:
        schema["additionalProperties"] = writer.write(signature.extras.hint) or True
    return {**schema, "$defs": writer.definitions} if writer.definitions else schema


def _take(
    values: dict[str, Any],
    problems: list[str],
    name: str,
    convert: Callable[[JSON], Any],
    value: JSON,
) -> None:
    try:
        values[name] = _convert(convert, value)
    except msgspec.ValidationError as error:
        problems.append(told(error, name))


def told(error: msgspec.ValidationError, *start: str) -> str:
    """What msgspec says of a value, with its path as a JSON pointer."""
    text, _, path = str(error).partition(" - at `$")
    steps = [name or index for name, index in _STEP.findall(path)]
    return f"at {where([*start, *steps])}: {text}"


def _convert(convert: Callable[[JSON], Any], value: JSON) -> Any:
    """Convert; a whole number written as `5.0` is an integer in JSON, so try it as one."""
    try:
        return convert(value)
    except msgspec.ValidationError:
        whole = _whole_numbers(value)
        if whole == value and repr(whole) == repr(value):
            raise
        return convert(whole)


def _whole_numbers(value: JSON) -> JSON:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return value


def _in_places(signature: FunctionSignature, values: dict[str, Any]) -> Arguments:
    """Positional-only parameters by position, with their defaults; the others by name."""
    positional = [
        values.pop(field.name, field.default)
        for field in signature.fields
        if field.name in signature.positional
    ]
    return positional, values
