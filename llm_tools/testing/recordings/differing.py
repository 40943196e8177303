"""Which recorded request is meant by one that was not recorded, and what they differ in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec

_SHOWN = 60
_BEFORE = 20


class _Nothing:
    """What stands where one request has something and the other has not."""


NOTHING = _Nothing()


class Difference(NamedTuple):
    """A place where two JSON values differ, and what each has there."""

    place: str
    recorded: Any
    asked: Any

    def __str__(self) -> str:
        recorded, asked = _shown(self.recorded, self.asked), _shown(self.asked, self.recorded)
        return f"{self.place}: recorded {recorded}, asked {asked}"


def find_differences(recorded: Any, asked: Any, place: str = "") -> Iterator[Difference]:
    """Where two JSON values differ, in the order of the recorded one."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in dict.fromkeys([*recorded, *asked]):
            inside = f"{place}.{key}" if place else str(key)
            yield from find_differences(recorded.get(key, NOTHING), asked.get(key, NOTHING), inside)
    elif isinstance(recorded, list) and isinstance(asked, list):
        pairs = zip_longest(recorded, asked, fillvalue=NOTHING)
        for index, (one, other) in enumerate(pairs):
            yield from find_differences(one, other, f"{place}[{index}]")
    elif type(recorded) is not type(asked) or recorded != asked:
        yield Difference(place, recorded, asked)


def find_nearest(
    requests: Sequence[dict[str, Any]], asked: dict[str, Any]
) -> tuple[int, Difference] | None:
    """The request that differs least, by its index, and where it first does.

    Args:
        requests: those recorded: values by name, the most telling first.
        asked: the one that is not among them.
    """
    nearest: tuple[tuple[bool | int, ...], int, Difference] | None = None
    for index, recorded in enumerate(requests):
        found = list(find_differences(recorded, asked))
        weight = (*_other_fields(recorded, asked), len(found))
        if found and (nearest is None or weight < nearest[0]):
            nearest = weight, index, found[0]
    return None if nearest is None else nearest[1:]


def _other_fields(recorded: dict[str, Any], asked: dict[str, Any]) -> Iterable[bool]:
    return (recorded[name] != asked[name] for name in ("method", "url"))


def _shown(value: Any, other: Any) -> str:
    """A value as JSON, shortened to where it begins to differ from the other."""
    if value is NOTHING:
        return "nothing"
    text = _text(value)
    if len(text) <= _SHOWN:
        return text
    start = max(0, _common(text, "" if other is NOTHING else _text(other)) - _BEFORE)
    start = min(start, len(text) - _SHOWN)
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
