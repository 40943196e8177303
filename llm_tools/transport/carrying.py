"""Which carrier a request takes, in the running loop."""

from __future__ import annotations

from typing import Any

from ..errors import ConfigurationError
from .arrival import Carrier
from .head import Head
from .loops import LoopState, Pool, PrivatePools, loop_state
from .proxies import is_proxied
from .settings import TransportSettings


class Carriers:
    """The carriers of one `Transport`."""

    __slots__ = ("_fixed", "_kind", "_settings")

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._fixed: Carrier | None = None
        self._kind = (settings.transport, settings.http2)

    def choose(self, head: Head) -> Carrier:
        """The carrier for this head: the caller's own, else a pool of this loop.

        Raises:
            ConfigurationError: the fast transport cannot get there.
        """
        if self._fixed is not None:
            return self._fixed
        if self._settings.client is not None or not isinstance(self._settings.transport, str):
            self._fixed = _caller_s_own(self._settings)
            return self._fixed
        state = loop_state()
        private = state.private.get(self) if state.private else None
        pools = (state.shared if private is None else private.pools).by_key
        key = (self._kind, head.scheme, head.host, head.port)
        pool = pools.get(key)
        if pool is None:
            pool = pools[key] = self._make_pool(head, state)
        return pool

    def hold(self) -> None:
        """Count one more block that holds private connections in this loop."""
        loop_state().private.setdefault(self, PrivatePools()).holders += 1

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

    def _make_pool(self, head: Head, state: LoopState) -> Pool:
        proxied = is_proxied(head.scheme, head.host)
        if self._settings.transport == "fast":
            if proxied:
                raise ConfigurationError(
                    f"transport='fast' cannot go through the proxy that stands before {head.host}: "
                    "use transport='httpx', or name the host in NO_PROXY."
                )
            from .carriers.fast.pool import FastPool

            return FastPool(state.slots, head.scheme)
        if proxied or self._settings.http2:
            from .carriers.client import ClientPool

            return ClientPool(head.scheme, http2=self._settings.http2)
        from .carriers.small_httpx import SmallHttpxPool

        return SmallHttpxPool(state.slots, head.scheme)


def _caller_s_own(settings: TransportSettings) -> Any:
    if settings.client is not None:
        from .carriers.client import ClientCarrier

        return ClientCarrier(settings.client)
    from .carriers.custom import CustomCarrier

    return CustomCarrier(settings.transport)
