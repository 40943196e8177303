"""Single values in text: a boolean, a number, one of a few words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, TypeVar

from ..errors import ConfigurationError, ParserError
from ..given import check_switch
from .parser import read_choice

T = TypeVar("T")

_WHOLE = {
    "true": True, "yes": True, "y": True, "1": True, "on": True,
    "false": False, "no": False, "n": False, "0": False, "off": False,
}  # fmt: skip
_WORD = re.compile(r"(?<!\w)(not\s+)?(true|yes|false|no)(?!\w)", re.IGNORECASE)
_LEADING = re.compile(r"(true|yes|false|no)(?!\w)\s*(?:[,.;:!)\u2013\u2014-]|$)", re.IGNORECASE)
_MARKUP = " \t\r\n*_`\"'.!#>\u201c\u201d\u2018\u2019"

_MINUS = "\u2212-"
_SPACES = "\u00a0\u2009\u202f'\u2019_"
_NUMBER = re.compile(
    rf"(?<![\w.,])(?<![A-Za-z]-)([+{_MINUS}](?=[\d.]))?"
    rf"(\d(?:[\d.,{_SPACES}]*\d)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
)
_PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_GROUPS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?"), ",", "."),
    (re.compile(rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?:\.\d+)?"), _SPACES, "."),
    (re.compile(rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}})+,\d+"), _SPACES, ","),
    (re.compile(r"\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+,\d+"), ".", ","),
)
"""How thousands are set apart, by which characters, and what then stands before decimals."""

_HIGHEST_EXPONENT = 308  # a float reaches no further


def boolean_reader(options: dict[str, Any]) -> Callable[[str], bool]:
    """Reads one truth value."""
    exact = read_choice(options, "match", ("extract", "exact")) == "exact"
    return partial(_read_boolean, exact=exact)


def number_reader(options: dict[str, Any]) -> Callable[[str], int | float]:
    """Reads one number."""
    exact = read_choice(options, "match", ("extract", "exact")) == "exact"
    return partial(_read_number, exact=exact)


def word_reader(options: dict[str, Any]) -> Callable[[str], str]:
    """Reads one of the strings in `enum`."""
    words = options.get("enum", ())
    listed = isinstance(words, Iterable) and not isinstance(words, str)
    if not listed or not all(isinstance(word, str) and word for word in words):
        raise ConfigurationError("string_extract needs enum=[…]: the strings it may return.")
    if not words:
        raise ConfigurationError("string_extract needs enum=[…] with at least one string.")
    match = read_choice(options, "match", ("word", "substring", "exact"))
    ignore_case = check_switch("ignore_case", options.get("ignore_case", True))
    known: dict[str, str] = {_folded(word, ignore_case): word for word in words}
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    inner = "|".join(longest_first)
    pattern = f"(?<!\\w)(?:{inner})(?!\\w)" if match == "word" else inner
    finder = re.compile(pattern, re.IGNORECASE if ignore_case else 0)

    def read(text: str) -> str:
        whole: str | None = known.get(_folded(text.strip(), ignore_case))
        if whole is not None:
            return whole
        found = [] if match == "exact" else finder.findall(text)
        named = [known[_folded(word, ignore_case)] for word in found]
        return _only(named, "one of " + ", ".join(map(repr, words)))

    return read


def _folded(word: str, ignore_case: bool) -> str:
    return word.lower() if ignore_case else word


def _only(found: Iterable[T], expected: str) -> T:
    distinct = list(dict.fromkeys(found))
    if not distinct:
        raise ParserError(f"expected {expected}, found none")
    if len(distinct) > 1:
        listed = ", ".join(map(repr, distinct[:5]))
        raise ParserError(f"expected {expected}, found several: {listed}")
    return distinct[0]


def _read_boolean(text: str, *, exact: bool) -> bool:
    bare = text.strip(_MARKUP)
    whole = _WHOLE.get(bare.lower())
    if whole is not None:
        return whole
    if exact:
        raise ParserError("expected true or false (or yes or no) and nothing else")
    leading = _LEADING.match(bare)
    if leading:
        return _WHOLE[leading[1].lower()]
    found = [_WHOLE[word.lower()] != bool(negated) for negated, word in _WORD.findall(text)]
    return _only(found, "true or false (or yes or no)")


def _read_number(text: str, *, exact: bool) -> int | float:
    if exact:
        whole = _NUMBER.fullmatch(text.strip())
        if whole is None:
            raise ParserError("expected a number and nothing else")
        return _value_of(*whole.groups())
    return _only([_value_of(*token.groups()) for token in _NUMBER.finditer(text)], "a number")


def _value_of(sign: str | None, digits: str) -> int | float:
    mantissa, _, exponent = digits.lower().partition("e")
    plain = _without_groups(mantissa)
    try:
        value = Decimal(f"{plain}e{exponent or 0}")
    except InvalidOperation:
        raise ParserError(f"{digits!r} is no number that can be read for sure") from None
    if not value.is_finite() or value.adjusted() > _HIGHEST_EXPONENT:
        raise ParserError(f"{digits[:40]!r} is out of range")
    if sign is not None and sign in _MINUS:
        value = -value
    return float(value) if exponent or "." in plain else int(value)


def _without_groups(mantissa: str) -> str:
    """The digits without thousands separators, `.` before decimals; "" where it is not clear."""
    if _PLAIN.fullmatch(mantissa):
        return mantissa
    for pattern, separators, point in _GROUPS:
        if pattern.fullmatch(mantissa):
            bare = mantissa.translate({ord(separator): None for separator in separators})
            return bare.replace(point, ".")
    return ""
