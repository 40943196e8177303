"""What an `Llm`'s options say about the wire."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..errors import ConfigurationError


class TransportSettings(Struct, frozen=True, kw_only=True):
    """How requests travel. Equal settings share connections within an event loop.

    Attributes:
        client: the caller's own `httpx.AsyncClient`, or one with its interface; never closed here.
        transport: `httpx`, `fast`, or an `httpx.AsyncBaseTransport` of the caller's.
        http2: speak HTTP/2 where the server does (extra `http2`).
        allow_http: send a key over plain http to another machine.
        timeout: seconds per attempt; of a stream, the longest time without a byte. None: no limit.
        deadline: seconds for the whole call or stream, waits included.
        max_attempts: how often a request is sent at most; the first counts.
        limiter: what `create_limiter` makes; it may be shared.
    """

    client: Any = None
    transport: Any = "httpx"
    http2: bool = False
    allow_http: bool = False
    timeout: float | None = 600.0
    deadline: float | None = None
    max_attempts: int = 3
    limiter: Any = None

    def __post_init__(self) -> None:
        for name in ("timeout", "deadline"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise ConfigurationError(f"{name}={seconds!r} must be a number of seconds above 0.")
        if self.max_attempts < 1:
            raise ConfigurationError(f"max_attempts={self.max_attempts!r} must be at least 1.")
        if self.limiter is not None and not hasattr(self.limiter, "acquire"):
            raise ConfigurationError("limiter= takes what create_limiter(…) makes.")
        self._check_transport()
        if self.client is not None:
            self._check_client()

    def _check_transport(self) -> None:
        if isinstance(self.transport, str):
            known = self.transport in ("httpx", "fast")
        else:
            known = hasattr(self.transport, "handle_async_request")
        if not known:
            raise ConfigurationError(
                f"transport={self.transport!r} is none: take 'httpx', 'fast' or an "
                "httpx.AsyncBaseTransport."
            )
        if self.http2 and self.transport != "httpx":
            raise ConfigurationError("http2=True needs transport='httpx', which is the default.")

    def _check_client(self) -> None:
        if not (hasattr(self.client, "build_request") and hasattr(self.client, "aclose")):
            raise ConfigurationError(
                f"client={type(self.client).__name__} is no httpx.AsyncClient, nor like one."
            )
        if self.http2 or self.transport != "httpx":
            raise ConfigurationError(
                "client= brings its own connections: set http2 and transport on the client."
            )
