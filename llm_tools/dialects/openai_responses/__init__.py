"""OpenAI's Responses API: typed input and output items, paired by `call_id`.

Requests are stateless: nothing is stored at the provider, and its own items (encrypted reasoning,
messages with their phase, hosted tools) are replayed verbatim from `provider_metadata`.
"""

from __future__ import annotations

from ...spec import Dialect
from .decoding import decode
from .encoding import encode
from .quirks import ResponsesQuirks
from .streaming import open_stream
from .support import support

__all__ = ["DIALECT", "ResponsesQuirks"]

DIALECT: Dialect[ResponsesQuirks] = Dialect(
    key="openai_responses",
    path="/responses",
    stream_path="/responses",
    framing="sse",
    quirks=ResponsesQuirks,
    encode=encode,
    decode=decode,
    open_stream=open_stream,
    support=support,
)
