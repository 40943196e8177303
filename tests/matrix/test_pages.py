"""The pages about endpoints and warnings say what the code does."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import llm_tools

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PACKAGE = Path(llm_tools.__file__).parent

# What gives a warning: its class, and the methods and functions that make one by a code.
MAKERS = {"ResultWarning", "warn", "_warn", "_warning", "tell", "lose"}


def test_the_table_of_endpoints_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """`docs/reference/endpoints.md` is what `docs/generate_tables.py` writes now."""
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "generate_tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert (REFERENCE / "endpoints.md").read_text("utf-8") == tables.page()
    assert tables.main(["--check"]) == 0
    monkeypatch.setattr(tables, "page", lambda: "another page")
    assert tables.main(["--check"]) == 1


def codes_in(source: str) -> Iterator[str]:
    """The codes of the warnings that a module makes."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in MAKERS:
            given = [item.value for item in node.keywords if item.arg == "code"] or node.args[:1]
            yield from (
                item.value
                for item in given
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )


def test_every_warning_has_its_line() -> None:
    """The page lists exactly the codes that the package uses, each once."""
    used = {
        code
        for path in PACKAGE.rglob("*.py")
        if "executors" not in path.parts  # where `tell` and `warn` tell hooks and Python's warnings
        for code in codes_in(path.read_text("utf-8"))
    }
    page = (REFERENCE / "warnings.md").read_text("utf-8")
    listed = re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)
    assert "subset_filtered" in used
    assert all(re.fullmatch(r"[a-z]+(?:_[a-z]+)+", code) for code in used)
    assert sorted(listed) == sorted(used)


def test_codes_are_found_in_code() -> None:
    """The search knows every way in which the package makes a warning."""
    source = """
ResultWarning(code="a_b", detail=x)
self.warn("c_d", f"{x}")
changes.lose("e_f", path, "x")
warnings.append(_warning("g_h", "x"))
ResultWarning(code=code, detail=x)
print("i_j")
"""
    assert sorted(codes_in(source)) == ["a_b", "c_d", "e_f", "g_h"]
