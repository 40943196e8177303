"""Ollama's own `/api/chat`."""

from __future__ import annotations

from ...spec import Dialect, Later
from .quirks import OllamaQuirks

__all__ = ["DIALECT", "OllamaQuirks"]

DIALECT: Dialect[OllamaQuirks] = Dialect(
    key="ollama",
    path="/api/chat",
    stream_path="/api/chat",
    framing="ndjson",
    quirks=OllamaQuirks,
    encode=Later(f"{__name__}.encoding", "encode"),
    decode=Later(f"{__name__}.decoding", "decode"),
    open_stream=Later(f"{__name__}.streaming", "open_stream"),
    support=Later(f"{__name__}.support", "support"),
)
