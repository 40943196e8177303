"""What is shown of arguments that still come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from llm_tools import PartialInput, partial_input

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)
STYLES = st.fixed_dictionaries(
    {"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 0, 2])}
)


def agrees(shown: Any, final: Any) -> bool:
    """Whether what is shown is a beginning of what it becomes."""
    match shown, final:
        case dict(), dict():
            return all(key in final and agrees(shown[key], final[key]) for key in shown)
        case list(), list():
            return len(shown) <= len(final) and all(map(agrees, shown, final))
        case str(), str():
            return final.startswith(shown.removesuffix("\ufffd"))
        case _:
            return type(shown) is type(final) and shown == final


def cut(text: str, sizes: list[int]) -> list[str]:
    """The text in pieces of these lengths, over and over."""
    pieces: list[str] = []
    turn = 0
    while text:
        size = sizes[turn % len(sizes)]
        pieces.append(text[:size])
        text = text[size:]
        turn += 1
    return pieces


@settings(max_examples=60)
@given(OBJECTS, STYLES)
def test_every_prefix_agrees_with_the_whole(value: dict[str, Any], style: dict[str, Any]) -> None:
    """Whatever is shown at any point is a beginning of the final input, which it reaches."""
    text = json.dumps(value, **style)
    partial = PartialInput()
    for sign in text:
        assert not partial.complete
        assert agrees(partial.feed(sign), value)
    assert partial.complete
    assert partial.value == value


@given(OBJECTS, STYLES)
def test_members_that_are_whole_are_shown(value: dict[str, Any], style: dict[str, Any]) -> None:
    """A member is there once what follows it has begun, and not a sign later."""
    text = "{"
    for number, (name, item) in enumerate(value.items(), 1):
        text += json.dumps(name, **style) + ":" + json.dumps(item, **style) + ","
        assert partial_input(text) == dict(list(value.items())[:number])


@given(st.text(max_size=40) | OBJECTS.map(json.dumps), st.lists(st.integers(1, 5), min_size=1))
def test_any_cut_of_any_text_shows_the_same(text: str, sizes: list[int]) -> None:
    """How a text comes in pieces makes no difference, be it JSON or not."""
    assert partial_input(cut(text, sizes)) == partial_input(text)


@given(st.text('{}[]",:\\u0dtrfalsn1e-. `', max_size=30))
def test_text_that_is_no_json_does_no_harm(text: str) -> None:
    """What goes wrong ends what is shown, and raises nothing."""
    assert isinstance(partial_input("{" + text), dict)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", {}),
        ("null", {}),
        ("[1, 2]", {}),
        ('{"a"', {}),
        ('{"a": ', {}),
        ('{"a": 12', {}),
        ('{"a": 12 ', {"a": 12}),
        ('{"a": 12}', {"a": 12}),
        ('{"a": tru', {}),
        ('{"a": true', {"a": True}),
        ('{"a": truth', {}),
        ('{"a": "Os', {"a": "Os"}),
        ('{"a": "Os", "b": [1, 2', {"a": "Os", "b": [1]}),
        ('{"a": {"b": ["x', {"a": {"b": ["x"]}}),
        ('{"a": "1\\', {"a": "1"}),
        ('{"a": "1\\n', {"a": "1\n"}),
        ('{"a": "\\u00e', {"a": ""}),
        ('{"a": "\\u00e9', {"a": "é"}),
        ('{"a": "\\ud83d', {"a": ""}),
        ('{"a": "\\ud83d\\ude00', {"a": "😀"}),
        ('{"a": "\\ud83d\\ud83d\\ude00', {"a": "\ufffd😀"}),
        ('{"a": "\\ud83d!', {"a": "\ufffd!"}),
        ('{"a": "\\ude00"', {"a": "\ufffd"}),
        ('{"a": "\\x', {"a": ""}),
        ('{"a": "\\u00g', {"a": ""}),
        ('{"a\\u00e9b": 1}', {"aéb": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"a": 1, "a": "x', {"a": "x"}),
        ('{"a": [1,],}', {"a": [1]}),
        ('{"a": [], "b": {}}', {"a": [], "b": {}}),
        ('{"a": NaN, "b": 1}', {}),
        ('{"a": 01}', {}),
        ('{"a": 1 2}', {"a": 1}),
        ('{"a" 1}', {}),
        ("{'a': 1}", {}),
        ('{"a": 1} {"b": 2}', {"a": 1}),
        ('{}{"city": "Oslo"}', {"city": "Oslo"}),
        ('```json\n{"a": "x', {"a": "x"}),
        ("```", {}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_what_is_shown(text: str, shown: dict[str, Any]) -> None:
    """Text as far as it has come, all else once it is whole, nothing beyond what goes wrong."""
    assert partial_input(text) == shown
    assert partial_input(iter(text)) == shown


def test_one_dict_grows_in_place() -> None:
    """`feed` returns the same dict each time."""
    partial = PartialInput()
    first = partial.feed('{"a": "x')
    assert partial.feed('y"') is first is partial.value
    assert first == {"a": "xy"}


def test_nesting_has_an_end() -> None:
    """What is nested deeper than arguments may be is not shown."""
    shown: Any = partial_input('{"a": 1, "b": ' + '{"b":' * 100_000)
    depth = 0
    while shown:
        shown, depth = shown.get("b"), depth + 1
    assert depth == 63
    assert partial_input('{"b":' * 64 + "1" + "}" * 64)["b"]


def test_a_step_costs_what_its_fragment_is_long() -> None:
    """Long texts and long numbers are appended to, not copied at every step."""
    sign, steps = "x" * 10, 200_000
    partial = PartialInput()
    shown = partial.feed('{"a": "')
    for _ in range(steps):
        partial.feed(sign)
    assert len(shown["a"]) == len(sign) * steps
    partial.feed('", "b": ')
    for _ in range(steps):
        partial.feed("1")
    assert "b" not in shown
