"""The gates a call passes before it runs: its function's group, and its function's own limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from threading import Lock
from types import MappingProxyType
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..callables import CallableExecutor
from .gate import Gate
from .threads import ThreadCall

_Key: TypeAlias = str | CallableExecutor
"""A group's name, or the function whose own limit it is."""

_groups: WeakValueDictionary[str, Gate] = WeakValueDictionary()
_limits: WeakKeyDictionary[CallableExecutor, Gate] = WeakKeyDictionary()
_lock = Lock()

_inside: ContextVar[Mapping[_Key, Gate]] = ContextVar(
    "llm_tools_inner_gates", default=MappingProxyType({})
)
"""What stands for a gate inside a call that has passed it, so that it does not wait for itself."""


class Hold:
    """The gates one call has passed."""

    __slots__ = ("_abandoned", "_gates")

    def __init__(self) -> None:
        self._gates: list[Gate] = []
        self._abandoned = False

    def add(self, gate: Gate) -> None:
        """Another one is passed."""
        self._gates.append(gate)

    def release(self) -> None:
        """Give all places back; from any thread."""
        for gate in reversed(self._gates):
            gate.leave(abandoned=self._abandoned)

    def release_after(self, thread: ThreadCall | None) -> None:
        """Give all places back once the call's thread, if it still runs, has ended."""
        if thread is None or not thread.running:
            self.release()
            return
        self._abandoned = True
        for gate in self._gates:
            gate.abandon()
        thread.when_ended(self.release)


def has_gates(function: CallableExecutor) -> bool:
    """Whether calls of the function wait for others."""
    settings = function.settings
    return settings.group is not None or settings.max_concurrency is not None


async def pass_gates(function: CallableExecutor, patience: float | None) -> Hold | None:
    """Wait for the function's group, then for its own limit.

    Groups and limits count in the whole process, whatever the loop. Inside a call that has passed
    a gate, calls that would wait for it take turns among themselves.

    Args:
        function: what will be called, in this task.
        patience: seconds to wait for a thread that outlived its timeout.

    Returns:
        What the call holds, or None if such a thread would not end.
    """
    outer, inner = _inside.get(), {}
    hold = Hold()
    try:
        for key, gate in _gates_of(function, outer):
            if not await gate.enter(patience):
                hold.release()
                return None
            hold.add(gate)
            inner[key] = Gate()
    except BaseException:
        hold.release()
        raise
    _inside.set({**outer, **inner})
    return hold


def _gates_of(
    function: CallableExecutor, inside: Mapping[_Key, Gate]
) -> Iterator[tuple[_Key, Gate]]:
    group, limit = function.settings.group, function.settings.max_concurrency
    if group is not None:
        yield group, inside.get(group) or _group(group)
    if limit is not None:
        yield function, inside.get(function) or _limit(function, limit)


def _group(name: str) -> Gate:
    with _lock:
        gate = _groups.get(name)
        if gate is None:
            gate = _groups[name] = Gate()
        return gate


def _limit(function: CallableExecutor, limit: int) -> Gate:
    with _lock:
        gate = _limits.get(function)
        if gate is None:
            gate = _limits[function] = Gate(limit)
        return gate
