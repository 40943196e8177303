"""Small pieces that encoders and decoders share: inline images, times, emulated calls."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools.content import OutputResultImage
from llm_tools.rendering import InlineImage, inline_image, schema_instructions
from llm_tools.reply import EmulatedCall, read_created, read_emulated_call


@pytest.mark.parametrize(
    ("image", "inline"),
    [
        ({"data": "AA==", "media_type": "image/heic"}, InlineImage("image/heic", "AA==")),
        ({"data": "AA==", "media_type": "image/jpg"}, InlineImage("image/jpeg", "AA==")),
        ({"url": "data:image/JPG;base64,AA=="}, InlineImage("image/jpeg", "AA==")),
        ({"data": "iVBORw0KGgo="}, InlineImage("image/png", "iVBORw0KGgo=")),
        ({"data": "/9j/4AAQ"}, InlineImage("image/jpeg", "/9j/4AAQ")),
        ({"data": "R0lGODlh"}, InlineImage("image/gif", "R0lGODlh")),
        ({"data": "UklGRg=="}, InlineImage("image/webp", "UklGRg==")),
        ({"data": "AA=="}, InlineImage("image/png", "AA==")),
        ({"url": "data:image/gif;base64,R0lG"}, InlineImage("image/gif", "R0lG")),
        ({"url": "data:;base64,/9j/4AAQ"}, InlineImage("image/jpeg", "/9j/4AAQ")),
        (
            {"url": "data:text/plain;base64,AA==", "media_type": "image/png"},
            InlineImage("image/png", "AA=="),
        ),
        ({"url": "https://example.org/a.png"}, None),
        ({}, None),
    ],
)
def test_an_inline_image_is_its_bytes_and_their_type(image: Any, inline: Any) -> None:
    """A data URL counts as bytes; a type that was not given is read from the first of them."""
    assert inline_image(OutputResultImage(**image)) == inline


@pytest.mark.parametrize(
    ("timestamp", "headers", "created"),
    [
        ("2026-01-02T03:04:05Z", {}, 1767323045),
        ("2026-01-02T03:04:05.123456789Z", {}, 1767323045),
        ("2026-01-02T04:04:05+01:00", {"date": "ignored"}, 1767323045),
        (None, {"date": "Fri, 02 Jan 2026 03:04:05 GMT"}, 1767323045),
        ("yesterday", {"date": "Fri, 02 Jan 2026 03:04:05 GMT"}, 1767323045),
        (7, {"date": "yesterday"}, 0),
        (None, {}, 0),
    ],
)
def test_when_an_answer_was_made(timestamp: Any, headers: dict[str, str], created: int) -> None:
    """The wire's own time, else the date header, else 0; nonsense is passed over."""
    assert read_created(timestamp, headers) == created


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', EmulatedCall("f", {"a": 1})),
        (' {"name": "f"}\n', EmulatedCall("f", None)),
        ('{"name": "f", "parameters": {"a": 1}}', EmulatedCall("f", {"a": 1})),
        ('{"name": "f", "parameters": 1, "arguments": {}}', EmulatedCall("f", {}, 1)),
        ('{"arguments": {}}', None),
        ('{"name": 7}', None),
        ("f()", None),
        ("", None),
    ],
)
def test_text_that_stands_in_for_a_call(text: str, call: EmulatedCall | None) -> None:
    """Only a JSON object with a name is one."""
    assert read_emulated_call(text) == call


def test_a_schema_in_the_prompt_is_whole() -> None:
    """The model is told the schema itself, always in the same words."""
    assert schema_instructions({"type": "integer"}).endswith('JSON Schema:\n{"type":"integer"}')
