"""From an exchange as it went over the wire to what is written of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from ...errors import LlmToolsError, ResponseDecodeError
from ...spec import Framing
from ...transport.framing import create_framing
from ...transport.inflating import Inflater
from ...transport.masking import long_keys, mask_text
from ...transport.opening import LARGEST_STREAM
from ...transport.secret import Key
from .exchange import FORMAT, Ending, Exchange, pack, read_body
from .redacting import (
    ANSWER_HEADERS,
    REQUEST_HEADERS,
    clean,
    clean_url,
    find_keys,
    keep_headers,
)

_FRAMINGS: Mapping[str, Framing] = {
    "application/vnd.amazon.eventstream": "aws_chunks",  # reads plain events as well
    "application/x-ndjson": "ndjson",
    "text/event-stream": "sse",
}
_WITHHELD = Ending(
    "ReadError",
    "the answer held the key where it cannot be masked, so none of it was recorded",
)
_LEFT = Ending("ReadError", "the answer was left here when it was recorded; record it to its end")


class Tape(Struct, frozen=True, kw_only=True):
    """One exchange as it went over the wire; header names in lower case, chunks as they came.

    `ended`: whether the answer came to its end; if not, `error` is what broke it, None if it was
    left.
    """

    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes
    status: int
    headers: Mapping[str, str]
    chunks: tuple[bytes, ...]
    ended: bool
    error: Exception | None = None

    def __repr__(self) -> str:
        return f"<Tape of {self.method} {self.status}>"  # the rest may hold keys


def make_exchange(tape: Tape) -> Exchange:
    """What is written of an exchange: no key, no compression."""
    keys = find_keys(tape.request_headers, tape.url)
    if tape.status < 300:
        keys = long_keys(keys)
    framing = _framing(tape)
    came, error = _inflated(tape, keys)
    pieces = _cleaned(came, framing, keys, whole=error is None)
    if pieces is None:
        pieces, error = [], _WITHHELD
    streamed = framing is not None
    return Exchange(
        format=FORMAT,
        **asked(tape.method, tape.url, tape.request_headers, tape.request_body),
        request_headers=keep_headers(tape.request_headers, REQUEST_HEADERS, keys),
        status=tape.status,
        headers=keep_headers(tape.headers, ANSWER_HEADERS, keys),
        body=None if streamed else pack(b"".join(pieces)),
        chunks=tuple(map(pack, pieces)) if streamed else None,
        error=error,
    )


def asked(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """What a request is known by, without its keys: fields of an `Exchange`."""
    keys = long_keys(find_keys(headers, url))
    return {
        "method": method,
        "url": clean_url(url, keys),
        "request_body": read_body(clean(body, keys)),
    }


def _inflated(tape: Tape, keys: tuple[Key, ...]) -> tuple[list[bytes], Ending | None]:
    """The answer's chunks without compression, and what ended it early."""
    pieces: list[bytes] = []
    try:
        inflater = Inflater(tape.headers, LARGEST_STREAM)
        pieces.extend(map(inflater.feed, tape.chunks))  # keeps what came before an error
        if tape.ended:
            pieces.append(inflater.close())
        ending = None if tape.ended else _ending(tape.error, keys)
    except ResponseDecodeError as error:
        ending = _ending(error, keys)
    return [piece for piece in pieces if piece], ending


def _ending(error: Exception | None, keys: tuple[Key, ...]) -> Ending:
    if error is None:
        return _LEFT
    return Ending(type(error).__name__, mask_text(str(error), keys))


def _framing(tape: Tape) -> Framing | None:
    """How a stream is cut into frames, by what it says it is, else by what was asked for."""
    if tape.status >= 300:
        return None
    kinds = (tape.headers.get("content-type", ""), tape.request_headers.get("accept", ""))
    for kind in kinds:
        framing = _FRAMINGS.get(kind.partition(";")[0].strip().lower())
        if framing is not None:
            return framing
    return None


def _cleaned(
    pieces: list[bytes], framing: Framing | None, keys: tuple[Key, ...], *, whole: bool
) -> list[bytes] | None:
    """The pieces without keys, in the same places if that can be; None where it cannot."""
    masked = _masked(pieces, keys)
    if framing is None or not keys:
        return masked
    if framing == "aws_chunks" and masked != pieces:
        return None  # a mask would break its checksums
    texts = _texts(b"".join(masked), framing)
    if texts is None or any(_holds_key(text, keys, whole=whole) for text in texts):
        return None
    return masked


def _masked(pieces: list[bytes], keys: tuple[Key, ...]) -> list[bytes]:
    """The pieces without keys; those a key goes across are joined, and the others with them."""
    data = b"".join(pieces)
    masked = clean(data, keys)
    if masked == data:
        return pieces
    alone = [clean(piece, keys) for piece in pieces]
    return alone if b"".join(alone) == masked else [masked]


def _holds_key(text: str, keys: tuple[Key, ...], *, whole: bool) -> bool:
    """Whether a key is in a text; or the beginning of one, where the rest may still have come."""
    data = text.encode("utf-8", "replace")
    if whole:
        data += b"\n"  # so that no key is cut off at the end
    return clean(data, keys) != data


def _texts(data: bytes, framing: Framing) -> Iterable[str] | None:
    """The texts a stream tells in pieces; None where it cannot be read."""
    framer = create_framing(framing)
    try:
        frames = framer.feed(data)
    except LlmToolsError:
        return None
    with suppress(LlmToolsError):  # cut off in the middle of a frame, which is left out
        frames += framer.close()
    told: dict[tuple[Any, ...], list[str]] = {}
    for frame in frames:
        for place, text in _strings(read_body(frame.data)):
            told.setdefault(place, []).append(text)
    return ["".join(parts) for parts in told.values()]


def _strings(value: Any) -> Iterable[tuple[tuple[Any, ...], str]]:
    """The strings in a JSON value, and where each is."""
    left: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while left:
        place, one = left.pop()
        if isinstance(one, str):
            yield place, one
        elif isinstance(one, dict):
            left += [((*place, key), item) for key, item in one.items()]
        elif isinstance(one, list):
            left += [((*place, index), item) for index, item in enumerate(one)]
