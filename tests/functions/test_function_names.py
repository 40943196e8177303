"""Names on the wire: legal ones stay, others become legal, unique and stable."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from llm_tools.errors import ConfigurationError
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.naming import legal_name, legal_names
from llm_tools.functions.preparing import prepare_functions
from llm_tools.functions.subsets import (
    ANTHROPIC_PROPERTY_NAMES,
    GEMINI_NAMES,
    GEMINI_PROPERTY_NAMES,
    NameRule,
    WireRules,
)

RULES = (NameRule(), GEMINI_NAMES, ANTHROPIC_PROPERTY_NAMES, GEMINI_PROPERTY_NAMES)
AWKWARD = [
    "stock.find",
    "stock_find",
    "stock find",
    "dry-run",
    "天气",
    "",
    "9",
    "x" * 70,
    "x" * 71,
    "é",
]


@pytest.mark.parametrize("rule", RULES)
def test_awkward_names(rule: NameRule) -> None:
    """All differ, all fit, legal ones are unchanged."""
    names = legal_names(AWKWARD, rule)
    assert list(names) == AWKWARD
    assert len(set(names.values())) == len(AWKWARD)
    for name, wire in names.items():
        assert re.fullmatch(rule.pattern, wire)
        if re.fullmatch(rule.pattern, name):
            assert wire == name


@given(st.lists(st.text(max_size=80), max_size=8, unique=True), st.sampled_from(RULES))
def test_any_names(names: list[str], rule: NameRule) -> None:
    """Whatever the names are, the result is legal and unique, and each stands for itself."""
    wire = legal_names(names, rule)
    assert len(set(wire.values())) == len(names)
    assert all(re.fullmatch(rule.pattern, item) for item in wire.values())
    for name in names:
        assert legal_names([name], rule)[name] == wire[name]


def test_a_taken_name_is_avoided() -> None:
    """A mapped name never lands on a function that has that very name."""
    mapped = legal_name("stock.find", NameRule())
    names = legal_names(["stock.find", mapped], NameRule())
    assert names[mapped] == mapped
    assert names["stock.find"] not in (mapped, "stock.find")


def test_stable_in_another_process() -> None:
    """History made elsewhere finds the same names."""
    code = (
        "from llm_tools.functions.naming import legal_names as n\n"
        "from llm_tools.functions.subsets import NameRule as R\n"
        "print(ascii(list(n(['a b', '天气', 'x' * 70], R()).values())))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert out.strip() == ascii(list(legal_names(["a b", "天气", "x" * 70], NameRule()).values()))


def test_a_rule_nothing_fits() -> None:
    """A rule of one's own that takes nothing is a typed error."""
    with pytest.raises(ConfigurationError, match="No name for 'a b' fits the pattern '!'"):
        legal_name("a b", NameRule("!"))


def test_prepared_names() -> None:
    """Functions are found by both names; names of no function get a legal one as well."""
    functions = normalize_functions([{"name": "stock.find"}, {"name": "dry-run"}])
    prepared = prepare_functions(functions, WireRules(), strict=False)
    wire = prepared.wire_name("stock.find")
    assert prepared.by_wire_name[wire].definition.name == "stock.find"
    assert prepared.wire_name("dry-run") == "dry-run"
    assert prepared.wire_name("never heard") == legal_name("never heard", NameRule())
    assert prepared.wire_name("heard") == "heard"
