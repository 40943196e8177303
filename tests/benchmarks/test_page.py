"""The page and its plot say what was measured, and nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import drawing
import pytest
import rendering
from clients import DEFAULT, FAST, HTTPX
from measuring import Row, make_row
from rendering import BEGIN, BENCHES, END, Results
from run_all import PAGE, PLOT, read_results

SVG = "{http://www.w3.org/2000/svg}"


def test_the_page_holds_the_results_that_are_kept() -> None:
    """`run_all.py --render` would change nothing."""
    text = PAGE.read_text("utf-8")
    assert rendering.page(text, read_results()) == text


def test_the_plot_holds_the_results_that_are_kept() -> None:
    """`run_all.py --render` would change nothing."""
    assert drawing.plot(read_results()) == PLOT.read_text("utf-8")


def test_the_results_are_of_every_bench() -> None:
    """On both loops, and of the whole work rather than its short form."""
    results = read_results()
    assert list(results.rows) == list(BENCHES)
    assert {row.loop for row in results.of(BENCHES) if row.loop} == {"asyncio", "trio"}
    works = rendering.works(results.of(["inflight"]))
    assert [work.partition(" ")[0] for work in works] == ["2,000", "2,000"]
    assert {"Python", "httpx", "anyio"} <= set(results.versions)


def test_neither_page_nor_plot_tells_an_absolute_time() -> None:
    """Ratios alone hold on another machine; an aim may be one."""
    text = PAGE.read_text("utf-8") + PLOT.read_text("utf-8")
    assert set(re.findall(r"[\d.]+ (?:ms|us|µs|ns)\b[^|;)]*", text)) <= {
        "100 ms of CPU",
        "60 us of CPU on top",
        "100 ms of CPU ",
        "60 us of CPU on top ",
    }


def rows_of(client: str, ratio: float, aim: float | None) -> list[Row]:
    return [
        make_row("a call", client, [ratio], loop=loop, steady=3 * ratio, aim=aim)
        for loop in ("asyncio", "trio")
    ]


@pytest.fixture
def results() -> Results:
    rows = [*rows_of(DEFAULT, 0.8125, 0.8), *rows_of(FAST, 0.25, 0.25), *rows_of(HTTPX, 1.0, None)]
    return Results({"Python": "CPython 3.11.7", "httpx": "0.28.1"}, {"call": rows})


def test_what_misses_its_aim_is_bold_and_explained(results: Results) -> None:
    """With what it is, what it was to be, and why."""
    page = rendering.page(f"before\n{BEGIN}\nold\n{END}\nafter\n", results)
    assert page.startswith(f"before\n{BEGIN}\n\nMeasured with Python CPython 3.11.7, httpx 0.28.1.")
    assert page.endswith(f"\n\n{END}\nafter\n")
    assert "| a call | **0.812** | **0.812** | 0.8 | 0.25 | 0.25 | 0.25 |\n" in page
    assert "| a call | 3 | 3 | 2.44 | 2.44 | 0.75 | 0.75 |\n" in page
    missed = "a call, default, asyncio 0.812 (aim 0.8); a call, default, trio 0.812 (aim 0.8)"
    assert f"- **One tool call**: {missed}.\n  {rendering.WHY_MISSED['call']}\n" in page


def test_what_costs_more_than_its_floor_is_told_without_an_aim_too() -> None:
    """It is not hidden by having none."""
    rows = {"functions": rows_of(DEFAULT, 1.5, None), "call": rows_of(FAST, 1.0, None)}
    page = rendering.page(f"{BEGIN}{END}", Results({}, rows))
    told = "a call, default, asyncio 1.5 (no aim); a call, default, trio 1.5 (no aim)"
    assert page.count(" (no aim)") == 2
    assert f"- **Many functions**: {told}.\n  {rendering.WHY_MISSED['functions']}\n" in page


def test_where_nothing_is_missed_the_page_says_so(results: Results) -> None:
    """Instead of an empty list."""
    met = Results(results.versions, {"call": rows_of(FAST, 0.2, 0.25)})
    assert "Nothing in this run." in rendering.page(f"{BEGIN}{END}", met)


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}"])
def test_a_page_without_marks_is_refused(results: Results, text: str) -> None:
    """Nothing is written where nobody knows the place."""
    with pytest.raises(ValueError, match="the page has to hold"):
        rendering.page(text, results)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1327.68, "1,328"), (12.24, "12"), (9.987, "9.99"), (1.0, "1"), (0.0026, "0.0026")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    """And no exponent."""
    assert rendering.number(value) == text


def test_the_plot_has_a_mark_for_each_ratio(results: Results) -> None:
    """Further right where it is larger; the floor itself has none, it is the line at 1."""
    drawn = ET.fromstring(drawing.plot(results))
    marks = {
        group.findtext(f"{SVG}title"): group.find(f"{SVG}circle") for group in drawn.iter(f"{SVG}g")
    }
    assert list(marks) == [
        "a call, default asyncio: 0.812",
        "a call, default trio: 0.812",
        "a call, fast asyncio: 0.25",
        "a call, fast trio: 0.25",
    ]
    places = [float(mark.get("cx", "")) for mark in marks.values() if mark is not None]
    [one] = [
        float(line.get("x1", "")) for line in drawn.iter(f"{SVG}line") if line.get("class") == "one"
    ]
    assert places[0] == places[1] < one
    assert places[2] == places[3] < places[0]
    assert [mark.get("class") for mark in marks.values() if mark is not None] == [
        "default",
        "default hollow",
        "fast",
        "fast hollow",
    ]
