"""Which carrier a request takes, in the running loop."""

from __future__ import annotations

from typing import Any

from .arrival import Carrier
from .head import Head
from .loops import PrivatePools, loop_state
from .settings import TransportSettings


class Carriers:
    """The carriers of one `Transport`."""

    __slots__ = ("_fixed", "_settings")

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._fixed: Carrier | None = _caller_s_own(settings)

    def choose(self, head: Head) -> Carrier:
        """The carrier for this head: the caller's own, else a pool of this loop."""
        if self._fixed is not None:
            return self._fixed
        state = loop_state()
        private = state.private.get(self)
        pools = (state.shared if private is None else private.pools).by_key
        key = (self._settings.transport, self._settings.http2, *head.origin)
        pool = pools.get(key)
        if pool is None:
            from .carriers.small_httpx import SmallHttpxPool

            pool = pools[key] = SmallHttpxPool()
        return pool

    def hold(self) -> None:
        """Count one more block that holds private connections in this loop."""
        state = loop_state()
        state.private.setdefault(self, PrivatePools()).holders += 1

    async def release(self) -> None:
        """Count one block less; the last closes the private connections."""
        state = loop_state()
        private = state.private.get(self)
        if private is None:
            return
        private.holders -= 1
        if private.holders == 0:
            del state.private[self]
            await private.pools.aclose()

    async def aclose(self) -> None:
        """Close the private connections of this loop; a later call opens new ones."""
        private = loop_state().private.get(self)
        if private is not None:
            await private.pools.aclose()


def _caller_s_own(settings: TransportSettings) -> Any:
    if settings.client is not None:
        from .carriers.client import ClientCarrier

        return ClientCarrier(settings.client)
    if not isinstance(settings.transport, str):
        from .carriers.custom import CustomCarrier

        return CustomCarrier(settings.transport)
    return None
