"""Checking a value against a schema, exactly (`"1"` is no integer)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from ..content import JSON
from .caching import Bounded, Same
from .schemas.accepting import Accepts, accepter
from .schemas.walking import Path, Schema, map_children, nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_MOST_ERRORS = 5
_NOTHING: Schema = {"not": {}}
_ACCEPTERS: Bounded[Accepts] = Bounded(512)
_VALIDATORS: Bounded[Validator] = Bounded(512)


def validate(schema: dict[str, JSON], value: JSON) -> str | None:
    """What is wrong with a value, for a model to read; None where it fits.

    Each of at most five complaints names the JSON pointer, what was expected and what came. By
    the draft that `$schema` names, else by 2020-12 (draft 7 where its spelling of tuples is
    used). Formats are not checked, remote references never fetched. Never raises.

    Args:
        schema: compiled once for each object, so it must not be changed afterwards.
        value: plain JSON.
    """
    try:
        if _ACCEPTERS.get(Same(schema), lambda: accepter(schema))(value):
            return None
        validator = _VALIDATORS.get(Same(schema), lambda: _compile(schema))
        from .complaints import complain

        found = list(islice(map(complain, validator.iter_errors(value)), _MOST_ERRORS))
    except RecursionError:
        return "the value, or its schema, is nested too deeply to be checked"
    except Exception as error:  # noqa: BLE001 - jsonschema fails on a broken schema by any error
        return f"the value could not be checked against its schema ({type(error).__name__})"
    return "; ".join(dict.fromkeys(found)) or None


def _compile(schema: Schema) -> Validator:
    from referencing import Registry

    return _kind(_draft(schema))(_without_false(schema, ()), registry=Registry())


def _without_false(schema: Any, path: Path) -> Any:
    """The schema with `false` spelled out: jsonschema's complaint about it has no path."""
    if isinstance(schema, bool):
        return True if schema else dict(_NOTHING)
    return map_children(schema, path, _without_false)


def _draft(schema: Schema) -> str:
    """The draft a schema is written in, by its `$schema` or its spelling of tuples."""
    named = schema.get("$schema", "")
    for draft in _DRAFTS:
        if draft in named:
            return draft
    old = any(isinstance(node.get("items"), list) for _, node in nodes(schema))
    return "draft-07" if old else "2020-12"


_DRAFTS = {
    "draft-03": "Draft3Validator",
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
    "2020-12": "Draft202012Validator",
}


@cache
def _kind(draft: str) -> Callable[..., Validator]:
    """The validator of a draft, with patterns that cannot run away and multiples that are exact."""
    import jsonschema

    bounded = {
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
    }
    kind = getattr(jsonschema, _DRAFTS[draft])
    return cast("Callable[..., Validator]", jsonschema.validators.extend(kind, bounded))  # type: ignore[no-untyped-call] # the stubs leave it out


def _multiple_of(_: Validator, step: Any, value: Any, __: Any) -> Iterator[ValidationError]:
    """By the decimal numbers that were written: 19.99 is a multiple of 0.01."""
    from jsonschema.exceptions import ValidationError

    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and _as_written(value) % _as_written(step):
        yield ValidationError("is no multiple")


def _as_written(number: float) -> Fraction:
    from fractions import Fraction

    return Fraction(repr(number) if isinstance(number, float) else number)


def _pattern(_: Validator, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    from .schemas.patterns import matches

    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError("does not match the pattern")


def _pattern_properties(
    validator: Any, patterns: Schema, value: Any, _: Any
) -> Iterator[ValidationError]:
    from .schemas.patterns import matches

    if not isinstance(value, dict):
        return
    for pattern, schema in patterns.items():
        for name, item in value.items():
            if matches(pattern, name):
                yield from validator.descend(item, schema, path=name, schema_path=pattern)
