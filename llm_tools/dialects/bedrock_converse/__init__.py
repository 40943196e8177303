"""Bedrock Converse: one wire for every model family on Amazon Bedrock."""

from __future__ import annotations

from ...spec import Dialect
from .decoding import decode
from .encoding import encode
from .quirks import ConverseQuirks
from .streaming import ConverseStream
from .support import support

DIALECT: Dialect[ConverseQuirks] = Dialect(
    key="bedrock_converse",
    path="/model/{model}/converse",
    stream_path="/model/{model}/converse-stream",
    framing="aws_events",
    quirks=ConverseQuirks,
    encode=encode,
    decode=decode,
    open_stream=ConverseStream,
    support=support,
)
