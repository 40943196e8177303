"""Taking keys out of what is kept or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ..spec import Frame
from .secret import MASK, Key

_SHORTEST_IN_ERRORS = 6
_SHORTEST_IN_ANSWERS = 16  # a stand-in key such as `lm-studio` may well be a word of the answer
_SECRET_PARAMETER = re.compile(
    r"((?:^|[?&])(?:api[-_]?key|key|access_token|token|sig|signature|subscription-key)=)([^&#]*)",
    re.IGNORECASE,
)


class Address(str):
    """A base URL, whose repr, as in a traceback's locals, has its query's keys masked."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_url(self))


def mask_url(url: str) -> str:
    """The URL with the values of parameters that hold keys masked; the others stay readable."""
    return _SECRET_PARAMETER.sub(rf"\g<1>{MASK}", url)


def keys_in_url(url: str) -> list[Key]:
    """The keys a base URL's query holds."""
    return [Key(found.group(2)) for found in _SECRET_PARAMETER.finditer(url) if found.group(2)]


def needles(secrets: Iterable[Key]) -> tuple[bytes, ...]:
    """What to look for in an answer, should the provider echo the key."""
    return tuple(
        secret.encode("utf-8", "replace")
        for secret in secrets
        if len(secret) >= _SHORTEST_IN_ANSWERS
    )


def mask_answer(data: bytes, looked_for: tuple[bytes, ...]) -> bytes:
    """An answer without the key."""
    for needle in looked_for:
        if needle in data:
            data = data.replace(needle, MASK.encode())
    return data


def mask_frames(frames: list[Frame], looked_for: tuple[bytes, ...]) -> list[Frame]:
    """Frames of a stream without the key, which may have come in two pieces."""
    for frame in frames:
        for needle in looked_for:
            if needle in frame.data:
                return [replace(one, data=mask_answer(one.data, looked_for)) for one in frames]
    return frames


def mask_error_body(data: bytes, secrets: Iterable[Key]) -> bytes:
    """The body of an error without the key."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_IN_ERRORS:
            data = data.replace(secret.encode("utf-8", "replace"), MASK.encode())
    return data


def mask_text(text: str, secrets: Iterable[Key]) -> str:
    """A message without the key."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_IN_ERRORS:
            text = text.replace(secret, MASK)
    return text


def mask_headers(headers: Mapping[str, str], secrets: tuple[Key, ...]) -> Mapping[str, str]:
    """Headers of an error without the key."""
    if not secrets:
        return headers
    return {name: mask_text(value, secrets) for name, value in headers.items()}


def mask_answer_headers(
    headers: Mapping[str, str], looked_for: tuple[bytes, ...]
) -> Mapping[str, str]:
    """Headers of an answer without the key; as they are where it is not in them."""
    values = "\n".join(headers.values())
    for needle in looked_for:
        key = needle.decode()
        if key in values:
            headers = {name: value.replace(key, MASK) for name, value in headers.items()}
    return headers
