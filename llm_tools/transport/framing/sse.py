"""Server-sent events, cut by bytes.

The rules are those of https://html.spec.whatwg.org/multipage/server-sent-events.html, 9.2.6, with
three departures: an event with empty data is left out, so are events that only keep the
connection alive, whatever their data, and a last event without its blank line counts, because
servers do leave it out.
"""

from __future__ import annotations

from ...spec import Frame
from .json_array import JsonArrayFraming
from .whole import WholeBody

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_DONE = b"[DONE]"
_END = b"data: [DONE]\n\n"
_KEEP_ALIVE = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})
_LONGEST_DONE = 32
_SHORTEST_ALONE = len("data: ") + _LONGEST_DONE


class SseFraming:
    """SSE, or what comes in its place: one JSON body, or a JSON array.

    No SSE line begins with `{` or `[`, so the first byte tells them apart, whatever the content
    type says.
    """

    __slots__ = (
        "_after_cr", "_begun", "_between", "_data", "_event", "_line", "_other", "_whole_lines",
    )  # fmt: skip

    def __init__(self) -> None:
        self._between = False  # whether a chunk now begins an event, as most do
        self._whole_lines = False  # whether a chunk now begins a line
        self._begun = False
        self._other: JsonArrayFraming | WholeBody | None = None
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._event: str | None = None
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events this chunk completes."""
        if self._between and chunk.startswith(b"data: ") and chunk.endswith(b"\n\n"):
            end = len(chunk) - 2
            if chunk.find(b"\n") == end >= _SHORTEST_ALONE and chunk.find(b"\r") < 0:
                return [Frame(None, chunk[6:end])]  # one event and nothing else, as most are
        frames = self._feed_any(chunk)
        self._between = self._whole_lines and not (self._data or self._event)
        return frames

    def close(self) -> list[Frame]:
        """The last event, if it lacks its blank line."""
        if self._other is not None:
            return self._other.close()
        rest = b"".join(self._line)
        self._line.clear()
        return self._read([rest, b""]) if self._begun else []

    def _feed_any(self, chunk: bytes) -> list[Frame]:
        if self._whole_lines and chunk.endswith(b"\n"):
            return self._read_whole(chunk)
        if self._other is not None:
            return self._other.feed(chunk)
        if not self._begun:
            return self._begin(chunk)
        return self._feed_lines(chunk)

    def _begin(self, chunk: bytes) -> list[Frame]:
        """Tell by the first byte what this is; until it is there, keep what came before it."""
        start = b"".join([*self._line, chunk])
        body = start.removeprefix(_BOM).lstrip(_BLANK)
        if _BOM.startswith(start) or not body:
            self._line = [start if len(start) <= len(_BOM) else b"\n"]
            return []
        self._line.clear()
        self._begun = True
        if body.startswith((b"{", b"[")):
            self._other = WholeBody() if body.startswith(b"{") else JsonArrayFraming()
            return self._other.feed(body)
        return self._feed_lines(body)

    def _feed_lines(self, chunk: bytes) -> list[Frame]:
        """Lines that may have begun in an earlier chunk, and may end in a later one."""
        if self._after_cr and chunk:
            # The LF of a CRLF that was cut in two; the CR ended the line already.
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if chunk.find(b"\n") < 0 and chunk.find(b"\r") < 0:
            if chunk:
                self._line.append(chunk)
                self._whole_lines = False
            return []
        if self._line:
            chunk = b"".join([*self._line, chunk])
            self._line.clear()
        self._after_cr = chunk.endswith(b"\r")
        if not chunk.endswith((b"\r", b"\n")):
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            self._line.append(chunk[end:])
            chunk = chunk[:end]
        self._whole_lines = not self._line and not self._after_cr
        return self._read_whole(chunk)

    def _read_whole(self, chunk: bytes) -> list[Frame]:
        """The events of whole lines."""
        if chunk.startswith(b"data: ") and not (self._data or self._event or b"\r" in chunk):
            return _read_plain(chunk) or self._read(chunk.splitlines())
        return self._read(chunk.splitlines())

    def _read(self, lines: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif not line:
                if data:
                    self._give(frames)
                self._event = None
            elif line.startswith(b"event:"):
                self._event = line[6:].removeprefix(b" ").decode("utf-8", "replace") or None
            elif line == b"data":
                data.append(b"")
        return frames

    def _give(self, frames: list[Frame]) -> None:
        data = self._data
        payload = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        if len(payload) < _LONGEST_DONE and payload.strip() == _DONE:
            frames.append(Frame(None, _DONE))
        elif payload and self._event not in _KEEP_ALIVE:
            frames.append(Frame(self._event, payload))


def _read_plain(chunk: bytes) -> list[Frame]:
    """The frames of a chunk of whole events without names, each one line; none of any other."""
    events = chunk.removesuffix(_END)
    payloads = events[6:-2].split(b"\n\ndata: ")
    whole = events.endswith(b"\n\n") and events.count(b"\n") == 2 * len(payloads)
    if not whole or min(map(len, payloads)) < _LONGEST_DONE:
        return []
    frames = [Frame(None, payload) for payload in payloads]
    if len(events) < len(chunk):
        frames.append(Frame(None, _DONE))
    return frames
