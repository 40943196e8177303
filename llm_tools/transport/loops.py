"""Connections belong to the event loop they were made in, and end with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, Protocol

import anyio
from anyio.lowlevel import RunVar

from .arrival import Carrier
from .slots import Slots

_CLOSING_TIME = 1.0


class Pool(Carrier, Protocol):
    """A carrier with connections of its own."""

    async def aclose(self, *, at_once: bool = False) -> None:
        """Close what is idle now, and what is in use as it comes back.

        Args:
            at_once: nothing will come back, for the loop ends.
        """


class Pools:
    """Pools by what their connections have in common."""

    __slots__ = ("by_key",)

    def __init__(self) -> None:
        self.by_key: dict[Any, Pool] = {}

    async def aclose(self, *, at_once: bool = False) -> None:
        """Close them all."""
        pools = list(self.by_key.values())
        self.by_key.clear()
        for pool in pools:
            await pool.aclose(at_once=at_once)


class LoopState:
    """What this room keeps per event loop: slots, shared pools, and private ones by their owner."""

    __slots__ = ("_until_end", "private", "shared", "slots")

    def __init__(self) -> None:
        self.slots: Slots = Slots()
        self.shared: Pools = Pools()
        self.private: dict[Any, PrivatePools] = {}
        self._until_end: AsyncGenerator[None, None] | None = None

    def start(self) -> None:
        """Have the loop close the connections when it ends."""
        self._until_end = self._wait_for_end()
        with suppress(StopIteration):  # it stands at its yield then, and the loop knows of it
            self._until_end.asend(None).send(None)

    async def _wait_for_end(self) -> AsyncGenerator[None, None]:
        """The one hook both loops have: they finish the async generators that are left."""
        try:
            yield
        finally:
            _state.set(None)
            with anyio.move_on_after(_CLOSING_TIME, shield=True):
                await self.shared.aclose(at_once=True)
                for pools in list(self.private.values()):
                    await pools.pools.aclose(at_once=True)
            self.private.clear()


class PrivatePools:
    """The pools of one `Transport` in one loop, and how many blocks hold them open."""

    __slots__ = ("holders", "pools")

    def __init__(self) -> None:
        self.holders: int = 0
        self.pools: Pools = Pools()


_state: RunVar[LoopState | None] = RunVar("llm_tools.transport", None)


def loop_state() -> LoopState:
    """The state of the running loop, made on first use."""
    state = _state.get()
    if state is None:
        state = LoopState()
        _state.set(state)
        state.start()
    return state
