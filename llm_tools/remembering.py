"""A conversation rendered for a wire; what an earlier call rendered is not rendered again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Raw, Struct

from .content import JSON, Message, ResultWarning
from .errors import ConfigurationError
from .history import History
from .history.known import new_call_ids
from .spec import Body, Call

_MOST_WIRES = 4
"""How many wires a conversation is remembered for."""


class Said(Struct, frozen=True):
    """Messages on a wire: their elements, what else they put into the body, and warnings.

    `ids` are those of elements that may stand in it once only.
    """

    elements: list[JSON]
    body: Body = {}
    warnings: tuple[ResultWarning, ...] = ()
    made_for: tuple[object, ...] = ()
    ids: frozenset[str] = frozenset()


Render: TypeAlias = Callable[[tuple[Message, ...]], Said]


class Opening(NamedTuple):
    """A user's message and its element, for wires where a conversation must begin with one."""

    message: Message
    element: JSON


def say(
    call: Call,
    render: Render,
    made_for: tuple[object, ...],
    *,
    known_by: tuple[Hashable, ...] = (),
    is_legal: Callable[[str], object] | None = None,
    opening: Opening | None = None,
) -> Said:
    """What `render` makes of the call's messages; elements that are remembered are bytes already.

    Args:
        call: the call.
        render: renders messages, from first to last. What an assistant turn and what follows it
            become must not depend on the messages before, ids of calls apart.
        made_for: the very objects they are rendered for: the target, the functions.
        known_by: what else the rendering depends on.
        is_legal: whether an id of a call may go out as it is.
        opening: stands before messages that do not begin with the user's, where the wire needs it.
    """
    history = call.history
    if history is None or not history.is_kept:
        return render(call.messages)
    key = (*map(id, made_for), *known_by)
    said = history.made.get(key)
    if said is None:
        said = _continued(history, key, render, is_legal, opening)
        said = said or _encoded(render(call.messages), made_for)
        if len(history.made) >= _MOST_WIRES:
            history.made.clear()
        history.made[key] = said
    return said


def _continued(
    history: History,
    key: Hashable,
    render: Render,
    is_legal: Callable[[str], object] | None,
    opening: Opening | None,
) -> Said | None:
    """What was said before, and the rest; None where the rest cannot be rendered alone."""
    base = history.base
    before = None if base is None else base.made.get(key)
    if before is None or not history.stands_apart():
        return None
    if is_legal is not None and not all(map(is_legal, new_call_ids(history.rest))):
        return None
    front = () if opening is None else (opening.message,)
    try:
        rest = render((*front, *history.rest))
    except ConfigurationError:
        return None
    if rest.warnings or rest.body or (opening and rest.elements[:1] != [opening.element]):
        return None
    if not before.ids.isdisjoint(rest.ids):
        return None
    new = _encoded(Said(rest.elements[len(front) :])).elements
    elements, ids = [*before.elements, *new], before.ids | rest.ids
    return Said(elements, before.body, before.warnings, before.made_for, ids)


def _encoded(said: Said, made_for: tuple[object, ...] = ()) -> Said:
    """The same with its elements as bytes; it keeps what it was made for, whose ids know it."""
    elements = [Raw(msgspec.json.encode(element)) for element in said.elements]
    return Said(elements, said.body, said.warnings, made_for, said.ids)
