"""Keys out of the debug logs of the libraries below us.

hpack writes header values, httpx the URL, httpcore the headers of responses. A filter on their
loggers masks the keys of the request in hand; records without one pass untouched.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar, Token
from functools import cache

from .masking import mask_text
from .secret import Key

_in_hand: ContextVar[tuple[Key, ...]] = ContextVar("llm_tools.keys", default=())

_LOGGERS = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
    "hpack.hpack",
    "hpack.table",
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
)


class _MaskKeys(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        keys = _in_hand.get()
        if keys:
            message = record.getMessage()
            masked = mask_text(message, keys)
            if masked != message:
                record.msg, record.args = masked, ()
        return True


class KeysInHand:
    """While it is held, these keys are masked in what the task logs; free where nobody listens.

    `loggers` are the names of those that can be written to meanwhile.
    """

    __slots__ = ("_keys", "_loggers", "_token")

    def __init__(self, keys: tuple[Key, ...], loggers: tuple[str, ...] = _LOGGERS) -> None:
        self._keys = keys
        self._loggers = loggers
        self._token: Token[tuple[Key, ...]] | None = None

    def __enter__(self) -> None:
        if self._keys and _are_heard(self._loggers):
            self._token = _in_hand.set(self._keys)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _in_hand.reset(self._token)


def _are_heard(names: tuple[str, ...]) -> bool:
    loggers = _install()
    return any(loggers[name].isEnabledFor(logging.INFO) for name in names)


@cache
def _install() -> dict[str, logging.Logger]:
    """The loggers, with the filter installed, once per process."""
    keys = _MaskKeys()
    loggers = {name: logging.getLogger(name) for name in _LOGGERS}
    for logger in loggers.values():
        logger.addFilter(keys)
    return loggers
