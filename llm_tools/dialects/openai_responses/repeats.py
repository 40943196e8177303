"""Items that were handed in twice. The server refuses an input with two items of one id."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...content import JSON
from ...spec import Body
from .turns import without_id

_SAID = frozenset({"message", "function_call"})
"""Items that mean something at a second place; what is left of the provider's is state."""


class Items(NamedTuple):
    """The items that go out, and the ids of those the provider made."""

    items: list[JSON]
    ids: frozenset[str]


def without_repeats(items: list[Body], warn: Callable[[str, str], None]) -> Items:
    """Every item of the provider's once by its id.

    An exact copy right after the first (nothing but the model's own items between) is left out.
    Behind other messages a message or a call goes out again without its id, and anything else is
    left out. An item that has a known id and says something else is another host's business.
    """
    known: dict[str, Body] = {}
    here: set[str] = set()
    out: list[JSON] = []
    for item in items:
        key = _key(item)
        if key is None:
            here = here if item.get("role") == "assistant" else set()
            out.append(item)
        elif key not in known or not _is_same(item, known[key]):
            known.setdefault(key, item)
            here.add(key)
            out.append(item)
        elif item.get("type") in _SAID and (key not in here or item != known[key]):
            out.append(without_id(item))
        else:
            detail = f"The item {key!r} stands in the history twice; it went out once."
            warn("item_repeated", detail)
    return Items(out, frozenset(known))


def _key(item: Body) -> str | None:
    """What tells an item of the provider's, or what answers it of its own accord, from others."""
    if item.get("type") == "custom_tool_call_output":
        return f"{item.get('call_id')} (output)"
    found = item.get("id")
    return found if isinstance(found, str) and found else None


def _is_same(item: Body, other: Body) -> bool:
    """Whether two items are one; a call was perhaps given another id of a call."""
    return item == other or {**item, "call_id": None} == {**other, "call_id": None}
