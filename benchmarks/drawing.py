"""What was measured, as a plot: a ratio a mark, on a logarithmic scale, as SVG by hand.

It has a ground of its own, light or dark as the reader's system is, so that it is legible on any
page.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from clients import DEFAULT, FAST, HTTPX
from measuring import Row
from rendering import BENCHES, Results, works

_WIDTH = 900
_LEFT = 335
_RIGHT = 30
_TOP = 74
_BOTTOM = 56
_LINE = 21
_GAP = 8

_SERIES = {DEFAULT: ("default", -4.0), FAST: ("fast", 4.0), "llm_tools": ("own", 0.0)}
"""The class of each client's marks, and how far they are from the middle of a line."""
_NAMES = {"default": "default transport", "fast": "fast transport", "own": "no transport"}

_LIGHT = {"ground": "#ffffff", "text": "#1f2328", "grid": "#d1d9e0", "default": "#0969da", "fast": "#bc4c00", "own": "#1a7f37"}  # fmt: skip
_DARK = {"ground": "#161b22", "text": "#e6edf3", "grid": "#3d444d", "default": "#58a6ff", "fast": "#f0883e", "own": "#3fb950"}  # fmt: skip


def plot(results: Results) -> str:
    """The plot, one line for each kind of work, with a mark for each client and loop."""
    groups = [
        [row for row in results.rows[bench] if row.client != HTTPX]
        for bench in BENCHES
        if bench in results.rows
    ]
    scale = _Scale([row for rows in groups for row in rows])
    body: list[str] = []
    top = float(_TOP)
    for rows in groups:
        for work in works(rows):
            body += _line(work, [row for row in rows if row.work == work], top + _LINE / 2, scale)
            top += _LINE
        top += _GAP
    bottom = top - _GAP
    parts = [*_head(bottom + _BOTTOM), *_legend(), *_grid(scale, bottom), *body, "</svg>"]
    return "\n".join(parts) + "\n"


class _Scale:
    """Where ratios stand."""

    def __init__(self, rows: list[Row]) -> None:
        values = [row.ratio for row in rows] + [row.aim for row in rows if row.aim is not None]
        self.first = floor(log10(min([*values, 0.1])))
        self.last = ceil(log10(max([*values, 1.0]) * 1.05))

    def __call__(self, ratio: float) -> str:
        wide = _WIDTH - _LEFT - _RIGHT
        share = (log10(ratio) - self.first) / (self.last - self.first)
        return f"{_LEFT + wide * min(max(share, 0.0), 1.0):.1f}"


def _head(height: float) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" '
        f'width="{_WIDTH}" height="{height:g}" role="img" font-family="system-ui, sans-serif" '
        'font-size="12">'
    )
    yield "<title>What llm_tools costs, as a share of its floor</title>"
    yield "<desc>The numbers are in the tables of the page.</desc>"
    yield f"<style>{_style(_LIGHT)} @media (prefers-color-scheme: dark) {{ {_style(_DARK)} }}</style>"
    yield f'<rect class="ground" width="{_WIDTH}" height="{height:g}" rx="6"/>'


def _style(colours: dict[str, str]) -> str:
    rules = [
        f".ground {{ fill: {colours['ground']} }}",
        f"text {{ fill: {colours['text']} }}",
        f".grid {{ stroke: {colours['grid']} }}",
        f".one {{ stroke: {colours['text']} }}",
    ]
    for name in _NAMES:
        rules.append(f".{name} {{ stroke: {colours[name]}; fill: {colours[name]} }}")
        rules.append(f".hollow.{name} {{ fill: none }}")
    return " ".join(rules)


def _legend() -> Iterator[str]:
    yield _text(16, 24, "CPU time, time or memory as a share of the floor's", weight="600")
    left = 16.0
    for name, label in _NAMES.items():
        yield _mark(f"{left + 6:g}", 46, name)
        yield _text(left + 16, 50, label)
        left += 26 + 6.6 * len(label)
    for label, kind in (("filled: asyncio", ""), ("hollow: trio", " hollow")):
        yield _mark(f"{left + 6:g}", 46, f"default{kind}")
        yield _text(left + 16, 50, label)
        left += 26 + 6.6 * len(label)
    yield _tick(f"{left + 6:g}", 46, "default")
    yield _text(left + 16, 50, "bar: the aim")


def _grid(scale: _Scale, bottom: float) -> Iterator[str]:
    for power in range(scale.first, scale.last + 1):
        x = scale(10.0**power)
        kind, width = ("one", 1.5) if power == 0 else ("grid", 1)
        yield (
            f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom:g}" '
            f'stroke-width="{width:g}"/>'
        )
        label = "1 = the floor" if power == 0 else f"{10.0**power:g}"
        yield f'<text x="{x}" y="{bottom + 20:g}" text-anchor="middle">{label}</text>'


def _line(work: str, rows: list[Row], y: float, scale: _Scale) -> Iterator[str]:
    yield _text(16, y + 4, work.replace("`", ""))
    aims = {row.client: row.aim for row in rows if row.aim is not None}
    for client, aim in aims.items():
        name, away = _SERIES[client]
        yield _tick(scale(aim), y + away, name)
    for row in rows:
        name, away = _SERIES[row.client]
        hollow = " hollow" if row.loop == "trio" else ""
        said = escape(f"{work}, {row.client} {row.loop}".rstrip(), quote=False)
        yield f"<g><title>{said}: {row.ratio:.3g}</title>"
        yield (
            f'<line class="{name}" x1="{scale(row.low)}" x2="{scale(row.high)}" '
            f'y1="{y + away:g}" y2="{y + away:g}"/>'
        )
        yield f"{_mark(scale(row.ratio), y + away, name + hollow)}</g>"


def _mark(x: str, y: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{x}" cy="{y:g}" r="3.5" stroke-width="1.5"/>'


def _tick(x: str, y: float, kind: str) -> str:
    return (
        f'<line class="{kind}" x1="{x}" x2="{x}" y1="{y - 5:g}" y2="{y + 5:g}" stroke-width="2"/>'
    )


def _text(x: float, y: float, text: str, *, weight: str = "400") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-weight="{weight}">{escape(text, quote=False)}</text>'
