"""Finding the recording of a request."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from .differing import find_nearest
from .exchange import Exchange

Request: TypeAlias = dict[str, Any]
"""What a request is known by: `method`, `url` and `body`, a JSON value."""

_RESULT_IDS = frozenset({"call_id", "tool_call_id", "toolUseId", "tool_use_id"})
_IDS = _RESULT_IDS | {"id"}
_MINTED = re.compile(r"[A-Za-z0-9]{9}")


class Recordings:
    """The exchanges of a file; each is given once, in its order among those of the same request."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._requests = [make_request(one.method, one.url, one.request_body) for one in exchanges]
        self._left: dict[bytes, deque[Exchange]] = {}
        for request, exchange in zip(self._requests, exchanges, strict=True):
            self._left.setdefault(_key(request), deque()).append(exchange)

    def take(self, request: Request) -> Exchange | None:
        """The next exchange of this request, if there is one."""
        left = self._left.get(_key(request))
        return left.popleft() if left else None

    def explain(self, request: Request) -> str:
        """Why there is none: a sentence."""
        if not self._requests:
            return "It holds no exchange at all."
        if _key(request) in self._left:
            times = sum(_key(recorded) == _key(request) for recorded in self._requests)
            return f"It holds {times} of this request, and every one has been given."
        nearest = find_nearest(self._requests, request)
        assert nearest is not None  # noqa: S101 - there are requests, and each differs
        number, difference = nearest
        return f"It differs from the nearest, number {number + 1} of the file, at {difference}."


def make_request(method: str, url: str, body: Any) -> Request:
    """What a request is known by.

    Ids that were made up here, for calls that came without one, are another time others: they count
    by their order.
    """
    return {"method": method, "url": url, "body": _renumbered(body)}


def _key(request: Request) -> bytes:
    return msgspec.json.encode(request, order="sorted")


def _renumbered(body: Any) -> Any:
    minted = [
        value
        for key, value in _fields(body)
        if key in _RESULT_IDS and isinstance(value, str) and _MINTED.fullmatch(value)
    ]
    numbers = {name: f"call {number}" for number, name in enumerate(dict.fromkeys(minted), start=1)}
    return _renamed(body, numbers) if numbers else body


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field of every object in a JSON value."""
    if isinstance(value, dict):
        yield from value.items()
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _fields(item)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """A JSON value in which ids have other names."""
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: names.get(item, item)
        if key in _IDS and isinstance(item, str)
        else _renamed(item, names)
        for key, item in value.items()
    }
