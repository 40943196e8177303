"""Messages in every accepted form are read; malformed ones are named by index and pointer."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from llm_tools.content import (
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultText,
)
from llm_tools.dialogue import create_dialogue
from llm_tools.errors import ConfigurationError
from llm_tools.history import read_message, read_messages, result_content

USE = OutputResultFunctionUse(name="f", input={"a": 1}, function_id="c1")


def test_a_string_is_one_user_message() -> None:
    """The shortest way to ask."""
    assert read_messages("hi\ud800") == (Message(role="user", content="hi\ufffd"),)


def test_sound_structs_pass_untouched() -> None:
    """Structs are neither copied nor rebuilt."""
    messages = [
        Message(role="system", content="s"),
        Message(role="user", content=(OutputResultText(text="é"), OutputResultImage(url="u"))),
        Message(role="assistant", content=(OutputResultReasoning(), USE)),
        Message(role="function", content={"a": [1]}, name="f", function_id="c1"),
        Message(role="function", content=None, function_id="c2"),
        Message(role="function", content=(OutputResultText(text="t"),), function_id="c2"),
        Message(role="function", content=1.5, function_id="c2"),
    ]
    read = read_messages(messages)
    assert len(read) == len(messages)
    assert all(a is b for a, b in zip(read, messages, strict=True))


def test_a_dialogue_is_its_history() -> None:
    """The snapshot itself is handed on."""
    dialogue = create_dialogue().add_user_message("hi")
    assert read_messages(dialogue) is dialogue.history


def test_the_json_form_is_read_in_either_spelling() -> None:
    """camelCase is the form, snake_case is tolerated."""
    read = read_messages(
        [
            {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "data": "aGk=", "media_type": "image/png"}]},
            {"role": "assistant", "content": [{"type": "reasoning", "text": "hm", "provider_metadata": {"x": {"s": 1}}}, {"type": "function_use", "name": "f", "input": {}, "function_id": "c1"}]},
            {"role": "function", "name": "f", "function_id": "c1", "content": [1, None], "is_error": True},
        ]
    )  # fmt: skip
    assert read == (
        Message(role="system", content="a\nb"),
        Message(
            role="user",
            content=(
                OutputResultText(text="see"),
                OutputResultImage(data="aGk=", media_type="image/png"),
            ),
        ),
        Message(
            role="assistant",
            content=(
                OutputResultReasoning(text="hm", provider_metadata={"x": {"s": 1}}),
                OutputResultFunctionUse(name="f", input={}, function_id="c1"),
            ),
        ),
        Message(role="function", name="f", function_id="c1", content=[1, None], is_error=True),
    )


def test_what_execute_returned_is_an_assistant_turn() -> None:
    """Structs may stand in a dict's content."""
    (read,) = read_messages([{"role": "assistant", "content": [OutputResultText(text="t"), USE]}])
    assert read.content == (OutputResultText(text="t"), USE)


def test_system_parts_with_metadata_stay_parts() -> None:
    """What a provider left on a part is not joined away."""
    part = OutputResultText(text="s", provider_metadata={"anthropic": {"cache": True}})
    (read,) = read_messages([{"role": "system", "content": [part]}])
    assert read.content == (part,)


def test_a_data_url_becomes_data() -> None:
    """Not every wire takes such a URL."""
    part = {"type": "image", "url": "data:image/gif;base64,aGk="}
    (read,) = read_messages([{"role": "user", "content": [part]}])
    assert read.content == (OutputResultImage(data="aGk=", media_type="image/gif"),)


@pytest.mark.parametrize(
    "url", ["https://x/a,b.png", "data:text/plain,hi", "data:image/png;base64"]
)
def test_other_urls_stay(url: str) -> None:
    """Only base64 `data:` URLs are taken apart."""
    (read,) = read_messages([{"role": "user", "content": [{"type": "image", "url": url}]}])
    assert read.content == (OutputResultImage(url=url),)


