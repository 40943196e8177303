"""The table of support is true: what it says of an option is what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from matrix.accents import Choice
from matrix.rows import Row, row_of
from matrix.saying import Said, read
from matrix.scenes import AIMS, ENDPOINTS, MODES, SCHEMA, Aim, Cell, cells_of

from llm_tools import ConfigurationError, Request, UnsupportedOptionError, list_endpoints

CHOICE_CODES = {
    "function_call_emulated",
    "subset_filtered",
    "subset_checked",
    "none_not_enforced",
}
STRICT_CODES = {"strict_emulated", "strict_unavailable"}
SCHEMA_CODES = {"json_schema_emulated", "json_schema_left_out"}
EMULATIONS = CHOICE_CODES | STRICT_CODES | SCHEMA_CODES


def codes(request: Request) -> set[str]:
    """The codes of its warnings."""
    return {warning.code for warning in request.warnings}


def expected_choice(row: Row, cell: Cell) -> Choice | None:
    """What the accent says of a mode, in this company."""
    names = [cell.mode]
    if cell.strict:
        names.append(f"{cell.mode}_strict")
    if cell.history == "loop":
        names.append(f"{cell.mode}_after_calls")
    return next(row.accent[name] for name in reversed(names) if name in row.accent)


def test_the_table_is_what_was_looked_up() -> None:
    """`list_endpoints()` says of every endpoint what the vendors' pages say."""
    told = {f"{info.key}.{info.protocol}.v1": info.support for info in list_endpoints()}
    looked_up = {aim.key: row_of(aim).support for aim in ENDPOINTS}
    assert told == looked_up


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_the_table_holds_for_the_model(aim: Aim) -> None:
    """What a dialect says of a target is what is known of its model."""
    target = aim.llm().target
    assert target.dialect.support(target) == row_of(aim).support


def outcome(aim: Aim, cell: Cell, warned: set[str]) -> str:
    """How an option is served: refused, emulated (one of the codes came), or native."""
    try:
        request = cell.ask(aim)
    except ConfigurationError:
        return "refused"
    return "emulated" if codes(request) & warned else "native"


def served(aim: Aim) -> Iterator[tuple[str, str]]:
    """Each option about functions and answers, and how a call with nothing else is served."""
    for option, mode in [("auto", "auto"), ("none", "none"), ("any", "any"), ("named", "name")]:
        yield option, outcome(aim, Cell(mode), CHOICE_CODES)
    yield "subset", outcome(aim, Cell("subset_any"), CHOICE_CODES)
    yield "strict", outcome(aim, Cell("unsaid", strict=True), STRICT_CODES)
    try:
        request = aim.llm().build_request("Hi", json_schema=SCHEMA)
        yield "json_schema", "emulated" if codes(request) & SCHEMA_CODES else "native"
    except ConfigurationError:
        yield "json_schema", "refused"


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_each_option_alone_comes_out_as_the_table_says(aim: Aim) -> None:
    """An option by itself is native, emulated with a warning, or refused, as promised."""
    target = aim.llm().target
    told = target.dialect.support(target)
    assert dict(served(aim)) == {option: told[option] for option, _ in served(aim)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_every_cell_says_what_the_accent_says(aim: Aim, mode: str) -> None:
    """In every combination: these functions, this choice, this strictness, this shape."""
    row = row_of(aim)
    for cell in cells_of(mode):
        choice = expected_choice(row, cell)
        if choice is None:
            with pytest.raises(UnsupportedOptionError, match=r"\buse\b"):
                cell.ask(aim)
            continue
        request = cell.ask(aim)
        assert codes(request) <= EMULATIONS | set(row.background), cell
        said = read(aim.llm().target.dialect.key, request.body)
        check_choice(cell, row, choice, said, request)
        check_strict(cell, row, choice, said, request)
        check_schema(cell, row, choice, said, request)


def check_choice(cell: Cell, row: Row, choice: Choice, said: Said, request: Request) -> None:
    """The functions, the choice, and exactly the warnings about them."""
    assert said.functions == choice.functions, cell
    assert said.choice == choice.said, cell
    assert codes(request) & CHOICE_CODES == set(choice.codes), cell
    if choice.text:
        assert "get_weather" in prompt(request.body), cell


def check_strict(cell: Cell, row: Row, choice: Choice, said: Said, request: Request) -> None:
    """Strict functions are held by the wire, or a warning says that they are checked here."""
    told = row.support["strict"]
    warned = codes(request) & STRICT_CODES
    if not cell.strict:
        assert not warned, cell
        assert held_anyway(choice) or said.strict == (), cell
    elif told == "native":
        assert not warned, cell
        assert said.strict == said.functions or cell.mode == "none", cell
    elif said.functions or choice.text:
        assert warned == {"strict_emulated"}, cell
        assert said.strict == (), cell


def held_anyway(choice: Choice) -> bool:
    """Gemini holds a model to the schemas in these modes without being asked."""
    return isinstance(choice.said, dict) and choice.said.get("mode") in ("ANY", "VALIDATED")


def check_schema(cell: Cell, row: Row, choice: Choice, said: Said, request: Request) -> None:
    """The text's shape is in its field, or in the prompt with a warning, or left out with one."""
    warned = codes(request) & SCHEMA_CODES
    if not cell.schema:
        assert not warned, cell
    elif choice.text:
        assert warned == {"json_schema_left_out"}, cell
    elif row.support["json_schema"] == "native" and not (row.one_shape and said.functions):
        assert not warned, cell
        assert set(said.schema["properties"]) == {"sky", "degrees"}, cell
    else:
        assert warned == {"json_schema_emulated"}, cell
        assert said.schema is None, cell
        assert "degrees" in prompt(request.body).replace('"degrees\\":20', ""), cell


def prompt(body: dict[str, Any]) -> str:
    """All that is said to the model in words."""
    keys = ("system", "instructions", "systemInstruction", "messages", "input", "contents")
    return str({key: body[key] for key in keys if key in body})
