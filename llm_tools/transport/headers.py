"""The headers of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def decode_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by their names in lower case; of one that came twice, the last."""
    return {_field_name(name): value.decode("latin-1") for name, value in raw}


@lru_cache(maxsize=1024)
def _field_name(raw: bytes) -> str:
    """A header's name in lower case; the same few come with every response."""
    return raw.lower().decode("latin-1")
