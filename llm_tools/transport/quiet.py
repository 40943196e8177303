"""Keys out of the debug logs of the libraries below us.

hpack writes header values, httpx the URL, httpcore the headers of responses and what in a body it
could not read, botocore the headers it signs. A filter on their
loggers masks the keys of the request in hand; records without one pass untouched.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextvars import ContextVar, Token
from functools import cache
from typing import Self

from .masking import mask_text
from .secret import Key

_in_hand: ContextVar[tuple[Key, ...]] = ContextVar("llm_tools.keys", default=())

_NAMES = (
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
    "botocore.auth",
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

    `loggers` are those that can be written to meanwhile. It may be held again.
    """

    __slots__ = ("_keys", "_loggers", "_token", "was_needed")

    def __init__(
        self, keys: tuple[Key, ...], loggers: tuple[logging.Logger, ...] | None = None
    ) -> None:
        self._keys = keys
        self._loggers = find_loggers(_NAMES) if loggers is None else loggers
        self._token: Token[tuple[Key, ...]] | None = None
        self.was_needed: bool = False

    def __enter__(self) -> None:
        if self._keys:
            for logger in self._loggers:
                if logger.isEnabledFor(logging.INFO):
                    self._token = _in_hand.set(self._keys)
                    break

    def __exit__(self, *_: object) -> None:
        token, self._token = self._token, None
        if token is not None:
            self.was_needed = True
            _in_hand.reset(token)


class QuietChunks:
    """The chunks of a body, with the keys in hand while each is waited for."""

    __slots__ = ("_chunks", "_hand")

    def __init__(self, chunks: AsyncIterator[bytes], hand: KeysInHand) -> None:
        self._chunks = chunks
        self._hand = hand

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        with self._hand:
            return await self._chunks.__anext__()

    async def aclose(self) -> None:
        """Close what gives the chunks, if that can be closed."""
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()


@cache
def find_loggers(names: tuple[str, ...]) -> tuple[logging.Logger, ...]:
    """Some of the loggers below us, with the filter on all of them."""
    loggers = _install()
    return tuple(loggers[name] for name in names)


@cache
def _install() -> dict[str, logging.Logger]:
    """The loggers, with the filter installed, once per process."""
    keys = _MaskKeys()
    loggers = {name: logging.getLogger(name) for name in _NAMES}
    for logger in loggers.values():
        logger.addFilter(keys)
    return loggers
