"""The error class an answer of status 300 and more stands for, by status and words."""

from __future__ import annotations

from recordings.reading import Record

_BY_STATUS = {
    400: "BadRequestError",
    401: "AuthenticationError",
    402: "QuotaExceededError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    408: "ServerError",
    409: "BadRequestError",
    413: "ContextLengthError",
    422: "BadRequestError",
    424: "ServerError",
    429: "RateLimitError",
}
_BY_WORDS = (
    (("incorrect api key", "invalid api key", "api key not valid"), "AuthenticationError"),
    (("signature expired", "token has expired", "expiredtoken"), "AuthenticationError"),
    (("model_not_found",), "NotFoundError"),
    (
        ("too_many_prompt_tokens", "context length", "context_length", "too long"),
        "ContextLengthError",
    ),
    (("insufficient_quota",), "QuotaExceededError"),
)
_OVERLOADED = ("overloaded", "unavailable", "throttled", "too many connections", "capacity")


def error_class(record: Record) -> str:
    """The name of the class."""
    words = record.body_bytes.decode(errors="replace").lower()
    if record.status >= 500:
        busy = record.status in (503, 529) and any(word in words for word in _OVERLOADED)
        return "OverloadedError" if busy else "ServerError"
    for known, name in _BY_WORDS:
        if any(word in words for word in known):
            return name
    return _BY_STATUS.get(record.status, "BadRequestError")
