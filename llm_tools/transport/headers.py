"""The headers of an answer."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 1024


class _Names(dict[bytes, str]):
    """Headers' names in lower case; the same few come with every response."""

    def __missing__(self, raw: bytes) -> str:
        name = raw.lower().decode("latin-1")
        if len(self) < _MOST:
            self[raw] = name
        return name


_names = _Names()


def decode_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by their names in lower case; of one that came twice, the last."""
    return {_names[name]: value.decode("latin-1") for name, value in raw}
