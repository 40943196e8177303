"""OpenAI's Responses API: typed input and output items, paired by `call_id`.

Requests are stateless: nothing is stored at the provider, and its own items (encrypted reasoning,
messages with their phase, hosted tools) are replayed verbatim from `provider_metadata`.
"""

from __future__ import annotations

from ...spec import Dialect, Later
from .quirks import ResponsesQuirks

__all__ = ["DIALECT", "ResponsesQuirks"]

DIALECT: Dialect[ResponsesQuirks] = Dialect(
    key="openai_responses",
    path="/responses",
    stream_path="/responses",
    framing="sse",
    quirks=ResponsesQuirks,
    encode=Later(f"{__name__}.encoding", "encode"),
    decode=Later(f"{__name__}.decoding", "decode"),
    open_stream=Later(f"{__name__}.streaming", "open_stream"),
    support=Later(f"{__name__}.support", "support"),
)
