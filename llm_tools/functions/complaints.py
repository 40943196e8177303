"""What is wrong with a value, said so that a model can mend it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ..content import JSON
from .schemas.kinds import type_of
from .schemas.walking import where

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_LONGEST = 80


def complain(error: ValidationError) -> str:
    """One complaint: the JSON pointer, what was expected there, what came."""
    cause = _deepest(error)
    say = _SAYERS.get(str(cause.validator), _say_keyword)
    return f"at {where(cause.absolute_path)}: {say(cause)}"


def short(value: JSON) -> str:
    """A value as JSON, cut where it is long."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        text = type(value).__name__
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _deepest(error: ValidationError) -> ValidationError:
    """Inside a union, the complaint of the branch that came furthest."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        best = _unknown_tag(error) or max(_meant(error), key=_progress)
        if _progress(best) == (len(error.absolute_path), False):
            return error
        error = best
    return error


def _meant(error: ValidationError) -> list[ValidationError]:
    """The complaints of the branches whose tag fits, where any does."""
    others = {item.schema_path[0] for item in _wrong_tags(error)}
    return [item for item in error.context if item.schema_path[0] not in others] or error.context


def _unknown_tag(error: ValidationError) -> ValidationError | None:
    """The one complaint where no branch has the value's tag: it names the tags of all."""
    from jsonschema.exceptions import ValidationError

    tags = _wrong_tags(error)
    at = {tuple(tag.relative_path) for tag in tags}
    if len(tags) < 2 or len(tags) != len(cast("list[JSON]", error.validator_value)) or len(at) > 1:
        return None
    values = [value for tag in tags for value in _tag_values(tag)]
    return ValidationError(
        tags[0].message,
        validator="enum",
        validator_value=values,
        instance=tags[0].instance,
        path=tags[0].absolute_path,
    )


def _wrong_tags(error: ValidationError) -> list[ValidationError]:
    """Properties that have one legal value, as unions are told apart by, and have another."""
    return [item for item in error.context if len(item.relative_path) == 1 and _tag_values(item)]


def _tag_values(error: ValidationError) -> list[JSON]:
    if error.validator == "const":
        return [error.validator_value]
    values = cast("list[JSON]", error.validator_value) if error.validator == "enum" else []
    return values if len(values) == 1 else []


def _progress(error: ValidationError) -> tuple[int, bool]:
    """How deep an error lies, and whether the type at least was right."""
    return len(error.absolute_path), error.validator != "type"


def _got(error: ValidationError) -> str:
    return f"got {type_of(error.instance)} {short(error.instance)}"


def _say_type(error: ValidationError) -> str:
    return f"expected {_types(error.validator_value)}, {_got(error)}"


def _types(value: Any) -> str:
    return value if isinstance(value, str) else " or ".join(value)


def _say_required(error: ValidationError) -> str:
    names, value = cast("list[str]", error.validator_value), cast("dict[str, Any]", error.instance)
    missing = [name for name in names if name not in value]
    return f"missing {', '.join(map(repr, missing))}"


def _say_additional(error: ValidationError) -> str:
    known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    value = cast("dict[str, Any]", error.instance)
    others = [repr(name) for name in value if name not in known]
    listed = ", ".join(map(repr, known)) or "none"
    return f"unexpected {', '.join(others)[:_LONGEST]}; the properties are {listed[:300]}"


def _say_enum(error: ValidationError) -> str:
    values = cast("list[JSON]", error.validator_value)
    options = ", ".join(map(short, values[:20]))
    return f"expected one of {options}, {_got(error)}"


def _say_const(error: ValidationError) -> str:
    return f"expected {short(error.validator_value)}, {_got(error)}"


def _say_union(error: ValidationError) -> str:
    named = [_types(item.validator_value) for item in error.context if item.validator == "type"]
    if named:
        return f"expected {' or '.join(dict.fromkeys(named))}, {_got(error)}"
    return f"expected exactly one of the alternatives to fit, {_got(error)}"


def _say_keyword(error: ValidationError) -> str:
    if error.validator == "not" and error.validator_value == {}:
        return f"expected nothing here, {_got(error)}"
    return f"expected {error.validator} {short(error.validator_value)}, {_got(error)}"


_SAYERS: dict[str, Callable[[ValidationError], str]] = {
    "additionalProperties": _say_additional,
    "anyOf": _say_union,
    "const": _say_const,
    "enum": _say_enum,
    "oneOf": _say_union,
    "required": _say_required,
    "type": _say_type,
}
