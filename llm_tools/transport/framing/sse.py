"""Server-sent events, cut by bytes.

The rules are those of https://html.spec.whatwg.org/multipage/server-sent-events.html, 9.2.6, with
two departures: an event with empty data is left out, and a last event without its blank line
counts, because servers do leave it out.
"""

from __future__ import annotations

from ...spec import Frame
from .json_array import JsonArrayFraming
from .whole import WholeBody

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
DONE = b"[DONE]"


class SseFraming:
    """SSE, or what comes in its place: one JSON body, or a JSON array.

    No SSE line begins with `{` or `[`, so the first byte tells them apart, whatever the content
    type says.
    """

    __slots__ = ("_inner", "_start")

    def __init__(self) -> None:
        self._inner: EventLines | JsonArrayFraming | WholeBody | None = None
        self._start = b""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events this chunk completes."""
        if self._inner is not None:
            return self._inner.feed(chunk)
        return self._begin(self._start + chunk)

    def close(self) -> list[Frame]:
        """The last event, if it lacks its blank line."""
        return self._inner.close() if self._inner is not None else []

    def _begin(self, start: bytes) -> list[Frame]:
        if len(start) < len(_BOM) and _BOM.startswith(start):
            self._start = start
            return []
        body = start.removeprefix(_BOM).lstrip(_BLANK)
        if not body:
            self._start = start[: len(_BOM)] if start.startswith(_BOM) else b" "
            return []
        self._start = b""
        if body.startswith(b"{"):
            self._inner = WholeBody()
        elif body.startswith(b"["):
            self._inner = JsonArrayFraming()
        else:
            self._inner = EventLines()
        return self._inner.feed(body)


class EventLines:
    """The lines of an event stream."""

    __slots__ = ("_after_cr", "_data", "_event", "_line")

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._event: str | None = None
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events this chunk completes."""
        if self._after_cr and chunk:
            # The LF of a CRLF that was cut in two; the CR ended the line already.
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\n" not in chunk and b"\r" not in chunk:
            self._line.append(chunk)
            return []
        if self._line:
            chunk = b"".join([*self._line, chunk])
            self._line.clear()
        lines = chunk.splitlines()
        if chunk.endswith(b"\r"):
            self._after_cr = True
        elif not chunk.endswith(b"\n"):
            self._line.append(lines.pop())
        return self._read(lines)

    def close(self) -> list[Frame]:
        """The last event, if it lacks its blank line."""
        rest = b"".join(self._line)
        self._line.clear()
        return self._read([rest, b""])

    def _read(self, lines: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        for line in lines:
            if not line:
                if self._data:
                    self._give(frames)
                self._event = None
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif line.startswith(b"event:"):
                self._event = line[6:].removeprefix(b" ").decode("utf-8", "replace") or None
            elif line == b"data":
                self._data.append(b"")
        return frames

    def _give(self, frames: list[Frame]) -> None:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data.clear()
        if len(data) < 32 and data.strip() == DONE:
            frames.append(Frame(None, DONE))
        elif data:
            frames.append(Frame(self._event, data))
