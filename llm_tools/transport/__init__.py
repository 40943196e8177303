"""The only room that does I/O: connections, auth, retries, limits, framing.

Importing it imports neither httpx nor ssl; what needs them loads with the first request.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .masking import Address
from .message import HttpAnswer, Location, OutgoingRequest
from .secret import Secret
from .settings import TransportSettings
from .shared import SharedTransport

if TYPE_CHECKING:
    from .carriers.fast.face import FastTransport
    from .limiting import Limiter, create_limiter
    from .observing import AttemptFailed, RequestSent, ResponseArrived, add_observer
    from .opening import OpenStream
    from .sending import Transport

_LAZY = {
    "AttemptFailed": ".observing",
    "FastTransport": ".carriers.fast.face",
    "Limiter": ".limiting",
    "OpenStream": ".opening",
    "RequestSent": ".observing",
    "ResponseArrived": ".observing",
    "Transport": ".sending",
    "add_observer": ".observing",
    "create_limiter": ".limiting",
}

__all__ = [
    "Address",
    "AttemptFailed",
    "FastTransport",
    "HttpAnswer",
    "Limiter",
    "Location",
    "OpenStream",
    "OutgoingRequest",
    "RequestSent",
    "ResponseArrived",
    "Secret",
    "SharedTransport",
    "Transport",
    "TransportSettings",
    "add_observer",
    "create_limiter",
]


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(module, __name__), name)
    globals()[name] = found
    return found
