"""Which class of the tree an error is: its status first, then the words of its body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from ..errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextLengthError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    QuotaExceededError,
    RateLimitError,
    ServerError,
)
from .reading import Said

Sort: TypeAlias = Literal["quota", "key", "model", "context", "filter", "overload"]

_KINDS: Mapping[Sort, type[ProviderError]] = {
    "quota": QuotaExceededError,
    "key": AuthenticationError,
    "model": NotFoundError,
    "context": ContextLengthError,
    "filter": ContentFilterError,
    "overload": OverloadedError,
}
_BY_STATUS: Mapping[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaExceededError,
    403: PermissionDeniedError,
    404: NotFoundError,
    408: ServerError,
    410: NotFoundError,
    413: ContextLengthError,
    424: ServerError,
    429: RateLimitError,
    529: OverloadedError,
}
_RETRYABLE_REQUESTS = frozenset({409, 425})

_SAYS_MORE: Mapping[int, tuple[Sort, ...]] = {
    400: ("key", "context", "filter", "quota", "model"),
    403: ("key", "filter", "quota"),
    422: ("key", "context", "filter", "quota", "model"),
    429: ("quota",),
    503: ("overload",),
    529: ("overload",),
}
"""What a body can turn a status into."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS: Mapping[Sort, frozenset[str]] = {
    "quota": _words(
        """insufficient_quota billing_hard_limit_reached billing_error billing_not_active
        insufficient_balance insufficient_credits insufficient_funds payment_required
        exceeded_current_quota_error quota_exceeded arrearage
        servicequotaexceededexception"""
    ),
    "key": _words(
        """authentication_error invalid_api_key api_key_invalid invalid_authentication
        unauthenticated unauthorized expiredtoken expiredtokenexception expired_token
        unrecognizedclientexception invalidclienttokenid invalidsignatureexception
        signaturedoesnotmatch missingauthenticationtoken missingauthenticationtokenexception
        incompletesignature account_deactivated api_key_expired"""
    ),
    "model": _words(
        """model_not_found model_not_found_error deploymentnotfound unknown_model
        model_not_available invalid_model"""
    ),
    "context": _words(
        """context_length_exceeded too_many_prompt_tokens exceed_context_size_error
        context_window_exceeded request_too_large prompt_too_long
        max_tokens_exceeded"""
    ),
    "filter": _words(
        """content_filter content_policy_violation content_filtered
        responsibleaipolicyviolation data_inspection_failed moderation_blocked
        content_moderation cyber_policy_violation"""
    ),
    "overload": _words(
        """overloaded_error overloaded engine_overloaded engine_overloaded_error
        server_overloaded model_overloaded slow_down unavailable no_capacity"""
    ),
}

_PHRASES: Mapping[Sort, str] = {
    "quota": (
        r"credit balance|insufficient (balance|credit|fund)|exceeded your current quota"
        r"|billing hard limit|reached .{0,40}(spending limit|api usage limits)"
        r"|(used all available|does(n't| not) have any|(run )?out of|not enough) credits"
    ),
    "key": (
        r"(incorrect|invalid|missing|expired|no valid|wrong) api[ _-]?key"
        r"|api[ _-]?key (is |was )?(not valid|invalid|expired|not found|incorrect"
        r"|reported as leaked)"
        r"|(security|bearer|session|access) token .*(expired|invalid)|signature expired"
    ),
    "model": (
        r"model\b.{0,120}?\b(does not exist|doesn't exist|not exist|not found"
        r"|is not supported by this api)"
        r"|model identifier is invalid|unknown model|no such model|invalid model (id|name)\b"
        r"|is not a valid model\b"
    ),
    "context": (
        r"maximum context length|context (length|window|limit|size)\b|prompt is too long"
        r"|input is too long|too many (input |prompt |total )?tokens"
        r"|input token count.{0,80}(exceeds|only supports)|input tokens exceed"
        r"|maximum prompt length|too many total text bytes|max_new_tokens`? must be <="
        r"|exceeds? the maximum number of tokens"
        r"|length of all messages is too long|reduce the length of"
    ),
    "filter": (
        r"content management policy|content[ _-]filter|content violates|violat\w+ .{0,40}"
        r"(polic(y|ies)|guidelines)|was flagged|safety (system|check)|flagged as"
        r"|content exists risk|敏感内容"
    ),
    "overload": r"overload|capacity|throttl|too busy|high demand",
}
"""Patterns, without regard to case; compiled when an error first needs them."""
_FLAGGED = r"\b(input|prompt|message|content)s? (was|were) flagged"
"""What makes a refusal of access (403) one of content: accounts are flagged, too."""

