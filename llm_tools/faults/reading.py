"""The shapes in which providers say that something went wrong, read into one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..content import JSON

_DEEPEST = 4
_READ = 4000  # of a page; a search for tags that never close looks at every start of one
_TITLE = re.compile(r"<(title|h1)[^>]*>(.*?)</\1", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_EVENT_DATA = re.compile(rb"^data: ?(\{.*\})\s*$", re.MULTILINE)
_BARE = frozenset(
    {"message", "Message", "detail", "details", "errors", "code", "type", "status", "object",
     "param", "request_id", "requestId", "__type", "success", "result", "messages", "title",
     "statusCode", "status_code", "timestamp", "path", "sequence_number", "originalMessage",
     "originalStatusCode", "resourceName"}
)  # fmt: skip
"""What a body that is nothing but an error may hold beside its message."""


class Said(Struct, frozen=True, kw_only=True):
    """What a provider said.

    Attributes:
        message: for people; may be empty.
        code: its most telling word, or a number as text.
        words: every word that may name the kind of error, most telling first.
        details: the list in which Google puts the time to wait.
        request_id: where the body holds one.
    """

    message: str = ""
    code: str | None = None
    words: tuple[str, ...] = ()
    details: JSON = None
    request_id: str | None = None

    def __bool__(self) -> bool:
        return bool(self.message or self.words)


def read_bytes(body: bytes, headers: Mapping[str, str]) -> Said:
    """Any body: JSON of any shape, a stream with an error event, HTML, text, nothing."""
    said = _read_any(body)
    kind = _amazon_word(headers.get("x-amzn-errortype", ""))
    if not kind:
        return said
    return Said(
        message=said.message,
        code=kind,
        words=(kind, *said.words),
        details=said.details,
        request_id=said.request_id,
    )


def read_body(body: JSON, depth: int = 0) -> Said:
    """A decoded body; empty where it is an answer and not an error."""
    if isinstance(body, list):
        items = body[:8] if depth < _DEEPEST else []
        return next((said for item in items if (said := read_body(item, depth + 1))), Said())
    if not isinstance(body, dict):
        return Said()
    if body.get("error"):
        return _read_error(body["error"], body, 0)
    if body.get("type") == "error":
        return _read_error(body, body, 0)
    if _BARE.issuperset(body) and _message(body, Said()):
        return _read_error(body, body, 0)
    return Said()


def _read_any(body: bytes) -> Said:
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        event = _EVENT_DATA.search(body)
        if event is not None and event.group(1) != body:
            return _read_any(event.group(1))
        return Said(message=_plain(body.decode("utf-8", "replace")))
    if isinstance(decoded, str):
        return Said(message=decoded)
    said = read_body(decoded)
    return said or Said(message=body.decode("utf-8", "replace") if decoded else "")


def _read_error(error: Any, around: dict[str, Any], depth: int) -> Said:
    """The value of `error`, in `around`; or a body that is an error itself."""
    if isinstance(error, list):
        error = next((item for item in error if item), {})
    if not isinstance(error, dict):
        word = _word(around.get("code")) or _word(around.get("type"))
        words: tuple[str, ...] = (word,) if word and word != "error" else ()
        return Said(
            message=str(error),
            code=next(iter(words), None),
            words=words,
            request_id=_request_id(around),
        )
    inner = _upstream(error, depth)
    words = tuple(dict.fromkeys([*_words(error), *inner.words]))
    return Said(
        message=_message(error, inner),
        code=next(iter(words), None),
        words=words,
        details=error.get("details"),
        request_id=_request_id(around) or _request_id(error),
    )


def _words(error: dict[str, Any]) -> list[str]:
    """Words first, numbers after them: a word says more than 400."""
    details = error.get("details")
    found = [error.get(name) for name in ("code", "type", "status", "__type", "reason")]
    found.append(error.get("status_code") or error.get("statusCode"))
    if isinstance(details, dict):
        found.insert(0, details.get("error_code"))
    elif isinstance(details, list):
        found += [item.get("reason") for item in details if isinstance(item, dict)]
    inner = error.get("innererror") or error.get("inner_error")
    if isinstance(inner, dict):
        found.append(inner.get("code"))
    words = [word for item in found if (word := _word(item)) and word != "error"]
    return list(dict.fromkeys(sorted(words, key=str.isdecimal)))


def _word(value: Any) -> str | None:
    if isinstance(value, str) and value:
        return _amazon_word(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _amazon_word(value: str) -> str:
    """`com.amazon…#Throttling:http://…` without its ends; other words as they are."""
    return value.rpartition("#")[2].partition(":http")[0].strip()


def _message(error: dict[str, Any], inner: Said) -> str:
    for name in ("message", "Message", "detail", "msg", "title", "error", "errors"):
        text = _text(error.get(name))
        if text:
            break
    else:
        text = ""
    if not inner.message or inner.message in text:
        return text
    return f"{text}: {inner.message}" if text else inner.message


def _text(value: Any, depth: int = 0) -> str:
    """A string; or validation errors, each with the place it is about."""
    match value:
        case str():
            return value
        case list() if depth < _DEEPEST:
            return "; ".join([text for item in value[:5] if (text := _text(item, depth + 1))])
        case {"msg": str(text), "loc": list(place)}:
            return f"{'.'.join(map(str, place))}: {text}"
        case {"message": str(text)} | {"msg": str(text)}:
            return text
    return ""


def _upstream(error: dict[str, Any], depth: int) -> Said:
    """What a router says of the provider behind it (OpenRouter's `metadata.raw`)."""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(raw, str):
        try:
            raw = msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return Said(message=_plain(str(raw)))
    if not isinstance(raw, dict) or depth >= _DEEPEST:
        return Said()
    said = _read_error(raw.get("error") or raw, raw, depth + 1)
    return Said(message=said.message, words=tuple(w for w in said.words if not w.isdecimal()))


def _request_id(body: dict[str, Any]) -> str | None:
    found = body.get("request_id") or body.get("requestId")
    return found if isinstance(found, str) else None


def _plain(text: str) -> str:
    """HTML as its title, other text as it is."""
    text = text[:_READ]
    if "<" not in text[:500]:
        return text.strip()
    title = _TITLE.search(text)
    return " ".join(_TAG.sub(" ", title.group(2) if title else text).split())
