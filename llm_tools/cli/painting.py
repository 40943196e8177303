"""Colours, where there is a person to see them."""

from __future__ import annotations

import os
import sys


class Paint:
    """Wraps text in terminal colours, or leaves it alone.

    Colours are for a terminal; `NO_COLOR` (https://no-color.org) turns them off.
    """

    def __init__(self) -> None:
        self._on = (
            sys.stdout.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def bold(self, text: str) -> str:
        """A heading."""
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        """An aside."""
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        """What went right."""
        return self._wrap("32", text)

    def bad(self, text: str) -> str:
        """What went wrong."""
        return self._wrap("31", text)

    def call(self, text: str) -> str:
        """A function and its values."""
        return self._wrap("36", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on else text
