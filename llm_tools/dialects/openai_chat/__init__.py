"""OpenAI's Chat Completions, and the many hosts that speak it with their own accents."""

from __future__ import annotations

from ...spec import Dialect, Later
from .quirks import ChatQuirks

DIALECT: Dialect[ChatQuirks] = Dialect(
    key="openai_chat",
    path="/chat/completions",
    stream_path="/chat/completions",
    framing="sse",
    quirks=ChatQuirks,
    encode=Later(f"{__name__}.encoding", "encode"),
    decode=Later(f"{__name__}.decoding", "decode"),
    open_stream=Later(f"{__name__}.streaming", "open_stream"),
    support=Later(f"{__name__}.support", "support"),
)
