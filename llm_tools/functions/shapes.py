"""The forms in which a function may be written down, read into one."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..content import JSON, ResultWarning
from ..errors import ConfigurationError
from ..given import nearest

_PARAMETERS = ("parameters", "input_schema", "inputSchema")
_KNOWN = ("name", "description", *_PARAMETERS)
_IGNORED = {"type", "function"}


class Written(NamedTuple):
    """A function as its dict says it, checked for types; `parameters` is not checked yet."""

    name: str
    description: str
    parameters: JSON
    warnings: tuple[ResultWarning, ...]


def read_dict(data: dict[str, Any], position: int) -> Written:
    """Read a plain dict, an OpenAI tool (nested or flat) or an Anthropic or MCP one.

    Raises:
        ConfigurationError: no function tool, no usable name, a description that is no text, two
            schemas, or a key that looks like a misspelled one.
    """
    fields = _unwrap(data, position)
    name = _read_name(fields, position)
    description = fields.get("description")
    if not isinstance(description, str | None):
        raise ConfigurationError(
            f"The description of function {name!r} must be a string, got {description!r}."
        )
    given = [key for key in _PARAMETERS if fields.get(key) is not None]
    if len(given) > 1:
        raise ConfigurationError(
            f"Function {name!r} has both {given[0]!r} and {given[1]!r}: keep one schema."
        )
    parameters = fields[given[0]] if given else None
    return Written(name, description or "", parameters, _read_others(fields, name))


def _unwrap(data: dict[str, Any], position: int) -> dict[str, Any]:
    """The object that holds the name."""
    kind = data.get("type", "function")
    if kind not in ("function", "custom") or (kind == "custom" and "input_schema" not in data):
        raise ConfigurationError(
            f"functions[{position}] has type {kind!r}, which is no function: tools that the "
            "provider runs itself go into extra_body."
        )
    if "function" not in data:
        return data
    inner = data["function"]
    if not isinstance(inner, dict):
        raise ConfigurationError(
            f"functions[{position}]['function'] must be an object with a name, got {inner!r}."
        )
    return inner


def _read_name(fields: dict[str, Any], position: int) -> str:
    if "name" not in fields:
        raise ConfigurationError(
            f"functions[{position}] has no name: give {{'name': …, 'description': …, "
            "'parameters': …}."
        )
    name = fields["name"]
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError(
            f"functions[{position}] has the name {name!r}: it must be a string that is not blank."
        )
    return name


def _read_others(fields: dict[str, Any], name: str) -> tuple[ResultWarning, ...]:
    """A warning for each key that means nothing here; a likely misspelling is an error."""
    warnings = []
    for key in sorted(fields.keys() - _IGNORED - set(_KNOWN)):
        meant = nearest(key, _KNOWN, likeness=0.8)
        if meant is not None:
            raise ConfigurationError(
                f"Function {name!r} has a key {key!r}. Did you mean {meant!r}?"
            )
        if fields[key] in (None, False):
            continue
        advice = ": use function_call_strict_input" if key == "strict" else ""
        detail = f"{name}: the key {key!r} of the function was ignored{advice}."
        warnings.append(ResultWarning(code="function_key_ignored", detail=detail))
    return tuple(warnings)
