"""Names a wire takes: legal ones stay, others get a legal, unique and stable one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from ..errors import ConfigurationError
from .subsets import NameRule

_LENGTHS = (64, 48, 32, 20, 12, 0)


def legal_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """Each name with its name on the wire; all of them differ.

    A name that has to change becomes what is legal of it and some digits of its hash, so it is
    the same in every process and whatever functions stand beside it.
    """
    wanted = list(names)
    out = {name: name for name in wanted if is_legal(name, rule)}
    taken = set(out)
    for name in wanted:
        if name not in out:
            out[name] = legal_name(name, rule, taken)
            taken.add(out[name])
    return {name: out[name] for name in wanted}


def is_legal(name: str, rule: NameRule) -> bool:
    """Whether a name may go out as it is."""
    return _compiled(rule.pattern).fullmatch(name) is not None


def legal_name(name: str, rule: NameRule, taken: Collection[str] = ()) -> str:
    """A name that fits the rule and is not taken.

    Raises:
        ConfigurationError: the rule takes none of the names tried.
    """
    if is_legal(name, rule):
        return name
    for candidate in _candidates(name):
        if candidate not in taken and is_legal(candidate, rule):
            return candidate
    raise ConfigurationError(
        f"No name for {name!r} fits the pattern {rule.pattern!r}: rename it, or mend the rule."
    )


def _candidates(name: str) -> Iterator[str]:
    from hashlib import sha256

    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    clean = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_")
    for digits in (8, 16, 32):
        tail = digest[:digits]
        for length in _LENGTHS:
            stem = clean[: max(length - digits - 3, 0)].rstrip("_") or "f"
            yield f"{stem}_{tail}"
            yield f"f_{stem}_{tail}"


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