def test_hand_made_structs_are_mended() -> None:
    """A list in place of a tuple, broken text and Python values in a result are put right."""
    read = read_messages(
        [
            Message(role="user", content=[OutputResultText(text="x")]),
            Message(role="user", content="\ud800"),
            Message(role="assistant", content=(OutputResultText(text="\ud800"),)),
            Message(role="function", content={1, 2}, function_id="c", is_error=True),
            Message(role="function", content=float("nan"), function_id="c"),
            Message(role="function", content=(1, 2), name="f", function_id="c"),
        ]
    )
    assert [message.content for message in read] == [
        (OutputResultText(text="x"),),
        "\ufffd",
        (OutputResultText(text="\ufffd"),),
        [1, 2],
        "NaN",
        [1, 2],
    ]
    assert [message.is_error for message in read] == [False, False, False, True, False, False]
    assert read[5].name == "f"


def test_python_values_in_calls_become_json() -> None:
    """Also what a caller puts into a call's input or metadata."""
    part = {
        "type": "function_use",
        "name": "f",
        "input": {"day": datetime.date(2026, 1, 2)},
        "functionId": "c",
    }
    (read,) = read_messages([{"role": "assistant", "content": [part]}])
    assert read.content[0].input == {"day": "2026-01-02"}
    text = OutputResultText(text="t", citations=({"at": datetime.date(2026, 1, 2)}, {"b": 1}))
    (read,) = read_messages([{"role": "assistant", "content": [text]}])
    assert read.content[0].citations == ({"at": "2026-01-02"}, {"b": 1})


MALFORMED: list[tuple[Any, str]] = [
    (5, "expected text, a list of messages or a dialogue, got int"),
    ({"role": "user", "content": "x"}, "Put a single message into a list"),
    (Message(role="user", content="x"), "Put a single message into a list"),
    (["x"], r"messages\[0\]: expected a message, got str"),
    ([{"content": "x"}], r"messages\[0\] at /role: expected 'system'"),
    ([{"role": "tool", "content": "x"}], "Write 'function'"),
    ([{"role": ["user"], "content": "x"}], "at /role"),
    ([{"role": "user"}], r"messages\[0\] at /content: missing"),
    ([{"role": "user", "content": None}], "at /content: expected text or a list of parts, got NoneType"),
    ([{"role": "user", "content": "x"}, {"role": "user", "contents": "x"}], r"messages\[1\] at /contents: no such key. Did you mean 'content'\?"),
    ([{"role": "user", "content": "x", "functionId": "c"}], "at /function_id: only a 'function'"),
    ([{"role": "user", "content": ["x"]}], r"at /content/0: expected a part of type 'text' or 'image', got str"),
    ([{"role": "user", "content": [{"text": "x"}]}], "at /content/0/type: expected a part of type 'text' or 'image', got None"),
    ([{"role": "user", "content": [{"type": "image_url"}]}], 'Write {"type": "image", "url": …}'),
    ([{"role": "user", "content": [{"type": 5}]}], "at /content/0/type"),
    ([{"role": "user", "content": [USE]}], "got a 'function_use' part"),
    ([{"role": "user", "content": [{"type": "text", "text": 5}]}], r"at /content/0: Expected `str`, got `int` - at `\$.text`"),
    ([{"role": "user", "content": [{"type": "text", "txt": "x"}]}], r"at /content/0/txt: no such key. Did you mean 'text'\?"),
    ([{"role": "user", "content": [{"type": "image"}]}], "needs either url or data"),
    ([{"role": "user", "content": [{"type": "image", "url": "u", "data": "aGk="}]}], "needs either url or data"),
    ([{"role": "user", "content": [{"type": "image", "data": "aGk="}]}], "at /content/0/mediaType"),
    ([{"role": "user", "content": [{"type": "image", "data": "a", "mediaType": "image/png"}]}], "at /content/0/data: no base64"),
    ([{"role": "user", "content": [{"type": "image", "data": "é", "mediaType": "image/png"}]}], "at /content/0/data: no base64"),
    ([{"role": "assistant", "content": [{"type": "function_use", "name": "f", "functionId": "c"}]}], "missing required field `input`"),
    ([{"role": "assistant", "content": [OutputResultText(text=5)]}], "at /content/0/text: expected text, got int"),
    ([{"role": "assistant", "content": [OutputResultFunctionUse(name=None, input={}, function_id="c")]}], "/name: expected the name of a function"),
    ([Message(role="assistant", content=(OutputResultFunctionUse(name="f", input=[], function_id="c"),))], "/input: expected an object, got list"),
    ([Message(role="assistant", content=(OutputResultFunctionUse(name="f", input={}, function_id=None),))], "/functionId: expected text, got NoneType"),
    ([{"role": "assistant", "content": [{"type": "image", "data": 5}]}], "Expected `str | null`"),
    ([{"role": "assistant", "content": [OutputResultImage()]}], "needs either url or data"),
    ([{"role": "function", "name": "f", "content": "x"}], "at /functionId: a 'function' message needs the id"),
    ([{"role": "function", "name": 5, "functionId": "c", "content": "x"}], "at /name: expected text, got int"),
    ([{"role": "function", "functionId": "c", "content": "x", "isError": 1}], "at /isError: expected true or false"),
    ([Message(role="function", content="x")], "at /functionId"),
    ([Message(role="tool", content="x")], "Write 'function'"),
    ([Message(role="user", content="x", function_id="c")], "only a 'function' message"),
    ([Message(role="user", content=None)], "at /content: expected text"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), MALFORMED)
