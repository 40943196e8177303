"""Checks of what a caller gave: its kind, with advice where it is another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ConfigurationError


def check_switch(name: str, value: Any) -> bool:
    """The value of an option that is on or off. What merely counts as true, as "no" does, is none.

    Raises:
        ConfigurationError: it is neither True nor False.
    """
    if value is True or value is False:
        return value
    raise ConfigurationError(f"{name} must be True or False, got {value!r}.")


def check_name(what: str, value: Any) -> str:
    """A name something is looked up by.

    Raises:
        ConfigurationError: it is no text.
    """
    if isinstance(value, str):
        return value
    raise ConfigurationError(f"{what} must be a string, got {value!r}.")


def nearest(word: Any, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The known word that was most likely meant; None where none is like it.

    Args:
        word: what was given.
        known: the words there are.
        likeness: how like it has to be, from 0 to 1.
    """
    from difflib import get_close_matches

    close = get_close_matches(str(word), list(known), n=1, cutoff=likeness)
    return close[0] if close else None


def hint(word: Any, known: Iterable[str]) -> str:
    """A sentence for a word there is none of: the one that was most likely meant, or all."""
    words = list(known)
    meant = nearest(word, words)
    if meant is not None:
        return f"Did you mean {meant!r}?"
    return f"Known: {', '.join(words)}." if words else "It takes none."


def check_mapping(name: str, value: Any, holds: str) -> Mapping[str, Any]:
    """Values by name; None is none.

    Args:
        name: the option's.
        value: what was given.
        holds: what belongs in it, for the message.

    Raises:
        ConfigurationError: it is no mapping, or a key is no text.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return value
    raise ConfigurationError(f"{name} must be a dict of {holds}, got {value!r}.")
