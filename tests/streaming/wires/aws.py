"""AWS event streams, as bytes."""

from __future__ import annotations

import json
import struct
from typing import Any
from zlib import crc32


class AwsBytes:
    """A stream of AWS messages in the making."""

    def __init__(self) -> None:
        self.data = b""
        self.ends = 0

    def send(self, event: str, payload: Any, *, last: bool = False) -> None:
        """One event; `last`: the answer is whole with it."""
        self.data += aws_message(
            json.dumps(payload).encode(),
            **{
                ":event-type": event,
                ":content-type": "application/json",
                ":message-type": "event",
            },
        )
        if last:
            self.ends = len(self.data)


def aws_message(payload: bytes, **headers: str) -> bytes:
    """One message with headers that are all strings."""
    head = b"".join(
        bytes([len(name)])
        + name.encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return body + struct.pack(">I", crc32(body))
