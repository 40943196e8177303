"""Calls as callers write them by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from ..content import OutputResultContent, OutputResultFunctionUse
from ..errors import ConfigurationError
from .parts import read_parts

Part: TypeAlias = OutputResultContent | Mapping[str, Any]
"""A content part, as a struct or in its JSON form."""

Calls: TypeAlias = str | Part | Iterable[Part]
"""A function's name, or a call or several as parts."""


def read_calls(
    name: Calls,
    input: Mapping[str, Any] | str | None = None,  # noqa: A002 - the field's name
    function_id: str | None = None,
) -> tuple[OutputResultContent, ...]:
    """The calls of one assistant turn.

    Args:
        name: a function's name, or `function_use` parts (one, or several).
        input: the call's input, or its JSON text, where a name was given; None is `{}`.
        function_id: the call's id, where a name was given.

    Raises:
        ConfigurationError: a part that is no call, a name without an id, or an input that is
            no object.
    """
    if not isinstance(name, str):
        if input is not None or function_id is not None:
            raise ConfigurationError(
                "A call given as a part holds its own input and functionId: leave out the others."
            )
        items = [name] if isinstance(name, OutputResultFunctionUse | Mapping) else list_of(name)
        return read_parts(items, (OutputResultFunctionUse,), "function call message")
    if not function_id:
        raise ConfigurationError(f"The call of {name!r} needs a function_id: its result names it.")
    call = {"type": "function_use", "name": name, "functionId": function_id}
    return read_parts(
        [call | {"input": _read_input(name, input)}],
        (OutputResultFunctionUse,),
        "function call message",
    )


def list_of(items: Any, where: str = "parts") -> list[Any]:
    """A list of what an iterable holds.

    Raises:
        ConfigurationError: it is none, or text or an object.
    """
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise ConfigurationError(f"{where}: expected a list, got {type(items).__name__}.")
    return list(items)


def _read_input(name: str, value: Mapping[str, Any] | str | None) -> Any:
    if isinstance(value, str):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ConfigurationError(f"The input of {name!r} is no JSON: {error}.") from error
    return {} if value is None else dict(value) if isinstance(value, Mapping) else value
