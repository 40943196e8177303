"""Where a request goes and with which headers: built once per set of values."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ..errors import ConfigurationError
from .masking import Needles, keys_in_url, mask_url
from .secret import Key

_PORTS = {"http": 80, "https": 443}


class Head:
    """An address and the headers that go there, with the key among them.

    `fields` are (lower-case name, value) pairs without content-length. `prepared` is what a
    carrier made of them, kept so that it is made once.
    """

    __slots__ = (
        "fields",
        "host",
        "needles",
        "netloc",
        "port",
        "prepared",
        "scheme",
        "secrets",
        "target",
        "url",
    )

    def __init__(
        self, url: str, fields: tuple[tuple[str, str], ...], secrets: tuple[Key, ...]
    ) -> None:
        parts = urlsplit(url)
        self.url: str = url
        self.scheme: str = parts.scheme
        self.host: str = parts.hostname or ""
        self.port: int = parts.port or _PORTS[parts.scheme]
        self.netloc: str = parts.netloc
        self.target: str = (
            f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        )
        self.fields: tuple[tuple[str, str], ...] = fields
        self.secrets: tuple[Key, ...] = (*secrets, *keys_in_url(url))
        self.needles: Needles = Needles(self.secrets)
        self.prepared: Any = None

    @property
    def origin(self) -> tuple[str, str, int]:
        """What connections are shared by."""
        return self.scheme, self.host, self.port

    def __repr__(self) -> str:
        return f"<Head {mask_url(self.url)}>"


def check_url(url: str, endpoint: str) -> None:
    """Refuse a base URL nothing can be sent to.

    Raises:
        ConfigurationError: naming what is wrong with it.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise _unusable(url, endpoint, "it is no URL") from None
    if parts.scheme not in _PORTS:
        raise _unusable(url, endpoint, "it must begin with https:// or http://")
    if not parts.hostname:
        raise _unusable(url, endpoint, "it names no host")
    if parts.username or parts.password:
        raise _unusable("", endpoint, "it holds a user name or password; use api_key")
    if not url.isascii() or any(char.isspace() or ord(char) < 0x20 for char in url):
        raise _unusable(url, endpoint, "it holds spaces or characters outside ASCII")


def _unusable(url: str, endpoint: str, reason: str) -> ConfigurationError:
    shown = f" {mask_url(url)!r}" if url else ""
    return ConfigurationError(f"The base URL{shown} of {endpoint} cannot be used: {reason}.")
