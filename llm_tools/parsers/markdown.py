"""Fenced code blocks in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from ..errors import ParserError

_LINE_END = re.compile(r"\r\n|\n|\r")
_OPENING = re.compile(r"( *)(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*")
_ONE_LINE = re.compile(r"\s*(`{3,})(?:([A-Za-z][\w+#.-]*)\s)?(.+?)\1\s*")


class CodeBlock(TypedDict):
    """A fenced block: the language its fence names (or an empty string), and what is inside."""

    language: str
    code: str


def read_code_block(text: str) -> CodeBlock:
    """The first code block."""
    block = next(code_blocks(text), None)
    if block is None:
        raise ParserError("expected a fenced code block, found none")
    return block


def read_code_blocks(text: str) -> list[CodeBlock]:
    """All code blocks, in order; an empty list where there are none."""
    return list(code_blocks(text))


def code_blocks(text: str) -> Iterator[CodeBlock]:
    """The fenced blocks of a text; one whose end is missing runs to the end of the text."""
    lines = iter(split_lines(text))
    for line in lines:
        one_line = _ONE_LINE.fullmatch(line)
        if one_line:
            yield CodeBlock(language=one_line[2] or "", code=one_line[3].strip())
            continue
        opening = _OPENING.fullmatch(line)
        if opening:
            indent, fence, language = opening.groups()
            code = "\n".join(_inside(lines, len(indent), fence))
            yield CodeBlock(language=language, code=code)


def split_lines(text: str) -> list[str]:
    """The lines of a text; only line feeds and carriage returns end one."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def _inside(lines: Iterator[str], indent: int, fence: str) -> Iterator[str]:
    closing = re.compile(rf"\s*{fence[0]}{{{len(fence)},}}\s*")
    for line in lines:
        if closing.fullmatch(line):
            return
        margin = min(indent, len(line) - len(line.lstrip(" ")))
        yield line[margin:]