_STATUS_OF_WORD: Mapping[str, int] = {
    # Anthropic
    "invalid_request_error": 400, "permission_error": 403, "not_found_error": 404,
    "conflict_error": 409, "rate_limit_error": 429, "timeout_error": 504, "api_error": 500,
    # OpenAI and its kin
    "server_error": 500, "internal_server_error": 500, "rate_limit_exceeded": 429,
    "requests": 429, "tokens": 429, "too_many_requests": 429, "ratelimitreached": 429,
    "tool_use_failed": 400, "service_unavailable": 503, "timeout": 504,
    "vector_store_timeout": 504, "failed_to_download_image": 400,
    # Google
    "invalid_argument": 400, "failed_precondition": 400, "out_of_range": 400,
    "permission_denied": 403, "not_found": 404, "aborted": 409, "already_exists": 409,
    "resource_exhausted": 429, "cancelled": 499, "unknown": 500, "internal": 500,
    "data_loss": 500, "unimplemented": 501, "unavailable": 503, "deadline_exceeded": 504,
    # AWS
    "validationexception": 400, "accessdeniedexception": 403, "resourcenotfoundexception": 404,
    "modeltimeoutexception": 408, "modelerrorexception": 424, "modelstreamerrorexception": 424,
    "throttlingexception": 429, "modelnotreadyexception": 429, "internalserverexception": 500,
    "serviceunavailableexception": 503, "conflictexception": 409,
}  # fmt: skip
_STATUS_OF_SORT: Mapping[Sort, int] = {
    "quota": 429,
    "key": 401,
    "model": 404,
    "context": 400,
    "filter": 400,
    "overload": 529,
}
_BAD_REQUEST_PREFIXES = ("invalid_", "unsupported_", "missing_", "image_", "empty_image")


def classify(status: int, said: Said) -> tuple[type[ProviderError], bool | None]:
    """The class, and `retryable` where it is not the class's own."""
    for sort in _SAYS_MORE.get(status, ()):
        if _is(sort, status, said):
            return _KINDS[sort], None
    kind = _BY_STATUS.get(status)
    if kind is not None:
        return kind, None
    if status >= 500:
        return ServerError, None
    if status < 400:
        return ProviderError, None
    return BadRequestError, True if status in _RETRYABLE_REQUESTS else None


def status_of(said: Said) -> int:
    """The status an error inside a 200 stands for: a code it names, else its word's, else 500."""
    for word in said.words:
        if word.isdecimal() and 300 <= int(word[:9]) < 600:
            return int(word)
    words = [word.lower() for word in said.words]
    for look_up in (_by_sort, _STATUS_OF_WORD.get, _by_prefix):
        for word in words:
            status = look_up(word)
            if status is not None:
                return status
    return 500


def _by_sort(word: str) -> int | None:
    if word in _STATUS_OF_WORD:
        return None
    found = (_STATUS_OF_SORT[sort] for sort, words in _WORDS.items() if word in words)
    return next(found, None)


def _by_prefix(word: str) -> int | None:
    return 400 if word.startswith(_BAD_REQUEST_PREFIXES) else None


def _is(sort: Sort, status: int, said: Said) -> bool:
    words = {word.lower() for word in said.words}
    if words & _WORDS[sort]:
        return True
    if sort == "quota" and "resource_exhausted" in words:
        return False  # Google says "quota" of its limits per minute
    phrases = _FLAGGED if sort == "filter" and status == 403 else _PHRASES[sort]
    return re.search(phrases, said.message[:4000], re.IGNORECASE) is not None
