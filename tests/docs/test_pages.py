"""The documentation is whole: what there is is in it, and what is in it is there."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import llm_tools
from llm_tools import LlmOptions, errors
from llm_tools.callables import FunctionSettings
from llm_tools.content import StopReason

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
PROSE = [ROOT / name for name in ("README.md", "AGENTS.md", "CHANGELOG.md")] + PAGES
REFERENCE = "\n".join([path.read_text() for path in PAGES if path.parent.name == "reference"])
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
UNIONS = {"OutputResultContent", "StreamEvent"}

# An unfinished mark, a folder of somebody's machine, the number of a ticket, and words that tell
# readers what they ought to find easy.
FORBIDDEN = re.compile(
    r"\b(?:TO"
    r"DO|FIX"
    r"ME|X{3})\b|/(?:root|home|work|opt)/|(?<![\w&;])#\d+\b"
    r"|\b(?:simply|obviously|of course|blazing|seamless\w*|effortless\w*)\b",
    re.IGNORECASE,
)


def name_of(value: Any) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


def words(page: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", (DOCS / page).read_text()))


@pytest.mark.parametrize("name", llm_tools.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """Whoever can import it can look it up."""
    assert re.search(rf"\.\. (?:auto|py:)\w+:: (?:llm_tools\.)?{name}\b", REFERENCE) or (
        name == "guards" and ".. automodule:: llm_tools.guards" in REFERENCE
    )


@pytest.mark.parametrize("name", sorted(set(llm_tools.__all__) - UNIONS - {"DEFER"}))
def test_every_public_name_says_what_it_is(name: str) -> None:
    """It has a docstring of its own, and so has every public method and property."""
    thing = getattr(llm_tools, name)
    assert inspect.getdoc(thing)
    assert [member for member, doc in public_members(thing) if not doc] == []


def public_members(thing: Any) -> Iterator[tuple[str, str | None]]:
    if inspect.isclass(thing):
        for kind in thing.__mro__:
            if not kind.__module__.startswith("llm_tools"):
                continue
            for member, value in vars(kind).items():
                if not member.startswith("_") and is_code(value):
                    yield f"{kind.__name__}.{member}", inspect.getdoc(getattr(kind, member))
    elif inspect.ismodule(thing):
        for member in thing.__all__:
            yield member, inspect.getdoc(getattr(thing, member))


def is_code(value: Any) -> bool:
    return inspect.isroutine(value) or isinstance(value, property | classmethod | staticmethod)


@pytest.mark.parametrize("option", sorted(LlmOptions.__annotations__))
def test_every_option_is_explained(option: str) -> None:
    """No keyword of `use_llm` is a secret."""
    assert option in words("reference/options.md")


def test_the_errors_page_has_the_tree_of_the_code() -> None:
    """The same classes under the same parents."""
    tree = re.compile(r"^([│ ├└─]*)(\w+Error)\b", re.MULTILINE)
    page = tree.findall((DOCS / "reference/errors.md").read_text())
    assert page == tree.findall(errors.__doc__ or "")
    assert {name for _, name in page} == set(errors.__all__)


def test_every_setting_of_a_function_is_explained() -> None:
    """Also the one that a value stands beside."""
    told = {word.partition("=")[0] for word in words("how-to/functions.md")}
    assert set(FunctionSettings.__struct_fields__) - told == set()


def test_every_stop_reason_is_explained() -> None:
    """In the table of results."""
    assert set(get_args(StopReason)) - words("reference/results.md") == set()


def test_every_variable_is_listed() -> None:
    """The library's own environment variables, wherever the code reads them."""
    source = "".join([path.read_text() for path in (ROOT / "llm_tools").rglob("*.py")])
    read = set(re.findall(r'"(LLM_TOOLS_[A-Z_]+|NO_COLOR)"', source))
    assert read
    assert read - words("reference/environment.md") == set()


def test_the_map_shows_every_room() -> None:
    """The architecture page names each module and package at the top, and each layer of the check."""
    text = (DOCS / "explanation/architecture.md").read_text()
    rooms = {
        path.name + ("/" if path.is_dir() else "")
        for path in (ROOT / "llm_tools").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert {room for room in rooms if not re.search(rf"(?<![\w/]){re.escape(room)}", text)} == set()

    layers = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    named = {part.strip() for layer in layers for part in layer.split("|")}
    assert named == {room.rstrip("/").removesuffix(".py") for room in rooms} - {"__init__"}


def test_the_readme_is_short_and_begins_with_what_to_type() -> None:
    """At most 120 lines; the commands come before anything else."""
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") <= 120
    assert len(commands(text)) == 2
    assert text.index("```sh") < text.index("```python")


def test_the_notes_for_developers_are_short() -> None:
    """AGENTS.md is read at the start of every piece of work: at most 80 lines."""
    assert (ROOT / "AGENTS.md").read_text().count("\n") <= 80


def test_the_readme_has_the_test_command_of_the_checks() -> None:
    """The second command is the last of `.ci/run`, to the letter."""
    run = (ROOT / ".ci/run").read_text().rstrip().splitlines()
    assert commands((ROOT / "README.md").read_text())[1] == run[-1]


def commands(text: str) -> list[str]:
    """What the shell blocks hold: one line each."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == len(blocks)
    return lines


@pytest.mark.parametrize("path", PROSE, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link names a file that is there."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    missing = [link for link in links if not (path.parent / link.partition("#")[0]).exists()]
    assert missing == []


@pytest.mark.parametrize("path", PROSE, ids=name_of)
def test_no_page_holds_what_does_not_belong_there(path: Path) -> None:
    """No unfinished mark, no folder of a machine, no number of a ticket, no belittling word."""
    assert [found[0] for found in FORBIDDEN.finditer(path.read_text())] == []


def test_forbidden_words_would_be_found() -> None:
    """The check above can fail."""
    bad = ["todo: more", "see #12", "in /home/me/x", "simply call it"]
    assert all(FORBIDDEN.search(text) for text in bad)
    assert not FORBIDDEN.search("text/plain, an anchor page.md#part, a colour &#8217;")


def test_fragments_of_the_changelog_are_of_known_kinds() -> None:
    """Each says something, under a name towncrier understands."""
    config = PYPROJECT["tool"]["towncrier"]
    assert config["directory"] == "docs/changelog.d"
    kinds = {kind["directory"] for kind in config["type"]}
    fragments = [p for p in (DOCS / "changelog.d").iterdir() if p.name != "README.md"]
    assert {
        path.name: path.suffixes[-2:] for path in fragments if not is_fragment(path, kinds)
    } == {}


def is_fragment(path: Path, kinds: set[str]) -> bool:
    parts = path.name.split(".")
    return len(parts) == 3 and parts[1] in kinds and parts[2] == "md" and bool(path.read_text())


DECISIONS = sorted((DOCS / "explanation/decisions").glob("0*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=name_of)
def test_a_decision_says_what_why_and_at_what_cost(path: Path) -> None:
    """In ten lines of text or a few more."""
    text = path.read_text()
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Decided", "Why", "Costs"]
    assert len([line for line in text.splitlines() if line]) <= 14
