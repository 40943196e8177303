"""One answer in both its forms, as bytes: streamed and whole. What all wires' generators share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
NOTES = {
    "name": "find notes, please!",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
}
PING = {"name": "ping"}
FUNCTIONS = [WEATHER, NOTES, PING]


@dataclass(frozen=True)
class Exchange:
    """An answer.

    Attributes:
        stream: the bytes of the streamed form.
        body: those of the whole form.
        ends: how many bytes of the stream make it a whole answer.
        headers: of both.
    """

    stream: bytes
    body: bytes
    ends: int
    headers: dict[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- what models say

LETTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from('é\u2028\u0085😀\r\n"\\{}:')
TEXT = st.text(LETTERS, min_size=1, max_size=12)
SCALARS = TEXT | st.integers(-(10**20), 10**20) | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
INPUTS = (
    st.fixed_dictionaries({"city": TEXT}, optional={"days": st.integers() | st.none()})
    | st.dictionaries(TEXT, VALUES, max_size=3)
    | st.just({})
)
ODD_ARGUMENTS = st.sampled_from(
    [
        "", "null", " ", '{"city": "Oslo",}', "{'city': 'Oslo'}", '```json\n{"city": "Oslo"}\n```',
        '{}{"city": "Oslo"}', '"{\\"city\\": \\"Oslo\\"}"', '{"city": "Os', "[1]", '{"a": NaN}',
        '{"city": "a\nb"}', '{"city": "\\ud83d"}', "no",
    ]
)  # fmt: skip
GLUED = st.sampled_from(['{"a": 1}{"a": 2}', '{"a":1}}'])
"""Whole, to all appearances, before they go on to be no JSON."""
ARGUMENTS = INPUTS.map(json.dumps) | INPUTS.map(lambda v: json.dumps(v, ensure_ascii=False))
COUNTS = st.integers(0, 5000)


@st.composite
def cuts(draw: Draw, text: str) -> list[str]:
    """The text in pieces, none of them empty."""
    pieces: list[str] = []
    while text:
        size = draw(st.integers(1, max(1, len(text))))
        pieces.append(text[:size])
        text = text[size:]
    return pieces


@st.composite
def woven(draw: Draw, queues: list[list[Any]]) -> list[Any]:
    """The items of several lists in one, each list's in order."""
    left = [list(queue) for queue in queues if queue]
    items: list[Any] = []
    while left:
        queue = left[draw(st.integers(0, len(left) - 1))]
        items.append(queue.pop(0))
        left = [queue for queue in left if queue]
    return items


# ---------------------------------------------------------------- bytes


@dataclass(frozen=True)
class SseStyle:
    """How a server writes its events: all of these are the same stream."""

    line_end: str = "\n"
    space: str = " "
    comments: bool = False
    named: bool = True
    bom: bool = False


SSE_STYLES = st.builds(
    SseStyle,
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    space=st.sampled_from(["", " "]),
    comments=st.booleans(),
    bom=st.booleans(),
)


class SseBytes:
    """A stream of server-sent events in the making."""

    def __init__(self, style: SseStyle) -> None:
        self._style = style
        self.data = b"\xef\xbb\xbf" if style.bom else b""
        self.ends = 0

    def send(self, payload: Any, *, event: str | None = None, last: bool = False) -> None:
        """One event; `last`: the answer is whole with its data."""
        style = self._style
        lines = [": keep-alive", ""] if style.comments else []
        lines += [f"event:{style.space}{event}"] if event and style.named else []
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        lines.append(f"data:{style.space}{text}")
        self.data += style.line_end.join(lines).encode()
        if last and not self.ends:
            self.ends = len(self.data)
        self.data += (style.line_end * 2).encode()


def as_json(body: Any) -> bytes:
    """A whole body."""
    return json.dumps(body).encode()
