"""TLS settings: one context for all connections, made when the first needs it."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

from ..errors import ConfigurationError


def shared_context(scheme: str, *, http2: bool = False) -> ssl.SSLContext:
    """The context for an origin; for plain http one that is never used, and costs nothing.

    The authorities are httpx's choice: `SSL_CERT_FILE` or `SSL_CERT_DIR`, else certifi's.

    Raises:
        ConfigurationError: the file or folder holds no certificates.
    """
    if scheme == "http":
        return _empty_context()
    return _trusting(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"), http2)


@lru_cache
def _trusting(file: str | None, directory: str | None, http2: bool) -> ssl.SSLContext:
    """One per protocol offered: httpcore writes its offer into the context it is given."""
    if not file and not directory:
        import certifi

        file = certifi.where()
    try:
        context = ssl.create_default_context(
            cafile=file or None, capath=directory if directory and not file else None
        )
    except OSError as error:  # ssl.SSLError is one, too
        raise ConfigurationError(
            f"SSL_CERT_FILE={file!r} cannot be read as certificates: {error}."
        ) from error
    context.set_alpn_protocols(["http/1.1", "h2"] if http2 else ["http/1.1"])
    return context


@lru_cache
def _empty_context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
