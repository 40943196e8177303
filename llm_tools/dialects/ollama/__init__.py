"""Ollama's own `/api/chat`."""

from __future__ import annotations

from ...spec import Dialect
from .decoding import decode
from .encoding import encode
from .quirks import OllamaQuirks
from .streaming import open_stream
from .support import support

__all__ = ["DIALECT", "OllamaQuirks"]

DIALECT: Dialect[OllamaQuirks] = Dialect(
    key="ollama",
    path="/api/chat",
    stream_path="/api/chat",
    framing="ndjson",
    quirks=OllamaQuirks,
    encode=encode,
    decode=decode,
    open_stream=open_stream,
    support=support,
)
