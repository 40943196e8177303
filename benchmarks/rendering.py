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
        "The aims at 32 and 256 suppose the slow state of httpx's pool. `llm_tools` takes for a "
        "call among many what it takes for one alone (the ratios to the sockets say so); with "
        "httpx in its quick state, that is a larger share."
    ),
    "idle": "Taking a connection still looks at something for each that is idle.",
    "loop": (
        "Beside the two requests stand what the floor leaves out: the turn and its results are "
        "encoded, the input is checked, the function runs isolated, and a result is made."
    ),
    "stream": (
        "Every piece becomes an event of its own and is read as a part of the arguments; the floor "
        "joins strings. Over the default transport the reading is httpx's own, as the floor's is."
    ),
    "history": (
        "A history is walked once per call, to know that it is the one seen before; and the body "
        "is joined of its pieces, and copied into the connection, as the floor's is."
    ),
    "cold": (
        "A first call imports `llm_tools` itself on top of what the floor imports, for the default "
        "transport stands on httpx too."
    ),
    "inflight": (
        "Each call holds what a retry or an error would need (the request and its limits), and "
        "over the default transport httpx's own request, response and connection objects as well."
    ),
    "dispatch": "What each call is given costs more than the aim on this machine.",
    "import": "The modules of `llm_tools` and of msgspec, read one after the other.",
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
            "### Aims that were missed",
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
        missed = [row for row in rows if row.is_missed]
        if missed:
            lines.append(f"- **{BENCHES[bench]}**: {'; '.join(map(_told, missed))}.")
            lines.append(f"  {WHY_MISSED[bench]}")
    return "\n".join(lines) or "None in this run."


def _told(row: Row) -> str:
    who = ", ".join(part for part in (row.work, row.client, row.loop) if part)
    found = number(row.ratio) if row.aim_text == "" or row.figure == "" else row.figure
    return f"{who} {found} (aim {row.aim_text or number(row.aim or 0.0)})"


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
