"""From what a provider says when it fails to the error tree."""

from __future__ import annotations

from collections.abc import Mapping

from .content import JSON
from .errors import (
    ProviderError,
    ServerError,
)


def provider_error(
    endpoint: str, *, status: int, body: bytes, headers: Mapping[str, str]
) -> ProviderError:
    """The error an answer of status >= 300 stands for (any body: JSON of any shape, HTML, none)."""
    return named_error(endpoint, status=status, code=None, message=body.decode(errors="replace"))


def named_error(
    endpoint: str,
    *,
    status: int | None = None,
    code: str | int | None = None,
    message: str = "",
    body: JSON = None,
    headers: Mapping[str, str] | None = None,
) -> ProviderError:
    """The error that a 200 body, an error event or an exception frame names.

    `code` is the provider's word (`overloaded_error`, `rate_limit_exceeded`, 502); where no
    `status` is known it is derived from the code, else 500.
    """
    return ServerError(message, status=status or 500, code=str(code), endpoint=endpoint)


def error_in_body(endpoint: str, body: JSON, headers: Mapping[str, str]) -> ProviderError | None:
    """The error a decoded 200 body or stream chunk carries (`{"error": …}` in any form), if any."""
    if isinstance(body, dict) and body.get("error"):
        return named_error(endpoint, message=str(body["error"]), body=body, headers=headers)
    return None
