"""State groups dialogues, attributes and context items, and is saved as one."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import pytest

from llm_tools.dialogue import create_dialogue
from llm_tools.errors import ConfigurationError
from llm_tools.state import State, create_state, create_state_item


def test_dialogues_are_kept_by_name() -> None:
    """Made once, found again, made where missing if asked for so."""
    state = create_state()
    chat = state.create_dialogue("chat")
    assert state.get_dialogue("chat") is state.use_dialogue("chat") is chat
    assert state.get_dialogue("other") is None
    assert state.use_dialogue("other").name == "other"
    with pytest.raises(ConfigurationError, match="already"):
        state.create_dialogue("chat")
    replacement = create_dialogue("chat").add_user_message("hi")
    assert state.add_dialogue(replacement).get_dialogue("chat") is replacement


def test_attributes_are_set_read_and_forgotten() -> None:
    """The methods return the state, but for the one that reads."""
    state = create_state().set_attribute("a", 1).set_attribute("b", None)
    assert state.get_attribute("a") == 1
    assert state.get_attribute("b", 5) is None
    assert state.get_attribute("c", 5) == 5
    assert state.delete_attribute("a").delete_attribute("a").attributes == {"b": None}
    assert state.clear_attributes().attributes == {}


def test_context_items_have_a_default_to_go_back_to() -> None:
    """Set, read and reset."""
    state = create_state()
    intent = state.create_context_item(create_state_item("intent", "unknown"))
    assert intent.value == "unknown"
    assert intent.set("booking").value == "booking"
    assert state.get_context_item("intent") is intent
    assert state.create_context_item(intent) is intent
    assert intent.reset().value == "unknown"
    assert state.get_context_item("other") is None
    assert repr(intent) == "<StateItem 'intent'>"
    with pytest.raises(ConfigurationError, match="'intent' already"):
        state.create_context_item(create_state_item("intent", 1))


def test_all_of_it_survives_json() -> None:
    """Dialogues, attributes and items come back, with the version in the JSON."""
    state = create_state().set_attribute("day", datetime.date(2026, 1, 2))
    state.create_dialogue("chat").add_user_message("hi")
    state.create_context_item(create_state_item("n", 0)).set(5)
    text = state.to_json()
    loaded = State.from_json(text.encode())
    assert loaded.to_json() == text
    assert loaded.dialogues == state.dialogues
    assert loaded.attributes == {"day": "2026-01-02"}
    assert loaded.context["n"].value == 5
    assert loaded.context["n"].reset().value == 0
    assert msgspec.json.decode(text)["version"] == 1
    assert repr(loaded) == "<State: 1 dialogues, 1 attributes, 1 context items>"


def test_later_additions_are_passed_over() -> None:
    """What is missing is empty, what is unknown is left."""
    loaded = State.from_json('{"version": 9, "more": 1}')
    assert (loaded.dialogues, loaded.attributes, loaded.context) == ({}, {}, {})


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"version": "x"}', '{"version": 1, "dialogues": [{}]}', "[" * 100_000, None, 5],
)
def test_what_is_no_saved_state_is_refused(text: Any) -> None:
    """A typed error."""
    with pytest.raises(ConfigurationError):
        State.from_json(text)
