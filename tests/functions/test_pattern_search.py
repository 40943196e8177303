"""Patterns are searched in linear time, with the meaning Python gives them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from llm_tools.functions.schemas.automaton import NotRegular, compile_program, search
from llm_tools.functions.schemas.patterns import is_regular, matches

PIECES = st.sampled_from(
    ["a", "b", ".", "\\d", "\\w", "\\S", "[ab]", "[^a]", "[]a]", "[a-c\\]]", "\\.", "^", "$", "\\n", " ",
     "{", "é", "\\t"]
)  # fmt: skip
COUNTS = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}", "{,2}", "*?", "{0}"])
PATTERNS = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map("({})".format),
        inner.map("(?:{})".format),
        st.tuples(inner, COUNTS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("ab1.\n ]cé{", max_size=6))
def test_same_as_python(pattern: str, text: str) -> None:
    """The engine and `re` agree on every pattern both take."""
    try:
        expected = re.search(pattern, text) is not None
    except re.error:
        return
    program, start = compile_program(pattern)
    assert search(program, start, text) is expected
    assert matches(pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("{}", "{}", True),
        ("a{}", "a{}", True),
        ("a{,}b", "aaab", True),
        ("a{x", "a{x", True),
        ("x{2", "x{2", True),
        ("^$", "\n", True),
        ("a$", "a\nb", False),
        ("()", "", True),
        ("(|a)+b", "aab", True),
        ("((a*)*)*b", "aaaa", False),
        ("[", "anything", True),
    ],
)
def test_odd_patterns(pattern: str, text: str, found: bool) -> None:
    """Braces that count nothing are characters; what is no pattern is not checked."""
    assert matches(pattern, text) is found
    if found and pattern != "[":
        program, start = compile_program(pattern)
        assert search(program, start, text)


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?P<n>a)", r"(a)\1", r"\b", r"\Z", "a**", "*a", "(a", "a)", "[a", "\\",
     "a{3000}", "(a{100}){100}", "(?i)a", "a++"],
)  # fmt: skip
def test_beyond_the_engine(pattern: str) -> None:
    """What is not regular, rare or too large is refused."""
    with pytest.raises(NotRegular):
        compile_program(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^(a+)+$", "a" * 40 + "!", False),
        ("^(a|a)*$", "a" * 60 + "!", False),
        ("^(a|aa)+$", "a" * 5000, True),
        ("^(?:a?){30}a{30}$", "a" * 30, True),
        ("a*a*a*a*a*b", "a" * 4000, False),
        (r"^(\w+\s?)*$", "word " * 500 + "!", False),
        ("(x+x+)+y", "x" * 3000, False),
        (r"^([a-z]+\.)*[a-z]+$", "abc." * 500 + "abc", True),
        # neither safe nor regular: tried on short texts only
        (r"^(?=a)(a+)+$", "a" * 10, True),
        (r"^(?=a)(a+)+$", "b", False),
        (r"^(?=a)(a+)+$", "a" * 60 + "!", True),
        ("(a|b)*c", "a" * 3_000_000, True),
    ],
)
def test_never_slow(pattern: str, text: str, found: bool) -> None:
    """Patterns made to backtrack end before the timeout, with the right answer if there is one."""
    assert matches(pattern, text) is found


def test_the_engine_itself_can_give_up() -> None:
    """Nesting that exhausts the parser is treated like what is not regular."""
    pattern = "(" * 400 + "a" + ")*" * 400
    assert matches(pattern, "b" * 50) is True


@pytest.mark.parametrize(
    ("pattern", "regular"),
    [("^a$", True), ("(?:a)", True), (r"\\1", True), (r"\1", False), ("(?=a)", False),
     (r"\\\b", False), (r"a\.b", True), ("(?P<x>a)", False)],
)  # fmt: skip
def test_is_regular(pattern: str, regular: bool) -> None:
    """Looking around, references back and word boundaries are told apart from the rest."""
    assert is_regular(pattern) is regular
