"""Messages of provider errors: what was said, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

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

_LONGEST = 600

_ADVICE: Mapping[type[ProviderError], str] = {
    BadRequestError: "Change the request; sending it again will not help.",
    ContextLengthError: "Shorten the messages, or take a model with a longer context.",
    ContentFilterError: "Change what is asked; .body tells what was flagged.",
    AuthenticationError: "Check the key: api_key=, or the endpoint's environment variable.",
    PermissionDeniedError: "Get this account access to it, or use another model.",
    NotFoundError: "Check the model's name and base_url.",
    RateLimitError: "Wait, send less at a time, or share a create_limiter(…).",
    QuotaExceededError: "Waiting does not help: add credit, or use another account or endpoint.",
    ServerError: "Try again later.",
    OverloadedError: "Try again later, or fall back on another model.",
    ProviderError: "Put the address it points to into base_url, if you trust it.",
}
_ADVICE_OF_WORD: Mapping[str, str] = {
    "tool_use_failed": "The model wrote a call that does not fit; .body holds it. Ask again.",
}


def word_message(
    endpoint: str,
    kind: type[ProviderError],
    status: int,
    said: Said,
    wait: float | None,
    headers: Mapping[str, str],
    *,
    retryable: bool | None,
) -> str:
    """`openai answered 429 (rate_limit_exceeded): … Wait 3 s, …`, short."""
    word = f" ({shortened(said.code, 80)})" if said.code and said.code != str(status) else ""
    if status < 400:
        text = _redirect(headers)
    else:
        text = shortened(" ".join(said.message.split()), _LONGEST) or "it gave no reason"
    advice = _ADVICE_OF_WORD.get(said.code or "") or _ADVICE[kind]
    if kind is BadRequestError and retryable:
        advice = "Something else was in its way for now: try again."
    if kind is RateLimitError and wait:
        advice = advice.replace("Wait", f"Wait {wait:g} s", 1)
    end = "" if text.endswith((".", "!", "?", "…")) else "."
    return f"{endpoint} answered {status}{word}: {text}{end} {advice}"


def shortened(text: str, longest: int) -> str:
    """The text, its end cut off if it is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _redirect(headers: Mapping[str, str]) -> str:
    """Where a 3xx points to: the host alone, since a query may hold anything."""
    try:
        host = urlsplit(headers.get("location", "")).hostname
    except ValueError:
        host = None
    return f"it redirects to {host or 'another path of the same host'}, which is not followed"
