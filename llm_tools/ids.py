"""Ids for calls that came without one."""

from __future__ import annotations

import string
from collections.abc import Callable
from random import SystemRandom

_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 9
_ATTEMPTS = 8
"""How often a factory that repeats itself is asked for another id."""
_choose = SystemRandom().choices


def _random_id() -> str:
    return "".join(_choose(_ALPHABET, k=_LENGTH))


_factory: Callable[[], str] = _random_id


def set_id_factory(factory: Callable[[], str] | None) -> None:
    """Replace what mints ids of calls, for the whole process; None puts the default back.

    The default gives nine letters and digits: the strictest provider's form (Mistral), so legal
    everywhere. It also stands in where a factory keeps repeating an id within an answer.
    """
    global _factory
    _factory = factory or _random_id


def mint_id() -> str:
    """A fresh id."""
    return _factory()


class UniqueIds:
    """The ids of one answer; a missing, empty or repeated one is replaced by a fresh one."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, wanted: str | None) -> str:
        """`wanted` if it is usable and free, else a new id."""
        chosen = wanted if wanted and wanted != "null" else mint_id()
        attempts = 0
        while chosen in self._taken:
            chosen = mint_id() if attempts < _ATTEMPTS else _random_id()
            attempts += 1
        self._taken.add(chosen)
        return chosen
