"""A call whose arguments come in pieces (Vertex AI, `streamFunctionCallArguments`)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec

from ...errors import StreamError
from .wire import Part

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]""")
_DEEPEST = 100
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class PartialCall:
    """A call in the making: parts go in until one says that nothing follows."""

    __slots__ = ("_arguments", "_call", "_part")

    def __init__(self) -> None:
        self._arguments: dict[str, Any] = {}
        self._call: dict[str, Any] = {}
        self._part: Part = {}

    @staticmethod
    def begins(call: dict[str, Any]) -> bool:
        """Whether a `functionCall` is the first piece of several."""
        return bool(call.get("willContinue") or call.get("partialArgs"))

    def add(self, part: Part, call: dict[str, Any]) -> bool:
        """Take a piece; whether the call is whole now.

        Raises:
            StreamError: an argument that fits nowhere in those before it.
        """
        self._part |= {key: value for key, value in part.items() if key != "functionCall"}
        for key, value in call.items():
            if value is None:
                continue
            if key == "partialArgs":
                for piece in _list_of_objects(value):
                    put_argument(self._arguments, piece)
            elif key == "args":
                self._arguments |= value if isinstance(value, dict) else {}
            elif key != "willContinue":
                self._call[key] = value
        return not call.get("willContinue")

    def whole(self) -> Part:
        """The part as it would have come whole."""
        return self._with(self._arguments)

    def unfinished(self) -> Part:
        """The part of a call whose end never came: its arguments are JSON text that breaks off."""
        return self._with(msgspec.json.encode(self._arguments).decode()[:-1])

    def _with(self, arguments: Any) -> Part:
        return {**self._part, "functionCall": {**self._call, "args": arguments}}


def is_end(part: Part, call: dict[str, Any]) -> bool:
    """Whether a part says that the call before it is whole, and nothing else."""
    return part.keys() == {"functionCall"} and not any(call.values())


def _list_of_objects(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    raise StreamError("A call's partialArgs are not the list of objects they should be; ask again.")


def put_argument(arguments: dict[str, Any], piece: dict[str, Any]) -> None:
    """Put one `PartialArg` where its JSON path says; more of a string is appended to it.

    Raises:
        StreamError: the path is not understood, or leads through a value that has no parts.
    """
    path = piece.get("jsonPath")
    steps = _read_path(path)
    place: Any = arguments
    for step, following in pairwise(steps):
        place = _enter(place, step, following, path)
    last = steps[-1]
    value = _value_of(piece)
    current = _look(place, last, path)
    if isinstance(current, str) and isinstance(value, str):
        _put(place, last, None)  # once nothing else holds it, Python appends to it in place
        current += value
        value = current
    _put(place, last, value)


def _read_path(path: Any) -> list[str | int]:
    steps: list[str | int] = []
    end = 1
    if isinstance(path, str) and path.startswith("$"):
        for found in _STEP.finditer(path):
            if found.start() != end:
                break
            end = found.end()
            name, index, single, double = found.groups()
            steps.append(int(index) if index is not None else name or single or double or "")
    if not steps or end != len(path) or len(steps) > _DEEPEST:
        raise StreamError(
            f"A piece of a call's arguments has no place: jsonPath is {path!r}; ask again."
        )
    return steps


def _enter(place: Any, step: str | int, following: str | int, path: Any) -> Any:
    inner = _look(place, step, path)
    if inner is None:
        inner = [] if isinstance(following, int) else {}
        _put(place, step, inner)
    return inner


def _look(place: Any, step: str | int, path: Any) -> Any:
    """What stands at a step; None if there is room for it."""
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and step <= len(place):
        return place[step] if step < len(place) else None
    raise StreamError(
        f"A piece of a call's arguments fits nowhere: jsonPath is {path!r}; ask again."
    )


def _put(place: Any, step: Any, value: Any) -> None:
    if isinstance(place, list) and step == len(place):
        place.append(value)
    else:
        place[step] = value


def _value_of(piece: dict[str, Any]) -> Any:
    """The value of a piece; the wire's null is a word of its own."""
    key = next((name for name in _VALUES if name in piece), None)
    return None if key in (None, "nullValue") else piece[key]
