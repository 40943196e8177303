"""What was measured, as tables for the documentation; `drawing.py` makes the plot of it.

Values in, text out: nothing is measured or written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clients import DEFAULT, FAST, HTTPX
from measuring import Row
from msgspec import Struct

BENCHES = {
    "call": "One tool call",
    "idle": "One call beside idle connections",
    "loop": "A loop of two requests",
    "stream": "One streamed call",
    "functions": "Many functions",
    "history": "Long histories",
    "cold": "The first call of a process",
    "inflight": "Many calls in flight",
    "dispatch": "Dispatch",
    "import": "Import",
}
"""All benches that have a place on the page, by the middle of their files' names."""

BEGIN = "<!-- results: written by benchmarks/run_all.py -->"
END = "<!-- end of results -->"


_OVER_HTTP = ("call", "idle", "loop", "stream", "functions", "history", "cold")
_ALONE = ("dispatch", "import")
_LOOPS = ("asyncio", "trio")
_NONE = "-"

WHY_MISSED = {
    "call": (
        "One at a time, most of what the default transport takes is httpcore's connection, which it "
        "shares with the floor. Of what the fast one takes, the sockets' ratio says how much is the "
        "event loop's and the socket's; the rest is what a call is given beyond them: functions and "
        "history compared with those seen before, limits, a checked result. "
        "Among 32 in flight it takes about what it takes alone."
    ),
    "idle": "A call takes about what it takes without idle connections; the floor took less here.",
    "loop": (
        "Beside two requests there is what the floor leaves out: the second body is encoded, the "
        "input of the call checked, the function run apart from the others, a result made of it."
    ),
    "stream": (
        "Over the default transport the bytes come through httpcore, as the floor's do; on top, "
        "each piece becomes an event for the caller, while the floor only joins strings."
    ),
    "functions": (
        "Functions given as dicts are encoded at each call, whole, to be compared with those seen "
        "before; then the body, of what is known of them. The floor encodes once."
    ),
    "history": (
        "The body is joined of what was rendered before, and handed on: at this size copying it "
        "into the socket, which the floor does too, is most of the cost and changes from run to run."
    ),
    "cold": ("The default transport imports what the floor imports, and `llm_tools` on top of it."),
    "inflight": (
        "Over the default transport a call holds httpcore's request and connection, as the floor's "
        "does, and beside them what a retry, a deadline and an error would need."
    ),
    "dispatch": "Finding the function, checking its input and making a result take more than that.",
    "import": "What `use_llm` and the executors stand on is imported with them, anyio and msgspec too.",
}
"""Why an aim of a bench is missed, where it is."""


class Results(Struct):
    """What `run_all.py` measured.

    Attributes:
        versions: of Python and of what the figures depend on.
        rows: of each bench, by its key in `BENCHES`.
    """

    versions: dict[str, str]
    rows: dict[str, list[Row]]

    def of(self, benches: Iterable[str]) -> list[Row]:
        """The rows of these benches."""
        return [row for bench in benches for row in self.rows.get(bench, ())]


def page(text: str, results: Results) -> str:
    """The page's text with these results between its marks.

    Raises:
        ValueError: a mark is missing.
    """
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"the page has to hold {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{_all_tables(results)}\n\n{END}{after}"


def works(rows: Iterable[Row]) -> list[str]:
    """What is done in the rows, once each, in their order."""
    return list(dict.fromkeys(row.work for row in rows))


def _all_tables(results: Results) -> str:
    return "\n\n".join(
        [
            f"Measured with {', '.join(f'{name} {one}' for name, one in results.versions.items())}.",
            "### To bare httpx",
            _to_httpx(results.of(_OVER_HTTP)),
            "### Many calls in flight",
            _in_flight(results.of(["inflight"])),
            "### Without a network",
            _alone(results.of(_ALONE)),
            "### To bare sockets",
            _to_sockets(results.of([*_OVER_HTTP, "inflight"])),
            "### What missed its aim, or has none and costs more than its floor",
            _missed(results),
        ]
    )


