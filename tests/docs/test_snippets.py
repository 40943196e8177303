"""Every snippet of the README and the documentation runs as it is printed."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs.fake_provider import FakeProvider
from docs.snippets import Page

from llm_tools import list_endpoints, registry

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if not {"changelog.d", "_build"} & set(path.parts)
    ),
]
SHELL = re.compile(r"^```(?:sh|bash|shell)\n", re.MULTILINE)
REASON = re.compile(r"<!-- not run: .+ -->\n+$")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def environment(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """Keys and addresses of the fake provider, and a working folder of the snippet's own."""
    for name, value in provider.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    list_endpoints()  # loads them all: what a page registers must not stay
    known = {key: dict(records) for key, records in registry._endpoints.items()}
    monkeypatch.setattr(registry, "_endpoints", known)
    level = logging.getLogger("llm_tools").level
    yield
    logging.getLogger("llm_tools").setLevel(level)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_the_snippets_of_a_page_run(path: Path, backend: str, tmp_path: Path) -> None:
    """Whoever copies a snippet has a program that works, and prints what the page says."""
    blocks = len(re.findall(r"^ *```(?:python|output|console)$", path.read_text(), re.MULTILINE))
    assert Page(path, backend=backend, folder=tmp_path).run() >= blocks


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_command_that_is_not_run_says_why(path: Path) -> None:
    """No command stands in the documentation unchecked by oversight."""
    text = path.read_text()
    unmarked = [
        text[: found.start()].count("\n") + 1
        for found in SHELL.finditer(text)
        if not REASON.search(text[: found.start()])
    ]
    assert unmarked == []


def test_a_snippet_that_fails_fails_its_page(tmp_path: Path) -> None:
    """The checks above can fail: on an exception, a wrong output and a wrong command."""
    broken: dict[str, Any] = {
        "```python\nassert 1 == 2\n```\n": AssertionError,
        "```python\nawait missing()\n```\n": NameError,
        "```python\nprint(1)\n```\n\n```output\n2\n```\n": AssertionError,
        "```console\n$ llm-tools --help\nno such text\n```\n": AssertionError,
    }
    for number, (text, error) in enumerate(broken.items()):
        path = tmp_path / f"page_{number}.md"
        path.write_text(text)
        with pytest.raises(error):
            Page(path, backend="asyncio", folder=tmp_path).run()
