"""What an executor tells while it works."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from inspect import isawaitable
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct

from ..errors import ConfigurationError
from ..given import check_mapping

Event: TypeAlias = Literal["on_success", "on_error", "on_complete", "on_turn", "on_function"]
Hook: TypeAlias = Callable[..., Awaitable[None] | None]
GivenHooks: TypeAlias = Mapping[Event, Hook | list[Hook] | tuple[Hook, ...]]
"""By event, one hook or several."""

_EVENTS: frozenset[str] = frozenset(get_args(Event))
_log = logging.getLogger("llm_tools.executors")


class ExecutionMetadata(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which execution a hook is told of; holds no secret and no content.

    `duration` is in seconds, and None while it still runs.
    """

    executor: str
    trace_id: str
    duration: float | None = None


class Hooks:
    """Functions to call at an executor's events; a failing one is logged and breaks nothing."""

    __slots__ = ("_hooks",)

    def __init__(self, hooks: GivenHooks | None = None) -> None:
        self._hooks: dict[str, tuple[tuple[Hook, bool], ...]] = {}
        for event, given in _by_event(hooks):
            for hook in given if isinstance(given, list | tuple) else (given,):
                self.add(event, hook)

    def add(self, event: Event, hook: Hook, *, once: bool = False) -> None:
        """Call `hook` at every `event`, or only at the next.

        Raises:
            ConfigurationError: there is no such event, or `hook` cannot be called.
        """
        _check_event(event)
        if not callable(hook):
            raise ConfigurationError(f"The hook of {event!r} cannot be called: {hook!r}.")
        self._hooks[event] = (*self._hooks.get(event, ()), (hook, once))

    def remove(self, event: Event, hook: Hook) -> None:
        """No longer call `hook` at `event`.

        Raises:
            ConfigurationError: there is no such event.
        """
        _check_event(event)
        kept = tuple(pair for pair in self._hooks.get(event, ()) if pair[0] != hook)
        self._hooks[event] = kept

    def has(self, event: Event) -> bool:
        """Whether anybody listens."""
        return bool(self._hooks.get(event))

    async def tell(self, event: Event, *values: Any) -> None:
        """Call the event's hooks, in the order they were added; a `once` hook a single time."""
        for pair in self._hooks.get(event, ()):
            hook, once = pair
            if once and not self._use_up(event, pair):
                continue
            try:
                answer = hook(*values)
                if isawaitable(answer):
                    await answer
            except Exception:  # noqa: BLE001 - a caller's hook may raise anything
                _log.exception("a hook of %s failed", event)

    def _use_up(self, event: Event, pair: tuple[Hook, bool]) -> bool:
        """Take a `once` hook out; False if another execution was first."""
        here = self._hooks.get(event, ())
        self._hooks[event] = tuple(other for other in here if other is not pair)
        return any(other is pair for other in here)


def _by_event(hooks: GivenHooks | None) -> Iterable[tuple[Any, Any]]:
    return check_mapping("hooks", hooks, "functions by event").items()


def _check_event(event: Any) -> None:
    if not isinstance(event, str) or event not in _EVENTS:
        raise ConfigurationError(
            f"There is no event {event!r}; there are {', '.join(sorted(_EVENTS))}."
        )
