"""What can be shown of a call's arguments while they still come: one pass over their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from ..given import check_name
from .arguments import MAX_NESTING

_PLAIN = re.compile(r'[^"\\]+')
_BLANK = re.compile(r"[ \t\r\n]*")
_DIGITS = re.compile(r"[-+.0-9eE]+")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_VALUES = {"true": True, "false": False, "null": None}
_NAMES = {name[0]: name for name in _VALUES}
_HEX = frozenset("0123456789abcdefABCDEF")
_HALF = "\ufffd"


class PartialInput:
    """The arguments of one call as far as they have come, read once however often they are shown.

    Feed it each `FunctionInputDelta.partial_json` of a call. `value` is one dict that grows in
    place: text is there as far as it has come, numbers and names once they are whole; nothing in it
    is taken back. What can no longer become a JSON object leaves it as it was. It is for display:
    what may run is in `FunctionUseDone`.

    Attributes:
        value: what has come.
        complete: whether it is a whole object, and nothing came after it.
    """

    __slots__ = ("_buffer", "_container", "_escape", "_high", "_keys", "_name", "_read", "_slot",
                 "_stack", "complete", "value")  # fmt: skip

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.complete: bool = False
        self._container: Any = None
        self._slot: Any = None
        self._stack: list[tuple[Any, Any]] = []
        self._buffer: list[str] = []
        self._escape = ""
        self._high = ""
        self._keys = False
        self._name = ""
        self._read: _Step = PartialInput._start

    def feed(self, fragment: str) -> dict[str, Any]:
        """Take more of the text; returns `value`. Costs what the fragment is long, no more.

        Raises:
            ConfigurationError: it is no text.
        """
        position = 0
        check_name("A fragment", fragment)
        while position < len(fragment):
            position = self._read(self, fragment, position)
        return self.value

    # ------------------------------------------------------------ between values

    def _start(self, text: str, position: int) -> int:
        position, sign = _next(text, position)
        if sign == "{":
            self.complete = False
            self._container = self.value
            self._read = PartialInput._before_key
        elif sign == "`":
            self._read = PartialInput._in_fence
        elif sign:
            return self._stop(text)
        return position

    def _in_fence(self, text: str, position: int) -> int:
        """The first line of a code block around the object."""
        found = text.find("{", position)
        if found < 0:
            return len(text)
        self._read = PartialInput._start
        return found

    def _before_key(self, text: str, position: int) -> int:
        position, sign = _next(text, position)
        if sign == '"':
            self._keys = True
            self._buffer.clear()
            self._read = PartialInput._text
        elif sign == "}":
            return self._close(position)
        elif sign:
            return self._stop(text)
        return position

    def _before_colon(self, text: str, position: int) -> int:
        position, sign = _next(text, position)
        if sign == ":":
            self._read = PartialInput._before_value
        elif sign:
            return self._stop(text)
        return position

    def _before_value(self, text: str, position: int) -> int:
        position, sign = _next(text, position)
        match sign:
            case "":
                pass
            case '"':
                self._put("")
                self._read = PartialInput._text
            case "{":
                return self._open({}, PartialInput._before_key, text, position)
            case "[":
                return self._open([], PartialInput._before_value, text, position)
            case "]" if isinstance(self._container, list):
                return self._close(position)
            case "t" | "f" | "n":
                self._name = _NAMES[sign]
                self._escape = ""
                self._read = PartialInput._in_name
                return position - 1
            case _:
                self._buffer.clear()
                self._read = PartialInput._in_number
                return position - 1
        return position

    def _after_value(self, text: str, position: int) -> int:
        position, sign = _next(text, position)
        in_list = isinstance(self._container, list)
        if sign == ",":
            self._read = PartialInput._before_value if in_list else PartialInput._before_key
        elif sign == ("]" if in_list else "}"):
            return self._close(position)
        elif sign:
            return self._stop(text)
        return position

    def _ended(self, text: str, position: int) -> int:
        position, sign = _next(text, position)
        return self._stop(text) if sign else position

    def _stop(self, text: str, _: int = 0) -> int:
        """It is no JSON object from here on: all else is skipped."""
        self.complete = False
        self._read = PartialInput._stop
        return len(text)

    # ------------------------------------------------------------ containers

    def _open(self, new: Any, read: _Step, text: str, position: int) -> int:
        if len(self._stack) + 2 > MAX_NESTING:
            return self._stop(text)
        self._put(new)
        self._stack.append((self._container, self._slot))
        self._container = new
        self._read = read
        return position

    def _close(self, position: int) -> int:
        if self._stack:
            self._container, self._slot = self._stack.pop()
            self._read = PartialInput._after_value
        else:
            self.complete = True
            # Some hosts put an empty object in front of the real one.
            self._read = PartialInput._ended if self.value else PartialInput._start
        return position

    def _put(self, value: Any) -> None:
        """A value begins, under the key that was read or at the list's end."""
        if isinstance(self._container, list):
            self._slot = len(self._container)
            self._container.append(value)
        else:
            self._container[self._slot] = value

    # ------------------------------------------------------------ values

    def _text(self, text: str, position: int) -> int:
        """Inside a string, a key or a value."""
        found = _PLAIN.match(text, position)
        if found is not None:
            self._grow(found[0])
            return found.end()
        if text[position] == "\\":
            self._escape = ""
            self._read = PartialInput._in_escape
        else:
            self._grow("")
            self._end_text()
        return position + 1

    def _end_text(self) -> None:
        if self._keys:
            self._keys = False
            self._slot = "".join(self._buffer)
            self._read = PartialInput._before_colon
        else:
            self._read = PartialInput._after_value

    def _grow(self, piece: str) -> None:
        if self._high:
            piece, self._high = _HALF + piece, ""
        if self._keys:
            self._buffer.append(piece)
            return
        # The container lets go of the text first: then Python appends in place.
        container, slot = self._container, self._slot
        text = container[slot]
        container[slot] = None
        text += piece
        container[slot] = text

    def _in_escape(self, text: str, position: int) -> int:
        sign = text[position]
        if not self._escape:
            if sign != "u" and sign not in _ESCAPES:
                return self._stop(text)
        elif sign not in _HEX:
            return self._stop(text)
        self._escape += sign
        if self._escape[0] != "u":
            self._grow(_ESCAPES[self._escape])
            self._read = PartialInput._text
        elif len(self._escape) == 5:
            self._add_unit(chr(int(self._escape[1:], 16)))
            self._read = PartialInput._text
        return position + 1

    def _add_unit(self, unit: str) -> None:
        """A UTF-16 unit: halves of a character wait for each other."""
        if "\udc00" <= unit <= "\udfff":
            high, self._high = self._high, ""
            pair = (high + unit).encode("utf-16-le", "surrogatepass")
            self._grow(pair.decode("utf-16-le") if high else _HALF)
        elif "\ud800" <= unit <= "\udbff":
            self._grow("")
            self._high = unit
        else:
            self._grow(unit)

    def _in_name(self, text: str, position: int) -> int:
        """Inside `true`, `false` or `null`."""
        left = len(self._name) - len(self._escape)
        self._escape += text[position : position + left]
        if not self._name.startswith(self._escape):
            return self._stop(text)
        if self._escape == self._name:
            self._put(_VALUES[self._name])
            self._read = PartialInput._after_value
        return position + left

    def _in_number(self, text: str, position: int) -> int:
        """Inside a number: it is whole once something else follows it."""
        found = _DIGITS.match(text, position)
        if found is not None:
            self._buffer.append(found[0])
            if found.end() == len(text):
                return len(text)
            position = found.end()
        value = _number("".join(self._buffer))
        if value is None:
            return self._stop(text)
        self._put(value)
        self._read = PartialInput._after_value
        return position


_Step: TypeAlias = Callable[[PartialInput, str, int], int]


def partial_input(arguments: str | Iterable[str]) -> dict[str, Any]:
    """The best reading of arguments that are still coming, for display: text or its fragments.

    Text values are there as far as they have come, all others once they are whole; text that is
    no object gives `{}`. To show every step of a stream use one `PartialInput` per call: it reads
    each fragment once.
    """
    partial = PartialInput()
    for fragment in [arguments] if isinstance(arguments, str) else arguments:
        partial.feed(fragment)
    return partial.value


def _next(text: str, position: int) -> tuple[int, str]:
    """The next sign that is not blank, and where it ends; no sign if there is none."""
    found = _BLANK.match(text, position)
    end = found.end() if found is not None else position
    return end + 1, text[end : end + 1]


def _number(digits: str) -> int | float | None:
    try:
        value = msgspec.json.decode(digits)
    except msgspec.DecodeError:
        return None
    return value if isinstance(value, int | float) else None
