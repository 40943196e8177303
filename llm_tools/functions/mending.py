"""Mending JSON text that a model got almost right: one pass each, no guessing."""

from __future__ import annotations

import re

_LANGUAGE = re.compile(r"[\w+-]*[ \t]*\r?\n?")
_EMPTY_OBJECTS = re.compile(r"\s*(?:\{\s*\}\s*)+(?=\{)")
_SURROGATE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"""
      (?P<text> " [^"\\]* (?: \\. [^"\\]* )* (?: " | \\?\Z ) )
    | (?P<single> ' [^'\\]* (?: \\. [^'\\]* )* (?: ' | \\?\Z ) )
    | (?P<comma> , \s* (?= [}\]] ) )
    """,
    re.DOTALL | re.VERBOSE,
)
"""Strings in either quotes, to the end of the text where one is not closed; trailing commas."""

_CONTROL = re.compile(r"[\x00-\x1f]")
_QUOTE_OR_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)


def mend_surrogates(data: bytes) -> bytes:
    r"""JSON bytes with every escape of half a character (`\ud83d` alone) as `\ufffd`.

    msgspec refuses the whole text for one of them.
    """
    return _SURROGATE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)


def strip_fence(text: str) -> str:
    """The inside of a text that is one Markdown code block."""
    block = text.strip()
    if len(block) < 6 or not block.startswith("```") or not block.endswith("```"):
        return text
    inside = block[3:-3]
    language = _LANGUAGE.match(inside)
    return inside[language.end() :] if language else inside


def strip_empty_objects(text: str) -> str:
    """The text without empty objects glued in front of another object."""
    found = _EMPTY_OBJECTS.match(text)
    return text[found.end() :] if found else text


def mend_commas(text: str) -> str:
    """The text without commas before a closing bracket."""
    return _TOKEN.sub(lambda found: "" if found["comma"] else found[0], text)


def mend_quotes(text: str) -> str:
    """The text with single-quoted strings in double quotes."""
    return _TOKEN.sub(lambda found: _requoted(found[0]) if found["single"] else found[0], text)


def mend_controls(text: str) -> str:
    """The text with raw line breaks and other control characters in strings escaped."""
    return _TOKEN.sub(
        lambda found: _CONTROL.sub(_escaped, found[0]) if found["text"] else found[0], text
    )


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _requoted(single: str) -> str:
    closed = '"' if single.endswith("'") and len(single) > 1 else ""
    inside = single[1:-1] if closed else single[1:]
    return '"' + _QUOTE_OR_ESCAPE.sub(_requote, inside) + closed


def _requote(found: re.Match[str]) -> str:
    if found[1] is None:
        return '\\"'
    return "'" if found[1] == "'" else found[0]
