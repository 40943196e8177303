"""One exchange, as a line of a recording."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

FORMAT = 1
"""The number of the file format that is written here."""


class Base64(Struct, frozen=True):
    """Bytes that are no UTF-8."""

    base64: bytes


Piece: TypeAlias = str | Base64
"""Some bytes of an answer: the text they are, if they are one."""


class Ending(Struct, frozen=True):
    """How an answer ended that did not end well: the error's class, and what it says."""

    kind: str
    message: str


class Exchange(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A request and its answer, without keys and without compression.

    Attributes:
        format: the number of the file format.
        method, url, request_headers, request_body: what was asked; a body that is no JSON is kept
            as a `Piece`.
        status, headers: the head of the answer.
        body: the bytes of a whole answer.
        chunks: the bytes of a stream, as they came.
        error: what ended it early.
    """

    format: int
    method: str
    url: str
    request_headers: dict[str, str]
    request_body: Any = None
    status: int
    headers: dict[str, str]
    body: Piece | None = None
    chunks: tuple[Piece, ...] | None = None
    error: Ending | None = None

    @property
    def pieces(self) -> list[bytes]:
        """The bytes of the answer, one after the other."""
        if self.chunks is not None:
            return [unpack(chunk) for chunk in self.chunks]
        return [] if self.body is None else [unpack(self.body)]


_decoder = msgspec.json.Decoder(Exchange)


def write_line(exchange: Exchange) -> bytes:
    """The exchange as JSON, with the line break behind it."""
    return msgspec.json.encode(exchange) + b"\n"


def read_line(line: bytes) -> Exchange:
    """The exchange of a line.

    Raises:
        ValueError: it is none, or of a later format.
    """
    exchange = _decoder.decode(line)
    if exchange.format > FORMAT:
        raise ValueError(f"it has format {exchange.format}, this version reads {FORMAT}")
    return exchange


def pack(data: bytes) -> Piece:
    """The bytes as text if they are UTF-8, else as base64."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Base64(data)


def unpack(piece: Piece) -> bytes:
    """The bytes of a piece."""
    return piece.encode() if isinstance(piece, str) else piece.base64


def read_body(raw: bytes) -> Any:
    """A request's body as a JSON value; as a piece where it is none, None where it is empty."""
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return msgspec.to_builtins(pack(raw))
