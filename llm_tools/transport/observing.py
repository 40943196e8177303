"""Hooks of the whole process: a function told of every request, response and retry."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeAlias

import anyio
from msgspec import Struct

from .message import OutgoingRequest

_log = logging.getLogger("llm_tools.transport")
_log.addHandler(logging.NullHandler())


class RequestSent(Struct, frozen=True, kw_only=True):
    """An attempt begins; `size` is the body's in bytes."""

    endpoint: str
    model: str
    attempt: int
    size: int
    stream: bool


class ResponseArrived(Struct, frozen=True, kw_only=True):
    """An attempt succeeded; of a stream, its head is there. `seconds` since it began."""

    endpoint: str
    model: str
    attempt: int
    seconds: float
    stream: bool


class AttemptFailed(Struct, frozen=True, kw_only=True):
    """An attempt failed. `wait` is the seconds until the next; None: it was the last."""

    endpoint: str
    model: str
    attempt: int
    seconds: float
    error: Exception
    wait: float | None


TransportEvent: TypeAlias = RequestSent | ResponseArrived | AttemptFailed
Observer: TypeAlias = Callable[[TransportEvent], None]

_observers: tuple[Observer, ...] = ()


def add_observer(observer: Observer) -> Callable[[], None]:
    """Have `observer` told of every request, in the task that makes it; keys are in no event.

    It must not wait; what it raises is logged and goes no further.

    Returns:
        A function that takes the observer away again.
    """
    global _observers
    _observers = (*_observers, observer)

    def remove() -> None:
        global _observers
        _observers = tuple(known for known in _observers if known is not observer)

    return remove


def is_observed() -> bool:
    """Whether anyone listens: an observer, or the log."""
    return bool(_observers) or _log.isEnabledFor(logging.INFO)


class Watch:
    """Tells of one attempt."""

    __slots__ = ("_began", "_number", "_request")

    def __init__(self, request: OutgoingRequest, number: int) -> None:
        self._request = request
        self._number = number
        self._began = anyio.current_time()
        self._tell(RequestSent, size=len(request.body), stream=request.framing is not None)

    def succeeded(self) -> None:
        """The response is there."""
        self._tell(
            ResponseArrived, seconds=self._seconds(), stream=self._request.framing is not None
        )

    def failed(self, error: Exception, wait: float | None) -> None:
        """It failed; the next attempt begins in `wait` seconds, if there is one."""
        self._tell(AttemptFailed, seconds=self._seconds(), error=error, wait=wait)

    def _seconds(self) -> float:
        return anyio.current_time() - self._began

    def _tell(self, kind: Callable[..., TransportEvent], **fields: Any) -> None:
        target = self._request.target
        _tell(
            kind(endpoint=target.endpoint.key, model=target.model, attempt=self._number, **fields)
        )


def _tell(event: TransportEvent) -> None:
    level = logging.INFO if isinstance(event, AttemptFailed) else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "%s", _line(event))
    for observer in _observers:
        try:
            observer(event)
        except Exception:  # noqa: BLE001 - an observer never breaks a call
            _log.exception("An observer of the transport failed.")


def _line(event: TransportEvent) -> str:
    who = f"{event.endpoint}.{event.model}, attempt {event.attempt}"
    match event:
        case RequestSent(size=size):
            return f"{who}: sending {size} bytes"
        case ResponseArrived(seconds=seconds):
            return f"{who}: answered in {seconds:.3f} s"
        case AttemptFailed(seconds=seconds, error=error, wait=wait):
            then = "giving up" if wait is None else f"next in {wait:.2f} s"
            return f"{who}: {type(error).__name__} after {seconds:.3f} s, {then}"
