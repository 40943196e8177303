"""Whatever is added in whatever order: it survives JSON, and what goes out is legal."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from llm_tools.content import (
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultText,
)
from llm_tools.dialogue import Dialogue, create_dialogue
from llm_tools.errors import ConfigurationError
from llm_tools.history import mend, read_messages

# Few ids, so that they collide, are missing and come again.
_ids = st.sampled_from(["c1", "c2", "c3", "c1_2", "call_2", ""])
_names = st.sampled_from(["f", "g"])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_objects = st.dictionaries(st.text(), _json, max_size=3)
_text_part = st.builds(OutputResultText, text=st.text(), citations=st.tuples(_json))
_image = st.builds(OutputResultImage, url=st.text())
_use = st.builds(
    OutputResultFunctionUse,
    name=_names,
    input=_objects,
    function_id=_ids,
    input_error=st.none() | st.just("bad"),
    provider_metadata=st.none() | _objects,
)
_parts = _text_part | _image | _use | st.builds(OutputResultReasoning, text=st.text())
_any_value = _json | st.sets(st.integers()) | st.binary() | st.lists(_text_part | _image)

_steps = st.one_of(
    st.tuples(st.just("add_system_message"), st.text()),
    st.tuples(st.just("add_user_message"), st.text() | st.lists(_text_part | _image)),
    st.tuples(st.just("add_assistant_message"), st.text()),
    st.tuples(st.just("add_from_output"), st.lists(_parts, max_size=4)),
    st.tuples(st.just("add_function_call_message"), st.lists(_use, min_size=1, max_size=3)),
    st.tuples(st.just("add_function_message"), _any_value, _names, _ids, st.booleans()),
)


def build(steps: list[tuple[Any, ...]]) -> Dialogue:
    dialogue = create_dialogue("d")
    for method, *arguments in steps:
        assert getattr(dialogue, method)(*arguments) is dialogue
    return dialogue


@given(st.lists(_steps, max_size=8))
def test_a_dialogue_survives_json_whatever_was_added(steps: list[tuple[Any, ...]]) -> None:
    """Saved and loaded it is the same, and saving it again gives the same text."""
    dialogue = build(steps)
    loaded = Dialogue.from_json(dialogue.to_json())
    assert loaded == dialogue
    assert loaded.to_json() == dialogue.to_json()


@given(st.lists(_steps, max_size=10))
def test_what_goes_out_has_one_result_right_after_every_call(steps: list[tuple[Any, ...]]) -> None:
    """Ids are unique within a turn, results follow in call order, nothing else is lost."""
    history = build(steps).history
    mended, warnings = mend(history, strict=False)
    assert_legal(mended)
    kept = [message for message in mended if message.role != "function"]
    assert [(message.role, len(message.content)) for message in kept] == [
        (message.role, len(message.content)) for message in history if message.role != "function"
    ]
    again, silence = mend(mended, strict=True)
    assert again is mended
    assert silence == ()
    dropped = sum(w.code in ("orphan_result", "duplicate_result") for w in warnings)
    made = sum(w.code == "call_not_completed" for w in warnings)
    assert len(mended) == len(history) - dropped + made


@given(st.lists(_steps, max_size=8))
def test_strict_history_passes_whole_or_not_at_all(steps: list[tuple[Any, ...]]) -> None:
    """Strict refuses exactly where mending would have had to say something."""
    history = build(steps).history
    _, warnings = mend(history, strict=False)
    try:
        mended, _ = mend(history, strict=True)
    except ConfigurationError:
        assert warnings
    else:
        assert not warnings
        assert_legal(mended)


def assert_legal(messages: tuple[Message, ...]) -> None:
    waiting: list[OutputResultFunctionUse] = []
    for message in messages:
        if message.role == "function":
            call = waiting.pop(0)
            assert (message.function_id, message.name) == (call.function_id, call.name)
            continue
        assert waiting == []
        if message.role == "assistant" and isinstance(message.content, tuple):
            waiting = [p for p in message.content if isinstance(p, OutputResultFunctionUse)]
            ids = [call.function_id for call in waiting]
            assert len(set(ids)) == len(ids)
            assert "" not in ids
            assert all(call.input == {} for call in waiting if call.input_error)
    assert waiting == []


_loose = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | _parts | st.just("text"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "name", "functionId", "input", "url"]
            )
            | st.text(),
            inner | st.sampled_from(["user", "assistant", "function", "system", "text", "image"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_loose | st.lists(_loose))
def test_whatever_is_given_is_read_or_refused(anything: Any) -> None:
    """Messages, or a `ConfigurationError`; never another exception."""
    try:
        read = read_messages(anything)
    except ConfigurationError:
        return
    assert all(isinstance(message, Message) for message in read)
    assert read_messages(list(read)) == read
