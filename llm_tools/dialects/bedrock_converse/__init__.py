"""Bedrock Converse: one wire for every model family on Amazon Bedrock."""

from __future__ import annotations

from ...spec import Dialect, Later
from .quirks import ConverseQuirks

DIALECT: Dialect[ConverseQuirks] = Dialect(
    key="bedrock_converse",
    path="/model/{model}/converse",
    stream_path="/model/{model}/converse-stream",
    framing="aws_events",
    quirks=ConverseQuirks,
    encode=Later(f"{__name__}.encoding", "encode"),
    decode=Later(f"{__name__}.decoding", "decode"),
    open_stream=Later(f"{__name__}.streaming", "ConverseStream"),
    support=Later(f"{__name__}.support", "support"),
)
