"""Taking keys out of what is kept or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from ..errors import ResponseDecodeError
from ..spec import Frame
from .secret import MASK, Key

_SHORTEST_IN_ERRORS = 6
SHORTEST_IN_ANSWERS = 16  # a stand-in key such as `lm-studio` may well be a word of the answer
_SECRET_PARAMETER = re.compile(
    r"((?:^|[?&])(?:api[-_]?key|key|access_token|token|sig|signature|subscription-key)=)([^&#]*)",
    re.IGNORECASE,
)
_USER = re.compile(r"^([^/?#]*//)[^/?#]*@")
_ESCAPE = re.compile(
    rb"""\\+u00([0-9a-f]{2})|%([0-9a-f]{2})|&#x0*([0-9a-f]{2});|&#0*(\d{2,3});|\\+(["/\\])""",
    re.IGNORECASE,
)
"""A character in JSON, JSON in JSON, a URL or HTML."""

T = TypeVar("T")


class Address(str):
    """A base URL, whose repr, as in a traceback's locals, has its keys masked."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_url(self))


def mask_url(url: str) -> str:
    """The URL with passwords and the values of parameters that hold keys masked."""
    if "@" in url:
        url = _USER.sub(rf"\g<1>{MASK}@", url, count=1)
    return _SECRET_PARAMETER.sub(rf"\g<1>{MASK}", url)


def keys_in_url(url: str) -> list[Key]:
    """The keys a base URL's query holds, as they stand there."""
    return [Key(found.group(2)) for found in _SECRET_PARAMETER.finditer(url) if found.group(2)]


def long_keys(secrets: Iterable[Key]) -> tuple[Key, ...]:
    """The keys that cannot be words of the answer they are looked for in."""
    return tuple(key for key in secrets if len(key) >= SHORTEST_IN_ANSWERS)


class Needles:
    """The keys to look for in an answer, should the provider echo them.

    A key may be spelled with escapes of JSON: where `signs`, which are quick to look for, tell of
    any, all spellings are masked.
    """

    __slots__ = ("_keys", "signs")

    def __init__(self, secrets: Iterable[Key]) -> None:
        self._keys = long_keys(secrets)
        signs = [_encoded(key) for key in self._keys]
        if signs:
            signs.append(b"\\u00")
            if any("/" in key for key in self._keys):
                signs.append(b"\\/")
        self.signs: tuple[bytes, ...] = tuple(signs)

    def mask(self, data: bytes) -> bytes:
        """The data without the keys."""
        return _masked(data, self._keys)

    def mask_values(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers without the keys; as they are where no key is in them."""
        values = "\n".join(headers.values())
        for key in self._keys:
            if key in values:
                headers = {name: value.replace(key, MASK) for name, value in headers.items()}
        return headers

    def __repr__(self) -> str:
        return f"<{len(self._keys)} needles>"


def mask_answer(data: bytes, needles: Needles) -> bytes:
    """An answer without the key."""
    for sign in needles.signs:
        if data.find(sign) >= 0:  # `in` would first try to take it for a number
            return needles.mask(data)
    return data


def mask_frames(frames: list[Frame], needles: Needles) -> list[Frame]:
    """Frames of a stream without the key, which may have come in two pieces."""
    signs = needles.signs
    for frame in frames:
        data = frame.data
        for sign in signs:
            if data.find(sign) >= 0:
                return [replace(one, data=needles.mask(one.data)) for one in frames]
    return frames


def mask_joined(value: T, needles: Needles) -> T:
    """What was joined from several frames, a struct, without a key that came in pieces.

    Raises:
        ResponseDecodeError: it cannot be looked through, or is nothing without the key.
    """
    if not needles.signs:
        return value
    masked, reason = _without_key(value, needles)
    if masked is None:
        raise ResponseDecodeError(
            f"The answer could not be searched for the key ({reason}); ask again."
        )
    return masked


def _without_key(value: T, needles: Needles) -> tuple[T | None, str]:
    """The struct without the key, or why there is none. The error itself might bring it along."""
    try:
        data = msgspec.json.encode(value)
        masked = mask_answer(data, needles)
        return (value if masked == data else msgspec.json.decode(masked, type=type(value))), ""
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        return None, str(error)


def mask_error_body(data: bytes, secrets: Iterable[Key]) -> bytes:
    """The body of an error without the key, however it is spelled, or cut off at the end."""
    keys = tuple(key for key in secrets if len(key) >= _SHORTEST_IN_ERRORS)
    data = _masked(data, keys)
    for key in keys:
        whole = _encoded(key)
        for length in range(len(whole) - 1, _SHORTEST_IN_ERRORS - 1, -1):
            if data.endswith(whole[:length]):
                return data[:-length] + MASK.encode()
    return data


def mask_text(text: str, secrets: Iterable[Key]) -> str:
    """A message without the key; nor in small letters, as the name of a host is written."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_IN_ERRORS:
            text = text.replace(secret, MASK)
            if len(secret) >= SHORTEST_IN_ANSWERS and secret.lower() in text:
                text = text.replace(secret.lower(), MASK)
    return text


def mask_headers(headers: Mapping[str, str], secrets: tuple[Key, ...]) -> Mapping[str, str]:
    """Headers of an error without the key."""
    if not secrets:
        return headers
    return {name: mask_text(value, secrets) for name, value in headers.items()}


def _encoded(key: str) -> bytes:
    return key.encode("utf-8", "replace")


def _masked(data: bytes, keys: tuple[Key, ...]) -> bytes:
    """Without the keys, plain or with any of their characters escaped."""
    for key in keys:
        data = data.replace(_encoded(key), MASK.encode())
    bare = _ESCAPE.sub(_character, data)
    for key in {*keys, *[Key(unquote(key)) for key in keys]}:
        if _encoded(key) in bare:
            data = re.sub(b"".join(map(_spellings, key)), MASK.encode(), data)
    return data


def _character(escape: re.Match[bytes]) -> bytes:
    json, url, hexadecimal, decimal, itself = escape.groups()
    if itself:
        return bytes(itself)
    if url:
        return bytes.fromhex(url.decode())
    return chr(int(decimal) if decimal else int(json or hexadecimal, 16)).encode()


def _spellings(char: str) -> bytes:
    """All that `_character` reads as this character."""
    plain = _encoded(char)
    code = ord(char)
    escapes = [
        b"(?i:%b)" % b"".join(b"%%%02x" % byte for byte in plain),
        b"(?i:\\\\+u%04x|&#x0*%x;)|&#0*%d;" % (code, code, code),
        *([b"\\\\+" + re.escape(plain)] if char in '"/\\' else ()),
    ]
    return b"(?:%b)" % b"|".join([re.escape(plain), *escapes])
