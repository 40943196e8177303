"""Keys out of the debug logs of the libraries below us.

hpack writes header values, httpx the URL, httpcore the headers of responses. A filter on their
loggers masks the keys of the request in hand; records without one pass untouched.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from functools import cache

from .masking import mask_text
from .secret import Key

keys_in_hand: ContextVar[tuple[Key, ...]] = ContextVar("llm_tools.keys", default=())

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
        keys = keys_in_hand.get()
        if keys:
            message = record.getMessage()
            masked = mask_text(message, keys)
            if masked != message:
                record.msg, record.args = masked, ()
        return True


@cache
def quieten() -> None:
    """Install the filter, once per process."""
    keys = _MaskKeys()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(keys)
