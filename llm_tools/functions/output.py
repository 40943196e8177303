"""`json_schema`: the shape the caller wants the text in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..content import JSON, ResultWarning
from .subsets import SchemaSubset


class OutputSchema(Struct, frozen=True, kw_only=True):
    """The caller's schema under a legal name; `type` where it was derived from a Python type."""

    name: str
    schema: dict[str, JSON]
    type: Any = None


class PreparedOutput(Struct, frozen=True, kw_only=True):
    """The schema as it goes out, and the way back for the text that comes."""

    output: OutputSchema
    schema: dict[str, JSON]
    strict: bool = False
    restore: Callable[[JSON], JSON] | None = None
    warnings: tuple[ResultWarning, ...] = ()


def normalize_output(json_schema: Any) -> OutputSchema:
    """Read a dict, or a `msgspec.Struct`, dataclass or TypedDict type; cached."""
    return OutputSchema(name="output", schema=json_schema)


def prepare_output(output: OutputSchema, subset: SchemaSubset, *, strict: bool) -> PreparedOutput:
    """Make the schema legal for a wire; cached."""
    return PreparedOutput(output=output, schema=output.schema, strict=strict)