def test_a_malformed_message_is_named(messages: Any, expected: str) -> None:
    """The error says which message, where in it, and what was expected."""
    with pytest.raises(ConfigurationError, match=expected):
        read_messages(messages)


def test_any_iterable_of_messages_is_read() -> None:
    """Also a generator, once."""
    assert len(read_messages(Message(role="user", content=str(i)) for i in range(3))) == 3


def test_the_caller_s_dicts_are_not_changed() -> None:
    """Reading makes structs and leaves what it was given."""
    part = {"type": "function_use", "name": "f", "input": {"a": (1,)}, "functionId": "c"}
    message = {"role": "assistant", "content": [part]}
    read_message(message)
    assert message == {"role": "assistant", "content": [part]}
    assert part["input"] == {"a": (1,)}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        (None, None),
        (0, 0),
        ([], []),
        ((), []),
        ([{"type": "text"}], [{"type": "text"}]),
        ([{"type": "text", "text": "x", "more": 1}], [{"type": "text", "text": "x", "more": 1}]),
        ([{"type": "text", "text": "x"}], (OutputResultText(text="x"),)),
        ([{"type": "text", "text": "x"}, 1], [{"type": "text", "text": "x"}, 1]),
        ({"type": "text", "text": "x"}, {"type": "text", "text": "x"}),
        (OutputResultText(text="x"), (OutputResultText(text="x"),)),
        (OutputResultImage(url="u"), (OutputResultImage(url="u"),)),
        ({"type": "image", "url": "u"}, (OutputResultImage(url="u"),)),
        ({"type": "image", "data": "aGk="}, {"type": "image", "data": "aGk="}),
        (
            (OutputResultImage(url="u"), "x"),
            (OutputResultImage(url="u"), OutputResultText(text="x")),
        ),
        ([OutputResultImage(url="u"), 1], [{"type": "image", "url": "u"}, 1]),
        ([{"type": "image", "url": "u"}, "x"], [{"type": "image", "url": "u"}, "x"]),
    ],
)
def test_a_result_keeps_text_and_image_parts(value: Any, expected: Any) -> None:
    """Parts stay parts; what only looks like one stays JSON."""
    assert result_content(value) == expected


@pytest.mark.parametrize("fields", [{}, {"url": 5}, {"data": 5}, {"url": "u", "data": "aGk="}])
def test_an_image_struct_without_an_image_is_refused(fields: Any) -> None:
    """Types are only hints: a hand-made struct is looked at, too."""
    message = Message(role="user", content=(OutputResultImage(**fields),))
    with pytest.raises(ConfigurationError, match="an image needs either url or data"):
        read_messages([message])
