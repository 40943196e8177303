"""No option vanishes: each one changes the body, or warns, or is refused."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from matrix.scenes import AIMS, CELLS, MODES, Aim, Cell

from llm_tools import ConfigurationError, Request

# Said otherwise, or nothing at all: these mean the same.
SAME_MODES = [{"unsaid", "auto"}, {"name", "dict", "one_of_one"}]

# Under these, Gemini holds a model to the schemas by itself.
HELD_ANYWAY = {"any", "name", "dict", "one_of_one", "subset_any", "subset_auto"}


def outcome(aim: Aim, cell: Cell) -> Any:
    """All that can be seen of a call: its body and warnings, or its refusal."""
    try:
        request = cell.ask(aim)
    except ConfigurationError as error:
        return str(error)
    return request.url, request.body, request.warnings


@pytest.fixture(scope="module", params=AIMS, ids=str)
def outcomes(request: pytest.FixtureRequest) -> tuple[Aim, dict[Cell, Any]]:
    """Every cell of one target."""
    aim: Aim = request.param
    return aim, {cell: outcome(aim, cell) for cell in CELLS}


def test_every_mode_is_heard(outcomes: tuple[Aim, dict[Cell, Any]]) -> None:
    """Two modes that mean different things never go out alike, unless both are refused."""
    _, seen = outcomes
    for cell in CELLS:
        if cell.mode != "unsaid":
            continue
        for one, other in combinations(MODES, 2):
            first, second = seen[cell._replace(mode=one)], seen[cell._replace(mode=other)]
            if {one, other} <= SAME_MODES[1]:
                assert first == second, (cell, one, other)
            elif {one, other} != SAME_MODES[0] and not isinstance(first, str):
                assert first != second, (cell, one, other)


def test_strict_input_is_heard(outcomes: tuple[Aim, dict[Cell, Any]]) -> None:
    """Strictness changes the body or warns, wherever a call can come of it."""
    aim, seen = outcomes
    gemini = aim.llm().target.dialect.key == "gemini"
    for cell, was in seen.items():
        if cell.strict or isinstance(was, str):
            continue
        became = seen[cell._replace(strict=True)]
        if cell.mode != "none" and not (gemini and cell.mode in HELD_ANYWAY):
            assert became != was, cell


def test_a_schema_is_heard(outcomes: tuple[Aim, dict[Cell, Any]]) -> None:
    """The shape of the text changes the body or warns, in every company."""
    _, seen = outcomes
    for cell, was in seen.items():
        if not cell.schema and not isinstance(was, str):
            assert seen[cell._replace(schema=True)] != was, cell


def test_functions_are_heard_under_every_mode_but_none(
    outcomes: tuple[Aim, dict[Cell, Any]],
) -> None:
    """Each function that may be called is described in the body, wherever that is."""
    _, seen = outcomes
    for cell, became in seen.items():
        if cell.mode in ("unsaid", "auto", "any") and not isinstance(became, str):
            for description in ("The weather of a city", "The time of day", "Ask whether it is"):
                assert description in str(became[1]), (cell, description)


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_without_functions_auto_and_none_say_nothing(aim: Aim) -> None:
    """There is nothing to choose among, so the body is the one without a choice."""

    def ask(function_call: Any) -> Request:
        return aim.llm().build_request("Hi", function_call=function_call)

    assert ask("auto").body == ask("none").body == ask(None).body
    for forced in ("any", "get_weather", {"name": "get_weather"}, {"names": ["get_weather"]}):
        with pytest.raises(ConfigurationError, match="function"):
            ask(forced)


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_what_no_function_is_called_is_refused(aim: Aim) -> None:
    """A name that is not offered, an empty subset and an unknown shape never reach a wire."""
    for wrong in ("nope", {"name": "nope"}, {"names": ["ping", "nope"]}, {"names": []}, {"x": 1}):
        with pytest.raises(ConfigurationError):
            aim.llm().build_request("Hi", functions=[{"name": "ping"}], function_call=wrong)
