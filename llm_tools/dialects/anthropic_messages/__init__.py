"""Anthropic Messages: Claude at Anthropic, on Bedrock InvokeModel, on Vertex and on Foundry."""

from __future__ import annotations

from ...spec import Dialect
from .decoding import decode
from .encoding import encode
from .quirks import AnthropicQuirks
from .streaming import MessageStream
from .support import support

DIALECT: Dialect[AnthropicQuirks] = Dialect(
    key="anthropic_messages",
    path="/v1/messages",
    stream_path="/v1/messages",
    framing="sse",
    quirks=AnthropicQuirks,
    encode=encode,
    decode=decode,
    open_stream=MessageStream,
    support=support,
)