def _to_httpx(rows: list[Row]) -> str:
    head = ("", *_heads(DEFAULT), "aim", *_heads(FAST), "aim")
    return _table(
        head,
        [
            (
                work,
                *[
                    cell
                    for client in (DEFAULT, FAST)
                    for cell in (
                        *[_ratio(_find(rows, work, client, loop)) for loop in _LOOPS],
                        _aim(_find(rows, work, client, _LOOPS[0])),
                    )
                ],
            )
            for work in works(rows)
        ],
    )


def _in_flight(rows: list[Row]) -> str:
    head = ("", "loop", HTTPX, DEFAULT, "aim", FAST, "aim")
    lines = []
    for work in works(rows):
        for loop in _LOOPS:
            bare, default, fast = [
                _find(rows, work, client, loop) for client in (HTTPX, DEFAULT, FAST)
            ]
            figures = [_figure(bare), _figure(default), _aim(default), _figure(fast), _aim(fast)]
            lines.append((work, loop, *figures))
    return _table(head, lines)


def _alone(rows: list[Row]) -> str:
    lines = []
    for work in works(rows):
        found = [row for row in rows if row.work == work]
        cells = [_ratio(row) for row in found]
        lines.append((work, cells[0], cells[1] if len(cells) > 1 else _NONE, _aim(found[0])))
    return _table(("", "asyncio", "trio", "aim: at most"), lines)


def _to_sockets(rows: list[Row]) -> str:
    clients = (HTTPX, DEFAULT, FAST)
    rows = [row for row in rows if row.steady is not None]
    head = ("", *[cell for client in clients for cell in _heads(client)])
    return _table(
        head,
        [
            (
                work,
                *[
                    _steady(_find(rows, work, client, loop))
                    for client in clients
                    for loop in _LOOPS
                ],
            )
            for work in works(rows)
        ],
    )


def _missed(results: Results) -> str:
    lines = []
    for bench, rows in results.rows.items():
        missed = [row for row in rows if row.is_missed or _is_dearer(row)]
        if missed:
            lines.append(f"- **{BENCHES[bench]}**: {'; '.join(map(_told, missed))}.")
            lines.append(f"  {WHY_MISSED[bench]}")
    return "\n".join(lines) or "Nothing in this run."


def _is_dearer(row: Row) -> bool:
    """Whether it is above the floor, and nobody aimed at anything."""
    return row.aim is None and row.client in (DEFAULT, FAST) and row.ratio > 1


def _told(row: Row) -> str:
    who = ", ".join(part for part in (row.work, row.client, row.loop) if part)
    found = number(row.ratio) if row.aim_text == "" or row.figure == "" else row.figure
    aim = "no aim" if row.aim is None else f"aim {row.aim_text or number(row.aim)}"
    return f"{who} {found} ({aim})"


def _heads(client: str) -> list[str]:
    return [f"{client}, {loop}" for loop in _LOOPS]


def _find(rows: Sequence[Row], work: str, client: str, loop: str) -> Row | None:
    for row in rows:
        if (row.work, row.client, row.loop) == (work, client, loop):
            return row
    return None


def _ratio(row: Row | None) -> str:
    return _NONE if row is None else _mark(number(row.ratio), row)


def _figure(row: Row | None) -> str:
    return _NONE if row is None else _mark(row.figure, row)


def _mark(text: str, row: Row) -> str:
    return f"**{text}**" if row.is_missed else text


def _aim(row: Row | None) -> str:
    if row is None or row.aim is None:
        return _NONE
    return row.aim_text or (f"{row.aim:g}" if not row.figure else f"{row.aim:g} x bare httpx's")


def _steady(row: Row | None) -> str:
    return _NONE if row is None or row.steady is None else number(row.steady)


def number(value: float) -> str:
    """Three digits that count, and no exponent."""
    return f"{value:,.0f}" if value >= 9.995 else f"{value:.3g}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
