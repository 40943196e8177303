"""From what a provider says when it fails to the error tree. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from ..content import JSON
from ..errors import ProviderError
from .classing import classify, status_of
from .reading import Said, read_body, read_bytes
from .waiting import retry_after
from .wording import shortened, word_message

if TYPE_CHECKING:
    from ..spec import Frame

__all__ = ["error_in_body", "exception_frame", "named_error", "provider_error", "retry_after"]

_REQUEST_IDS = (
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "apim-request-id",
    "x-generation-id",
    "cf-ray",
)
_NONE: Mapping[str, str] = {}


def provider_error(
    endpoint: str, *, status: int, body: bytes, headers: Mapping[str, str]
) -> ProviderError:
    """The error an answer of status >= 300 stands for (any body: JSON of any shape, HTML, none).

    Args:
        endpoint: the endpoint's key.
        status: the HTTP status.
        body: as it came, keys masked.
        headers: names in lower case.
    """
    said = read_bytes(body, headers)
    return _error(endpoint, status, said, body.decode("utf-8", "replace"), headers)


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
    `status` is known it is derived from the code, else from the body, else 500.
    """
    read = read_body(body)
    said = Said(
        message=message or read.message,
        code=str(code) if code is not None else read.code,
        words=(*([str(code)] if code is not None else []), *read.words),
        details=read.details,
        request_id=read.request_id,
    )
    text = "" if body is None else msgspec.json.encode(body, enc_hook=str).decode()
    return _error(endpoint, status or status_of(said), said, text, headers or _NONE)


def error_in_body(endpoint: str, body: JSON, headers: Mapping[str, str]) -> ProviderError | None:
    """The error a decoded 200 body or stream chunk carries, in any form, if it carries one.

    Its `status` is the code it names, else the one its word stands for.
    """
    said = read_body(body)
    if not said:
        return None
    text = msgspec.json.encode(body, enc_hook=str).decode()
    return _error(endpoint, status_of(said), said, text, headers)


def exception_frame(endpoint: str, frame: Frame, headers: Mapping[str, str]) -> ProviderError:
    """The error an AWS exception frame stands for; its event is `exception:<type>`."""
    kind = (frame.event or "").removeprefix("exception:")
    said = read_bytes(frame.data, {"x-amzn-errortype": kind})
    return _error(endpoint, status_of(said), said, frame.data.decode("utf-8", "replace"), headers)


def _error(
    endpoint: str, status: int, said: Said, body: str, headers: Mapping[str, str]
) -> ProviderError:
    kind, retryable = classify(status, said)
    wait = retry_after(headers, said.details)
    ids = (headers[name] for name in _REQUEST_IDS if headers.get(name))
    return kind(
        word_message(endpoint, kind, status, said, wait, headers, retryable=retryable),
        status=status,
        code=said.code,
        request_id=next(ids, said.request_id),
        endpoint=endpoint,
        retry_after=wait,
        body=shortened(body, 2000),
        retryable=retryable,
    )
