"""A transport that waits for the first request."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from .settings import TransportSettings

if TYPE_CHECKING:
    from .sending import Transport

_making = Lock()


class SharedTransport:
    """Makes a `Transport` when it is first asked for; whoever shares this shares that."""

    __slots__ = ("_made", "_settings")

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._made: Transport | None = None

    def get(self) -> Transport:
        """The transport."""
        if self._made is None:
            from .sending import Transport

            with _making:
                self._made = self._made or Transport(self._settings)
        return self._made
