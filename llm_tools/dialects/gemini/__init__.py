"""Google's `generateContent`: the Gemini API and Vertex AI."""

from __future__ import annotations

from ...spec import Dialect, Later
from .quirks import GeminiQuirks

__all__ = ["DIALECT", "GeminiQuirks"]

DIALECT: Dialect[GeminiQuirks] = Dialect(
    key="gemini",
    path="/models/{model}:generateContent",
    stream_path="/models/{model}:streamGenerateContent?alt=sse",
    framing="sse",
    quirks=GeminiQuirks,
    encode=Later(f"{__name__}.encoding", "encode"),
    decode=Later(f"{__name__}.decoding", "decode"),
    open_stream=Later(f"{__name__}.streaming", "open_stream"),
    support=Later(f"{__name__}.support", "support"),
)
