"""What of an exchange may be written down: the headers that are listed here, and no key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...transport.masking import (
    SHORTEST_IN_ANSWERS,
    keys_in_url,
    long_keys,
    mask_error_body,
    mask_url,
)
from ...transport.secret import Key

REQUEST_HEADERS = frozenset(
    {"accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"}
)
"""The headers of a request that are kept."""

ANSWER_HEADERS = frozenset(
    {
        "apim-request-id",
        "content-type",
        "date",
        "location",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-amzn-errortype",
        "x-amzn-requestid",
        "x-ds-trace-id",
        "x-generation-id",
        "x-goog-request-id",
        "x-request-id",
        "x-should-retry",
    }
)
"""The headers of an answer that are kept, besides those that tell of limits."""

_LIMITS = ("anthropic-ratelimit-", "x-ratelimit-")
_OF_EVERY_REQUEST = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "user-agent", "x-amz-date"}
)
_HOLDS_KEY = re.compile(r"auth|cookie|key|password|secret|signature|token")
_OF_SIGNATURE = re.compile(r"(?:Credential|Signature)=([^/,\s]+)")
_OF_COOKIES = re.compile(r"=([^;\s]+)")


def find_keys(headers: Mapping[str, str], url: str) -> tuple[Key, ...]:
    """The keys a request carries; any header that is not known to be harmless may hold one.

    Args:
        headers: those of the request, names in lower case.
        url: where it goes; its query may hold a key.
    """
    found = keys_in_url(url)
    for name, value in headers.items():
        if _HOLDS_KEY.search(name):
            parts = _OF_COOKIES if "cookie" in name else _OF_SIGNATURE
            found += map(Key, [value.rpartition(" ")[2], *parts.findall(value)])
        elif name not in REQUEST_HEADERS | _OF_EVERY_REQUEST and len(value) >= SHORTEST_IN_ANSWERS:
            found.append(Key(value))
    return tuple(dict.fromkeys(key for key in found if key))


def clean(data: bytes, keys: Iterable[Key]) -> bytes:
    """Bytes of a request or an answer without the keys, which may be cut off at the end."""
    return mask_error_body(data, keys)


def clean_url(url: str, keys: Iterable[Key]) -> str:
    """A URL without keys in its query, or anywhere else."""
    return clean(mask_url(url).encode(), long_keys(keys)).decode()


def keep_headers(
    headers: Mapping[str, str], kept: frozenset[str], keys: Iterable[Key]
) -> dict[str, str]:
    """The headers that may be written down: those that are listed, and those of limits.

    Args:
        headers: names in lower case.
        kept: the names that are listed.
        keys: what is masked in their values.
    """
    return {
        name: clean(mask_url(value).encode(), keys).decode()
        for name, value in headers.items()
        if name in kept or name.startswith(_LIMITS)
    }
