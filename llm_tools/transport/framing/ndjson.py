"""One JSON value per line."""

from __future__ import annotations

from ...spec import Frame
from .whole import WholeBody

_BLANK = b" \t\r\n"


class NdjsonFraming:
    """Lines; a body whose first line is no whole object (an indented error, text) is one frame."""

    __slots__ = ("_line", "_started", "_whole")

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._started = False
        self._whole: WholeBody | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """The lines this chunk completes."""
        if self._whole is not None:
            return self._whole.feed(chunk)
        if b"\n" not in chunk:
            self._line.append(chunk)
            return []
        text = b"".join([*self._line, chunk])
        self._line.clear()
        *lines, rest = text.split(b"\n")
        if not self._started:
            first = next((line for line in lines if line.strip(_BLANK)), b"")
            if first and not first.rstrip(_BLANK).endswith(b"}"):
                self._whole = WholeBody()
                return self._whole.feed(text)
            self._started = bool(first)
        if rest:
            self._line.append(rest)
        return [Frame(None, kept) for line in lines if (kept := line.strip(_BLANK))]

    def close(self) -> list[Frame]:
        """The last line, if it lacks its line end."""
        if self._whole is not None:
            return self._whole.close()
        rest = b"".join(self._line).strip(_BLANK)
        self._line.clear()
        return [Frame(None, rest)] if rest else []
