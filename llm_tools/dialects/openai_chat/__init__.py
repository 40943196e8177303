"""OpenAI's Chat Completions, and the many hosts that speak it with their own accents."""

from __future__ import annotations

from ...spec import Dialect
from .decoding import decode
from .encoding import encode
from .quirks import ChatQuirks
from .streaming import open_stream
from .support import support

DIALECT: Dialect[ChatQuirks] = Dialect(
    key="openai_chat",
    path="/chat/completions",
    stream_path="/chat/completions",
    framing="sse",
    quirks=ChatQuirks,
    encode=encode,
    decode=decode,
    open_stream=open_stream,
    support=support,
)
