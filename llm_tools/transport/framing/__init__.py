"""Cutting a stream into frames, by bytes. Pure."""

from __future__ import annotations

from typing import Protocol

from ...spec import Frame, Framing
from .ndjson import NdjsonFraming
from .sse import SseFraming


class Framer(Protocol):
    """Bytes in, as they come; frames out, as soon as they are whole."""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames this chunk completes."""

    def close(self) -> list[Frame]:
        """What is left at the end of the bytes."""


def create_framing(kind: Framing) -> Framer:
    """A fresh framer for one stream."""
    match kind:
        case "sse":
            return SseFraming()
        case "ndjson":
            return NdjsonFraming()
        case "aws_events" | "aws_chunks":
            from .aws_events import AwsFraming

            return AwsFraming(unwrap=kind == "aws_chunks")
