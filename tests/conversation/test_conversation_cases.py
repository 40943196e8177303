"""Reported failures of conversations, and our own small ones of each kind."""

from __future__ import annotations

import datetime
import decimal
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from llm_tools.content import Message, OutputResultFunctionUse, OutputResultText
from llm_tools.dialogue import Dialogue, create_dialogue
from llm_tools.errors import ConfigurationError
from llm_tools.history import NOT_COMPLETED, json_safe, mend, read_messages
from llm_tools.prompts import create_chat_prompt

CASES = os.environ.get("LLM_TOOLS_BUG_CASES")
needs_cases = pytest.mark.skipif(CASES is None, reason="LLM_TOOLS_BUG_CASES names no folder")


def load(case: str, name: str) -> Any:
    assert CASES is not None
    return msgspec.json.decode(Path(CASES, case, name).read_bytes())


def to_messages(history: list[dict[str, Any]]) -> tuple[Message, ...]:
    """The cases say `output` for a result's content."""
    return read_messages(
        [{"content" if key == "output" else key: value for key, value in item.items()}
         for item in history]
    )  # fmt: skip


def answers(messages: tuple[Message, ...]) -> dict[str | None, Any]:
    found = [message for message in messages if message.role == "function"]
    ids = [message.function_id for message in found]
    assert len(ids) == len(set(ids))
    return {message.function_id: message.content for message in found}


@needs_cases
@pytest.mark.parametrize("name", ["complete.json", "reversed.json"])
def test_a_complete_turn_gets_nothing_invented(name: str) -> None:
    """Paired by id, not by position; in call order."""
    expected = load("B25", "expected.json")["always"]["reversed.json"]["order_for_gemini"]
    mended, warnings = mend(to_messages(load("B25", name)), strict=False)
    assert [m.content for m in mended if m.role == "function"] == expected
    assert warnings == ()


@needs_cases
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one_missing.json", {"c_1": NOT_COMPLETED, "c_2": "out2"}),
        ("all_missing_then_user.json", {"c_1": NOT_COMPLETED, "c_2": NOT_COMPLETED}),
        ("ends_with_calls.json", {"c_1": NOT_COMPLETED, "c_2": NOT_COMPLETED}),
        ("orphan_result.json", {}),
    ],
)
def test_a_broken_turn_is_completed_or_refused(name: str, expected: dict[str, str]) -> None:
    """Each id answered once, before the user's next words; strict names the ids instead."""
    messages = to_messages(load("B25", name))
    mended, _ = mend(messages, strict=False)
    assert answers(mended) == expected
    flags = {m.function_id: m.is_error for m in mended if m.role == "function"}
    assert flags == {key: value == NOT_COMPLETED for key, value in expected.items()}
    if messages[-1].role == "user":
        assert mended[-1] is messages[-1]
    with pytest.raises(ConfigurationError, match=r"c_1|c_9"):
        mend(messages, strict=True)


@needs_cases
def test_an_id_reused_in_a_later_turn_stays_paired() -> None:
    """Nothing is dropped as a duplicate."""
    messages = to_messages(load("B26", "id_reused_next_turn_history.json"))
    mended, warnings = mend(messages, strict=True)
    assert mended is messages
    assert warnings == ()
    assert [m.content for m in mended if m.role == "function"] == ["rx", "ry"]


def b30_history(dialogue: Dialogue) -> list[Message]:
    values = {"user": "Ada", "secret": "TOPSECRET", "order": {"no": "N-77"}, "past": dialogue}
    by_copy = create_chat_prompt("You help {{user}}.").add_from_history(dialogue)
    by_key = create_chat_prompt("You help {{user}}.").add_chat_history_placeholder("past")
    formatted = by_copy.format(values)
    assert formatted == by_key.format(values)
    return formatted


@needs_cases
def test_the_reported_history_is_never_a_template() -> None:
    """Braces of the user, the model and a tool reach the wire verbatim, saved and loaded too."""
    setup = load("B30", "setup.json")
    expected = load("B30", "expected.json")
    dialogue = Dialogue("d", to_messages(setup["history"]))
    for past in (dialogue, Dialogue.from_json(dialogue.to_json())):
        system, *rest = b30_history(past)
        assert system.content == expected["system"]
        assert tuple(rest) == dialogue.history
        assert "TOPSECRET" not in msgspec.json.encode(rest).decode()


def test_braces_in_history_are_text() -> None:
    """Our own: every role, and a second round."""
    dialogue = (
        create_dialogue()
        .add_user_message("{{ secret }} {% if %}")
        .add_from_output(
            [
                OutputResultText(text="{# {{ user }}"),
                OutputResultFunctionUse(name="f", input={"t": "{{ secret }}"}, function_id="c"),
            ]
        )
        .add_function_message("{{ unclosed", "f", "c")
    )
    for _ in range(2):
        assert tuple(b30_history(dialogue)[1:]) == dialogue.history
        dialogue.add_assistant_message("{{ again }}")


@needs_cases
def test_reported_python_values_become_results() -> None:
    """Each value ends in one result with valid JSON; the list names the values as Python text."""
    names = load("B29", "python_values.json")["values"]
    scope = {"datetime": datetime, "decimal": decimal}
    for name in names:
        if name.startswith("raise "):
            continue
        dialogue = create_dialogue().add_function_call_message("f", {}, "c1")
        dialogue.add_function_message(eval(name, scope), "f", "c1")  # the case's own literals
        mended, warnings = mend(dialogue.history, strict=True)
        assert warnings == ()
        text = msgspec.json.encode(mended).decode()
        assert "NaN" not in text.replace('"NaN"', "")
        assert Dialogue.from_json(dialogue.to_json()) == dialogue


def test_a_failed_function_is_told_without_a_blank() -> None:
    """An exception without a message is its type's name."""
    assert json_safe(KeyError("no such row")) == "'no such row'"
    assert json_safe(RuntimeError()) == "RuntimeError"
