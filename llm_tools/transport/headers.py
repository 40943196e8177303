"""The headers of an answer, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar, overload

T = TypeVar("T")


class AnswerHeaders(Mapping[str, str]):
    """Headers by their names in lower case; of one that came twice, the last.

    Few of them are ever looked at, so none is decoded before that.
    """

    __slots__ = ("_by_name", "_raw")

    def __init__(self, raw: Mapping[bytes, bytes]) -> None:
        self._raw = raw
        self._by_name: dict[str, bytes] | None = None

    def __getitem__(self, name: str) -> str:
        return self._named()[name].decode("latin-1")

    def __contains__(self, name: object) -> bool:
        return name in self._named()

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __len__(self) -> int:
        return len(self._named())

    @overload
    def get(self, name: str, default: None = None, /) -> str | None: ...

    @overload
    def get(self, name: str, default: T, /) -> str | T: ...

    def get(self, name: str, default: Any = None, /) -> Any:
        """The header's value, or `default`."""
        value = self._named().get(name)
        return default if value is None else value.decode("latin-1")

    def hold(self, needle: bytes) -> bool:
        """Whether a value holds these bytes."""
        return needle in b"\n".join(self._raw.values())

    def _named(self) -> dict[str, bytes]:
        if self._by_name is None:
            self._by_name = {field_name(name): value for name, value in self._raw.items()}
        return self._by_name


@lru_cache(maxsize=1024)
def field_name(raw: bytes) -> str:
    """A header's name in lower case; the same few come with every response."""
    return raw.lower().decode("latin-1")
