"""Anthropic Messages: Claude at Anthropic, on Bedrock InvokeModel, on Vertex and on Foundry."""

from __future__ import annotations

from ...spec import Dialect, Later
from .quirks import AnthropicQuirks

DIALECT: Dialect[AnthropicQuirks] = Dialect(
    key="anthropic_messages",
    path="/v1/messages",
    stream_path="/v1/messages",
    framing="sse",
    quirks=AnthropicQuirks,
    encode=Later(f"{__name__}.encoding", "encode"),
    decode=Later(f"{__name__}.decoding", "decode"),
    open_stream=Later(f"{__name__}.streaming", "MessageStream"),
    support=Later(f"{__name__}.support", "support"),
)
