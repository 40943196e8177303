"""Google's `generateContent`: the Gemini API and Vertex AI."""

from __future__ import annotations

from ...spec import Dialect
from .decoding import decode
from .encoding import encode
from .quirks import GeminiQuirks
from .streaming import open_stream
from .support import support

__all__ = ["DIALECT", "GeminiQuirks"]

DIALECT: Dialect[GeminiQuirks] = Dialect(
    key="gemini",
    path="/models/{model}:generateContent",
    stream_path="/models/{model}:streamGenerateContent?alt=sse",
    framing="sse",
    quirks=GeminiQuirks,
    encode=encode,
    decode=decode,
    open_stream=open_stream,
    support=support,
)
