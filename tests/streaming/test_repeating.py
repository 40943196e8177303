"""Chunks that repeat the one before them but for one string are read by that string alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from streaming.reading import WIRES

from llm_tools.content import FunctionInputDelta
from llm_tools.dialects.openai_chat.repeating import Repetition
from llm_tools.dialects.openai_chat.streaming import read_fragment
from llm_tools.spec import Frame

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('",:{}[]\\'), max_size=6)


def chunk(text: str, **rest: Any) -> bytes:
    """A piece of a call's arguments."""
    call = {"index": 0, "function": {"arguments": text}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    return json.dumps({"id": "c", "model": "m", "created": 1, "choices": [choice], **rest}).encode()


@given(TEXTS, TEXTS, st.dictionaries(st.sampled_from(["x", "arguments", "choice"]), TEXTS))
def test_what_was_learned_from_a_chunk_reads_its_like(
    first: str, second: str, rest: dict[str, str]
) -> None:
    """The text of any other chunk of that form is the one its JSON holds; else it says nothing."""
    repetition = Repetition.learn(chunk(first, **rest), first, read_fragment)
    if repetition is not None:
        assert repetition.read(chunk(first, **rest)) == first
        assert repetition.read(chunk(second, **rest)) == second


@given(TEXTS, TEXTS, TEXTS)
def test_a_chunk_of_another_form_is_left_to_others(first: str, second: str, more: str) -> None:
    """Whatever differs outside the string is seen."""
    repetition = Repetition.learn(chunk(first), first, read_fragment)
    if repetition is None:
        return
    for other in (
        chunk(second, more=more),
        chunk(second)[:-1],
        chunk(second).replace(b'"index": 0', b'"index": 1'),
        chunk(second).replace(json.dumps(second).encode(), b'"a", "b"'),
        chunk(second).replace(json.dumps(second).encode(), b"1"),
        chunk(second).replace(json.dumps(second).encode(), b""),
        b"",
    ):
        assert repetition.read(other) is None


@pytest.mark.parametrize(
    "data",
    [
        b'{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"\\u0061"}}]}}]}',
        b'{"x":"a","choices":[{"delta":{"tool_calls":[{"function":{"arguments":"a"}}]}}]}',
        b'{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"a","arguments":"a"}}]}}]}',
    ],
)
def test_the_wrong_place_is_not_learned(data: bytes) -> None:
    """Where the same text stands elsewhere, or is spelled otherwise, nothing is assumed."""
    assert Repetition.learn(data, "a", read_fragment) is None


def test_a_place_between_two_strings_is_not_learned() -> None:
    """The signs of a text may stand where no string is."""
    data = b'{"x":["a","b"],"choices":[{"delta":{"tool_calls":[{"function":{"arguments":","}}]}}]}'
    assert read_fragment(data) == ","
    assert Repetition.learn(data, ",", read_fragment) is None
    assert Repetition.learn(b'{"choices":[]}', "a", read_fragment) is None


@pytest.mark.parametrize("pad", [None, "same", "changing"])
def test_hosts_that_pad_their_chunks(pad: str | None) -> None:
    """Padding that changes costs time, not truth."""
    plan = WIRES["chat"].plan
    decoder = plan.target.dialect.open_stream(plan, {})
    call = {"index": 0, "id": "a", "function": {"name": "ping", "arguments": ""}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}}
    decoder.feed(Frame(None, json.dumps({"id": "c", "model": "m", "created": 1, "choices": [choice]}).encode()))  # fmt: skip
    given = json.dumps({"text": "\n".join(f"line {number} “é”" for number in range(50))})
    told = ""
    for place in range(0, len(given), 3):
        padding = {None: {}, "same": {"p": "x"}, "changing": {"p": "x" * place}}[pad]
        for event in decoder.feed(Frame(None, chunk(given[place : place + 3], **padding))):
            assert isinstance(event, FunctionInputDelta)
            told += event.partial_json
    decoder.feed(Frame(None, b"[DONE]"))
    assert told == given
    assert decoder.close().function_calls[0].input == json.loads(given)
