"""Searching a text for a regular expression in time linear in the text, without backtracking.

For patterns from strangers. A pattern becomes a small program (Thompson's construction), and all
its threads go over the text at once. What is not regular (looking around, references back) and
what is rare (flags, word boundaries) is not taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, TypeAlias

_MOST_STEPS = 2000
_PLAIN_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_COUNT = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)


class NotRegular(Exception):  # noqa: N818 - a finding, not an error
    """The pattern is beyond this engine."""


class Step(NamedTuple):
    """One instruction: `char` reads one if `test` takes it; the others only lead on."""

    kind: Literal["char", "fork", "start", "end", "found"]
    test: Callable[[str], object] | None = None
    targets: tuple[int, ...] = ()


Program: TypeAlias = list[Step]
_Fragment: TypeAlias = Callable[["_Writer", int], int]
"""Writes itself in front of the step given, and returns its own first step."""


class _Writer:
    """Steps, written from the end to the start, so that targets are known."""

    def __init__(self) -> None:
        self.steps: Program = []

    def add(self, step: Step) -> int:
        if len(self.steps) >= _MOST_STEPS:
            raise NotRegular
        self.steps.append(step)
        return len(self.steps) - 1

    def replace(self, at: int, step: Step) -> int:
        self.steps[at] = step
        return at


def compile_program(pattern: str) -> tuple[Program, int]:
    """The program of a pattern, and the step it starts at.

    Raises:
        NotRegular: it is beyond this engine.
    """
    parser = _Parser(pattern)
    fragment = parser.alternatives()
    if parser.at != len(pattern):
        raise NotRegular
    writer = _Writer()
    start = fragment(writer, writer.add(Step("found")))
    return writer.steps, start


def search(program: Program, start: int, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    last = len(text) - 1 if text.endswith("\n") else len(text)
    threads: set[int] = set()
    for at in range(len(text) + 1):
        is_end = at in (last, len(text))
        threads = _follow(program, [*threads, start], at == 0, is_end)
        if any(program[thread].kind == "found" for thread in threads):
            return True
        if at < len(text):
            threads = _read(program, threads, text[at])
    return False


def _follow(program: Program, starts: Iterable[int], is_start: bool, is_end: bool) -> set[int]:
    """All steps reached without reading a character."""
    reached: set[int] = set()
    waiting = list(starts)
    while waiting:
        at = waiting.pop()
        if at in reached:
            continue
        reached.add(at)
        step = program[at]
        open_ = step.kind == "fork" or (
            is_start if step.kind == "start" else step.kind == "end" and is_end
        )
        if open_:
            waiting.extend(step.targets)
    return reached


def _read(program: Program, threads: set[int], char: str) -> set[int]:
    return {
        program[thread].targets[0]
        for thread in threads
        if (test := program[thread].test) is not None and test(char)
    }


# ---------------------------------------------------------------- fragments


def _char(test: Callable[[str], object]) -> _Fragment:
    return lambda writer, then: writer.add(Step("char", test, (then,)))


def _place(kind: Literal["start", "end"]) -> _Fragment:
    return lambda writer, then: writer.add(Step(kind, None, (then,)))


def _sequence(parts: list[_Fragment]) -> _Fragment:
    def write(writer: _Writer, then: int) -> int:
        for part in reversed(parts):
            then = part(writer, then)
        return then

    return write


def _either(options: list[_Fragment]) -> _Fragment:
    def write(writer: _Writer, then: int) -> int:
        return writer.add(Step("fork", None, tuple(option(writer, then) for option in options)))

    return options[0] if len(options) == 1 else write


def _repeated(part: _Fragment, least: int, most: int | None) -> _Fragment:
    if max(least, most or 0) > _MOST_STEPS:
        raise NotRegular

    def write(writer: _Writer, then: int) -> int:
        if most is None:
            loop = writer.add(Step("fork", None, (then,)))
            then = writer.replace(loop, Step("fork", None, (part(writer, loop), then)))
        for _ in range((most or least) - least):
            then = writer.add(Step("fork", None, (part(writer, then), then)))
        for _ in range(least):
            then = part(writer, then)
        return then

    return write


# ---------------------------------------------------------------- parsing


_SINGLE: dict[str, _Fragment] = {
    ".": _char(lambda read: read != "\n"),
    "^": _place("start"),
    "$": _place("end"),
}


class _Parser:
    """Reads the syntax of Python's `re`, as far as it goes here."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def _peek(self) -> str:
        return self._pattern[self.at : self.at + 1]

    def alternatives(self) -> _Fragment:
        options = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            options.append(self._sequence())
        return _either(options)

    def _sequence(self) -> _Fragment:
        parts: list[_Fragment] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._quantified(self._atom()))
        return _sequence(parts)

    def _quantified(self, part: _Fragment) -> _Fragment:
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._peek())
        if counts is not None:
            self.at += 1
        else:
            counts = self._counted()
        if counts is None:
            return part
        if self._peek() == "?":  # lazy: the same language
            self.at += 1
        if self._peek() in ("*", "+", "?"):
            raise NotRegular
        return _repeated(part, *counts)

    def _counted(self) -> tuple[int, int | None] | None:
        found = _COUNT.match(self._pattern, self.at)
        if found is None or found[0] == "{}":
            return None
        self.at = found.end()
        least = int(found[1] or 0)
        if found[2] is None:
            return least, least
        return least, int(found[3]) if found[3] else None

    def _atom(self) -> _Fragment:
        char = self._peek()
        self.at += 1
        read = {"(": self._group, "[": self._class, "\\": self._escape}.get(char)
        if read is not None:
            return read()
        if char in ("*", "+", "?"):
            raise NotRegular
        return _SINGLE.get(char) or _char(char.__eq__)

    def _group(self) -> _Fragment:
        if self._peek() == "?":
            if not self._pattern.startswith("?:", self.at):
                raise NotRegular
            self.at += 2
        inside = self.alternatives()
        if self._peek() != ")":
            raise NotRegular
        self.at += 1
        return inside

    def _class(self) -> _Fragment:
        found = _CLASS.match(self._pattern, self.at - 1)
        if found is None:
            raise NotRegular
        self.at = found.end()
        return _char(re.compile(found[0]).fullmatch)

    def _escape(self) -> _Fragment:
        char = self._peek()
        self.at += 1
        if char in tuple("dDwWsS"):
            return _char(re.compile("\\" + char).fullmatch)
        if char in _PLAIN_ESCAPES:
            return _char(_PLAIN_ESCAPES[char].__eq__)
        if not char or char.isalnum():
            raise NotRegular
        return _char(char.__eq__)
