"""What a Python function says of itself: name, text, parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter
from typing import Any, Unpack, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from ..errors import ConfigurationError
from .docstrings import parse_docstring
from .hints import (
    MISSING,
    Field,
    Namespace,
    class_text,
    fields_of,
    hints_of,
    is_typed_dict,
    names_around,
    underlying,
)

EXTRAS = Parameter.VAR_KEYWORD


class FunctionSignature(Struct, frozen=True, kw_only=True):
    """A function as a model may be told of it.

    `positional` names the parameters that can only be given by position; `extras` is what
    `**kwargs` take, None where there are none.
    """

    name: str
    description: str
    fields: tuple[Field, ...]
    positional: tuple[str, ...] = ()
    extras: Field | None = None
    namespace: Namespace = {}


def name_of(function: Callable[..., Any]) -> str:
    """The name a function goes by; empty where it has none of its own."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    return "" if name == "<lambda>" else str(name)


def check_shape(function: Callable[..., Any]) -> inspect.Signature:
    """The bare signature, without looking at its hints.

    Raises:
        ConfigurationError: it has none, takes `*args`, or is a class or a generator function.
    """
    what = f"function {name_of(function)!r}"
    if isinstance(function, type):
        raise ConfigurationError(f"{what} is a class: give a function that makes one.")
    source = underlying(function)
    if inspect.isgeneratorfunction(source) or inspect.isasyncgenfunction(source):
        raise ConfigurationError(
            f"{what} yields, and a call has one result: return a list or a text instead."
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{what} has no signature Python can read: wrap it in a typed function."
        ) from error
    for parameter in signature.parameters.values():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            raise ConfigurationError(
                f"{what} takes *{parameter.name}, which has no name a model could give: use a "
                f"list parameter instead."
            )
    return signature


def read_signature(
    function: Callable[..., Any], namespace: Namespace | None = None
) -> FunctionSignature:
    """The function's parameters with their hints, defaults and texts.

    Args:
        function: a plain function, method, partial or callable object.
        namespace: names its hints may use, beside its module's and those it closes over.

    Raises:
        ConfigurationError: it takes `*args`, is a method without its instance, or a hint cannot be
            resolved.
    """
    signature = check_shape(function)
    source = underlying(function)
    _check_bound(signature, source, name_of(function))
    known = {**names_around(function), **(namespace or {})}
    hints = hints_of(source, known, f"function {name_of(function)!r}")
    text = parse_docstring(_doc_of(function, source))
    parameters = [item for item in signature.parameters.values() if not _is_bound(function, item)]
    fields = {
        item.name: replace(_field(item, hints), description=text.parameters.get(item.name, ""))
        for item in parameters
    }
    extras = next((fields.pop(item.name) for item in parameters if item.kind is EXTRAS), None)
    if extras is not None and get_origin(extras.hint) is Unpack:
        fields |= _unpacked(extras, known, text.parameters, name_of(function))
        extras = None
    return FunctionSignature(
        name=name_of(function),
        description=text.description,
        fields=tuple(fields.values()),
        positional=tuple(x.name for x in parameters if x.kind is Parameter.POSITIONAL_ONLY),
        extras=extras,
        namespace=known,
    )


def _check_bound(signature: inspect.Signature, source: Any, name: str) -> None:
    """Refuse a method that has no instance yet: a model could not give it one."""
    first = next(iter(signature.parameters.values()), None)
    owner = getattr(source, "__qualname__", "").rpartition(".")[0]
    in_class = bool(owner) and not owner.endswith("<locals>")
    if in_class and first is not None and first.name == "self" and first.annotation is first.empty:
        raise ConfigurationError(
            f"function {name!r} is a method, and 'self' is nothing a model could give: take it "
            f"from an instance."
        )


def _doc_of(function: Callable[..., Any], source: Any) -> str | None:
    """The docstring; of an object whose `__call__` has none of its own, that of its class."""
    while isinstance(function, partial):
        function = function.func
    text = inspect.getdoc(source)
    unsaid = text is None or text == inspect.getdoc(type.__call__)
    return class_text(type(function)) if unsaid and not inspect.isroutine(function) else text


def _unpacked(
    extras: Field, known: Namespace, texts: Mapping[str, str], name: str
) -> dict[str, Field]:
    """The parameters that `**options: Unpack[Options]` stands for."""
    (options,) = get_args(extras.hint)
    fields = fields_of(options, known) if is_typed_dict(options) else None
    if fields is None:
        raise ConfigurationError(
            f"function {name!r}: **{extras.name} can unpack a TypedDict only, not {options!r}."
        )
    return {
        field.name: replace(field, description=texts.get(field.name, field.description))
        for field in fields
    }


def _field(parameter: Parameter, hints: dict[str, Any]) -> Field:
    absent = parameter.default is Parameter.empty
    default = MISSING if absent else parameter.default
    hint = hints.get(parameter.name, Any)
    return Field(parameter.name, parameter.name, hint, absent, default)


def _is_bound(function: Callable[..., Any], parameter: Parameter) -> bool:
    """Whether a partial has given the parameter by keyword already."""
    return isinstance(function, partial) and parameter.name in function.keywords
