"""The only room that does I/O: connections, auth, retries, limits, framing.

Importing it imports neither httpx nor ssl; what needs them loads with the first request.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .message import HttpAnswer, Location, OutgoingRequest
from .secret import Secret
from .settings import TransportSettings

if TYPE_CHECKING:
    from .opening import OpenStream
    from .sending import Transport

_LAZY = {
    "OpenStream": ".opening",
    "Transport": ".sending",
}

__all__ = [
    "HttpAnswer",
    "Location",
    "OpenStream",
    "OutgoingRequest",
    "Secret",
    "Transport",
    "TransportSettings",
]


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(module, __name__), name)
    globals()[name] = found
    return found
