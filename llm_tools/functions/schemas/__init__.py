"""JSON Schema itself: where schemas stand, their types, their shape, their patterns."""
