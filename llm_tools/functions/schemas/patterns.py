"""Regular expressions from strangers: never slow, whatever they and the texts are."""

from __future__ import annotations

import re
from functools import lru_cache

from .automaton import NotRegular, Program, compile_program, search

_IRREGULAR = re.compile(r"\\[1-9kbBAZzG]|\(\?(?!:)")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_QUANTIFIER = re.compile(r"[*+]|\{\d*,\d*\}|(?<!\()\?")
_MOST_WORK = 4_000_000
_MOST_UNSAFE = 12


def is_regular(pattern: str) -> bool:
    """Whether a pattern does without looking around, referring back and word boundaries."""
    return _IRREGULAR.search(pattern.replace("\\\\", "")) is None


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text.

    Also True where that cannot be told in bounded time: a pattern that is none for Python, one
    that backtracks and is not regular on more than a few characters, a text too long.
    """
    plain = _compiled(pattern)
    if plain is None:
        return True
    if len(text) <= _safe_length(pattern):
        return plain.search(text) is not None
    program = _program(pattern)
    if program is None:
        return len(text) > _MOST_UNSAFE or plain.search(text) is not None
    steps, start = program
    return len(steps) * len(text) > _MOST_WORK or search(steps, start, text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return None


@lru_cache(maxsize=256)
def _program(pattern: str) -> tuple[Program, int] | None:
    try:
        return compile_program(pattern)
    except (NotRegular, RecursionError, re.error):
        return None


@lru_cache(maxsize=256)
def _safe_length(pattern: str) -> int:
    """The longest text on which backtracking stays cheap, guessed from what may repeat."""
    if _REPEATED_GROUP.search(pattern):
        return -1
    choices = len(_QUANTIFIER.findall(pattern)) + (pattern.count("(") if "|" in pattern else 0)
    return int(_MOST_WORK ** (1 / (choices + 1)))
