"""Hints for the model, at the end of a description."""

from __future__ import annotations

from ..schemas.walking import Schema


def add_note(schema: Schema, note: str) -> Schema:
    """The schema with a note in its description."""
    said = schema.get("description", "")
    return {**schema, "description": f"{said} ({note})" if said else f"({note})"}
