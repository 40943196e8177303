"""The AWS event stream: binary messages with checksums.

https://smithy.io/2.0/aws/amazon-eventstream.html describes the format: total length, length of the
headers and a CRC of those two; the headers; the payload; a CRC of everything before it.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from zlib import crc32

import msgspec
from msgspec import Struct

from ...errors import StreamError
from ...spec import Frame
from .whole import WholeBody

_PRELUDE = 12
_SMALLEST = 16
_LARGEST = 24 * 1024 * 1024  # the format allows 16 MB of payload and 128 KB of headers
_STRING = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # value types of a fixed size
_COUNTED = (6, _STRING)


class AwsFraming:
    """Messages, as they come.

    `unwrap`: payloads `{"bytes": base64}` of `chunk` events hold an event of the model's own
    wire; it is given out instead, its event name being its `type`, if any.
    """

    __slots__ = ("_buffer", "_started", "_unwrap", "_whole")

    def __init__(self, *, unwrap: bool = False) -> None:
        self._buffer = bytearray()
        self._unwrap = unwrap
        self._started = False
        self._whole: WholeBody | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """The messages this chunk completes.

        Raises:
            StreamError: a checksum or a length is wrong.
        """
        if not self._started and chunk:
            self._started = True
            if chunk.startswith(b"{"):  # no message is that long: a plain JSON body
                self._whole = WholeBody()
        if self._whole is not None:
            return self._whole.feed(chunk)
        self._buffer += chunk
        frames: list[Frame] = []
        while (message := self._take()) is not None:
            frames.append(_read_message(message, self._unwrap))
        return frames

    def close(self) -> list[Frame]:
        """Nothing, unless the body was no stream.

        Raises:
            StreamError: a message was cut off.
        """
        if self._whole is not None:
            return self._whole.close()
        if self._buffer:
            raise StreamError("The event stream ended in the middle of a message; ask again.")
        return []

    def _take(self) -> bytes | None:
        buffer = self._buffer
        if len(buffer) < _PRELUDE:
            return None
        total = int.from_bytes(buffer[:4], "big")
        if crc32(buffer[:8]) != int.from_bytes(buffer[8:12], "big"):
            raise _broken("the checksum of a message's prelude is wrong")
        if not _SMALLEST <= total <= _LARGEST:
            raise _broken(f"a message claims to have {total} bytes")
        if len(buffer) < total:
            return None
        message = bytes(buffer[:total])
        del buffer[:total]
        if crc32(message[:-4]) != int.from_bytes(message[-4:], "big"):
            raise _broken("the checksum of a message is wrong")
        return message


def _read_message(message: bytes, unwrap: bool) -> Frame:
    end = _PRELUDE + int.from_bytes(message[4:8], "big")
    if end > len(message) - 4:
        raise _broken("a message's headers are longer than the message")
    headers = _read_headers(message, end)
    payload = message[end:-4]
    match headers.get(":message-type"):
        case "exception":
            return Frame(f"exception:{headers.get(':exception-type', 'unknown')}", payload)
        case "error":
            text = msgspec.json.encode({"message": headers.get(":error-message", "")})
            return Frame(f"exception:{headers.get(':error-code', 'unknown')}", text)
    event = headers.get(":event-type")
    return _unwrapped(payload) if unwrap and event == "chunk" else Frame(event, payload)


def _read_headers(message: bytes, end: int) -> dict[str, str]:
    """The string headers; those of other types are stepped over."""
    headers: dict[str, str] = {}
    position = _PRELUDE
    while position < end:
        size = message[position]
        name = message[position + 1 : position + 1 + size]
        position += 2 + size
        if position > end:
            raise _broken("a header is longer than the headers")
        kind = message[position - 1]
        if kind in _COUNTED:
            length = int.from_bytes(message[position : position + 2], "big")
            position += 2
        elif kind in _SIZES:
            length = _SIZES[kind]
        else:
            raise _broken(f"a header has the unknown type {kind}")
        if position + length > end:
            raise _broken("a header is longer than the headers")
        if kind == _STRING:
            value = message[position : position + length]
            headers[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        position += length
    return headers


class _Chunk(Struct):
    bytes: str


class _Typed(Struct):
    type: str | None = None


_chunk_decoder = msgspec.json.Decoder(_Chunk)
_typed_decoder = msgspec.json.Decoder(_Typed)


def _unwrapped(payload: bytes) -> Frame:
    try:
        inner = b64decode(_chunk_decoder.decode(payload).bytes, validate=True)
    except (msgspec.DecodeError, Base64Error, ValueError) as error:
        raise _broken(f"a chunk holds no base64 ({error})") from None
    try:
        event = _typed_decoder.decode(inner).type
    except (msgspec.DecodeError, RecursionError):
        event = None  # the decoder says what is wrong with it
    return Frame(event, inner)


def _broken(what: str) -> StreamError:
    return StreamError(f"The event stream is damaged: {what}. Ask again.")
