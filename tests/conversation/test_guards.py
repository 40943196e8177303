"""Guards answer for any object whatever, with a bool."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from llm_tools import guards
from llm_tools.content import (
    Message,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
)

USE = OutputResultFunctionUse(name="f", input={}, function_id="c")
TEXT = OutputResultText(text="t")
RESULT = OutputResult(
    id="r", name="m", created=0, usage=None, stop_reason="function_use", content=(TEXT, USE)
)
MESSAGES = {role: Message(role=role, content="x") for role in ("user", "assistant", "system")}
ALL = [getattr(guards, name) for name in guards.__all__]


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


class Hostile:
    """An object that answers nothing."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = None


STRANGERS = [
    None, 0, "text", "", b"", [], [1, "a"], {}, {"type": []}, {"type": "function_use"},
    {"role": "user"}, {"role": ["user"], "content": "x"}, object(), int, USE.__class__,
    OutputResultImage(url="u"), Message(role="function", content="x", function_id="c"),
    {"content": "x", "stopReason": "stop"},
]  # fmt: skip


@pytest.mark.parametrize("value", STRANGERS)
def test_a_stranger_is_nothing(value: Any) -> None:
    """Any object goes in, False comes out."""
    assert [guard(value) for guard in ALL] == [False] * len(ALL)


def test_an_object_that_answers_nothing_is_nothing() -> None:
    """Not even its class is asked for; also inside other values."""
    for value in (Hostile(), [Hostile()], {"type": Hostile(), "content": Hostile()}):
        assert [guard(value) for guard in ALL] == [False] * len(ALL)


@pytest.mark.parametrize(
    ("guard", "value"),
    [
        (guards.is_output_result, RESULT),
        (guards.is_output_result_content_text, TEXT),
        (guards.is_function_call, USE),
        (guards.is_tool_call, USE),
        (guards.is_user_message, MESSAGES["user"]),
        (guards.is_assistant_message, MESSAGES["assistant"]),
        (guards.is_system_message, MESSAGES["system"]),
        (guards.has_function_call, [TEXT, USE]),
        (guards.has_tool_call, [TEXT, USE]),
        (guards.has_function_call, RESULT.content),
        (guards.has_function_call, RESULT),
    ],
)
def test_a_guard_knows_its_kind_also_as_plain_json(guard: Any, value: Any) -> None:
    """The struct, and the same as dicts."""
    assert guard(value) is True
    if not isinstance(value, OutputResult) or guard is guards.is_output_result:
        assert guard(msgspec.to_builtins(value)) is True
    if not (guard is guards.has_function_call and isinstance(value, OutputResult)):
        assert guard(plain(value)) is True


def test_a_list_without_calls_has_none() -> None:
    """A parser's list lands on the text path."""
    assert guards.has_function_call(["a", "b"]) is False
    assert guards.has_function_call([TEXT]) is False
    assert guards.has_function_call([TEXT, USE, Hostile()]) is True


def test_roles_are_told_apart() -> None:
    """Each message guard knows its own role only."""
    named = [guards.is_user_message, guards.is_assistant_message, guards.is_system_message]
    for role, message in MESSAGES.items():
        answers = [guard(message) for guard in named]
        assert answers == [role == "user", role == "assistant", role == "system"]


_any = st.recursive(
    st.none() | st.integers() | st.text() | st.sampled_from([USE, TEXT, RESULT]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "role", "content", "name", "text", "stopReason"]), inner),
)  # fmt: skip


@given(_any)
def test_guards_are_total(value: Any) -> None:
    """A bool for everything."""
    assert all(type(guard(value)) is bool for guard in ALL)
