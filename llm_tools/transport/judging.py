"""What became of an attempt that failed: what to raise, and whether and when to try again."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urljoin

from .. import faults
from ..errors import (
    LlmToolsError,
    RequestTimeoutError,
    ResponseDecodeError,
    TransportError,
)
from .arrival import Attempt, Broken
from .head import Head
from .masking import mask_error_body, mask_headers
from .retrying import is_retried

_SHOWN = 500


class Failed:
    """An attempt that failed.

    Attributes:
        error: what to raise if this was the last.
        retried: whether another attempt may end better.
        wait: seconds the provider asks to wait.
        stale: a reused connection was dead; a new one may be tried at once.
    """

    __slots__ = ("error", "retried", "stale", "wait")

    def __init__(
        self,
        error: LlmToolsError,
        *,
        retried: bool = False,
        wait: float | None = None,
        stale: bool = False,
    ) -> None:
        self.error: LlmToolsError = error
        self.retried: bool = retried
        self.wait: float | None = wait
        self.stale: bool = stale


def refused(
    endpoint: str, head: Head, status: int, body: bytes, headers: Mapping[str, str]
) -> Failed:
    """The provider answered with a status of 300 or above."""
    masked = mask_headers(headers, head.secrets)
    if status < 400 and "location" in masked:
        masked = {**masked, "location": _absolute(masked["location"], head)}
    if "retry-after" in masked and "date" not in masked:
        from email.utils import formatdate  # slow to import, and rarely needed

        masked = {**masked, "date": formatdate(usegmt=True)}
    error = faults.provider_error(
        endpoint, status=status, body=mask_error_body(body, head.secrets), headers=masked
    )
    return Failed(error, retried=is_retried(error, masked), wait=error.retry_after)


def broke(endpoint: str, head: Head, broken: Broken) -> Failed:
    """The connection broke."""
    advice = _ADVICE.get(broken.phase, "Try again.")
    if broken.final:
        advice = (
            "The host's certificate is not trusted: name the authority's file in SSL_CERT_FILE, or "
            "pass a client= of your own."
        )
    error = TransportError(
        f"The connection to {endpoint} ({head.host}) broke: {broken.cause}. {advice}",
        endpoint=endpoint,
        retryable=False if broken.final else None,
    )
    error.__cause__ = broken.cause
    retried = broken.phase in ("connect", "stale", "lost") and not broken.final
    return Failed(error, retried=retried, stale=broken.phase == "stale")


def timed_out(
    endpoint: str, attempt: Attempt, seconds: float | None, cause: Exception | None = None
) -> Failed:
    """The attempt took longer than `timeout`, by our clock or (`cause`) the carrier's own.

    Args:
        seconds: `timeout`; None where only the carrier, such as a caller's client, has one.
    """
    limit = "its client's timeout" if seconds is None else f"timeout={seconds:g} s"
    if attempt.sent:
        message = (
            f"{endpoint} did not answer within {limit}. It may still be working on the request: "
            "raise the timeout, or ask for less."
        )
    else:
        message = f"No connection to {endpoint} within {limit}. Try again."
    error = RequestTimeoutError(message, endpoint=endpoint)
    error.__cause__ = cause
    return Failed(error, retried=not attempt.sent)


def past_deadline(endpoint: str, seconds: float) -> RequestTimeoutError:
    """The whole call took longer than `deadline`."""
    return RequestTimeoutError(
        f"{endpoint} was not done within deadline={seconds:g} s: raise deadline=, or ask for less.",
        endpoint=endpoint,
    )


def no_api(endpoint: str, head: Head, body: bytes) -> ResponseDecodeError:
    """A web page where an answer of an API was expected."""
    text = mask_error_body(body, head.secrets)[:_SHOWN].decode("utf-8", "replace")
    return ResponseDecodeError(
        f"{endpoint} ({head.host}) answered with a web page: check base_url.",
        body=text,
        retryable=False,
    )


def _absolute(location: str, head: Head) -> str:
    """Where a redirect points to; a location without a host stays at the same."""
    try:
        return urljoin(f"{head.scheme}://{head.netloc}/", location)
    except ValueError:
        return location


_ADVICE: Mapping[str, str] = {
    "connect": "Check base_url and the network; then try again.",
    "protocol": "Is base_url the address of an HTTP API?",
}
