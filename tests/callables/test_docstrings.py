"""Docstrings of the three styles are read alike."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from llm_tools.functions.docstrings import Docstring, parse_docstring

GOOGLE = """Look it up.

    More of it: with a colon.

    Args:
        city: The city
            to look in.
        unit (str, optional): C: or F.
        **rest: Others.

        after_blank: Still one.

    Returns:
        dict: no parameter.

    Note:
        Not told.
    """
NUMPY = """Look it up.

    More of it: with a colon.

    Parameters
    ----------
    city : str
        The city
        to look in.
    unit : {'C', 'F'}, optional
        C: or F.
    *rest, more
        Others.

    Returns
    -------
    dict
        no parameter.
    """
REST = """Look it up.

    More of it: with a colon.

    :param city: The city
        to look in.
    :param str unit: C: or F.
    :keyword rest: Others.
    :type city: str
    :returns: no parameter.
    :raises ValueError: never.
    """


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (GOOGLE, {"rest": "Others.", "after_blank": "Still one."}),
        (NUMPY, {"rest": "Others.", "more": "Others."}),
        (REST, {"rest": "Others."}),
    ],
)
def test_each_style_says_the_same(text: str, more: dict[str, str]) -> None:
    """Description and parameters, continued lines joined, other sections left out."""
    read = parse_docstring(text)
    assert read.parameters == {"city": "The city to look in.", "unit": "C: or F."} | more
    assert read.description.startswith("Look it up.\n\nMore of it: with a colon.")
    assert "no parameter" not in read.description


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, Docstring()),
        ("", Docstring()),
        ("One line.", Docstring("One line.")),
        ("A title\n=======\ntext", Docstring("A title\n=======\ntext")),
        ("Use it.\n\nExample::\n\n    f()", Docstring("Use it.\n\nExample::\n\n    f()")),
        ("Use it.\n\nExamples:\n    f()", Docstring("Use it.")),
        ("Do.\n\nArgs:", Docstring("Do.")),
        ("Do.\n\nArgs:\n    no colon here", Docstring("Do.")),
        ("Do.\n\nArgs:\n    x:", Docstring("Do.")),
        ("Do.\n\nArgs:\n  x: a\ny", Docstring("Do.\n\ny", {"x": "a"})),
        ("Do.\n\n:param: nothing", Docstring("Do.")),
        ("Do.\n\nParameters\n----------\n!! : x\n    y", Docstring("Do.")),
        ("Do.\n\nArgs:\n  x (list of (a, b)): c (d): e", Docstring("Do.", {"x": "c (d): e"})),
        ("Has it.\n\nAttributes:\n    x: a", Docstring("Has it.", {"x": "a"})),
    ],
)
def test_odd_docstrings_lose_nothing_but_sections(text: str | None, expected: Docstring) -> None:
    """Headings that are none stay text."""
    assert parse_docstring(text) == expected


@given(st.text(alphabet="ab :\n-*()\t") | st.text())
def test_any_text_is_read(text: str) -> None:
    """Docstrings are written by people."""
    read = parse_docstring(f"Args:\n{text}\n\nReturns\n-----\n:param x: {text}")
    assert isinstance(read.description, str)
