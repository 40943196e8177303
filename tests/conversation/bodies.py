"""What goes out for a conversation, read without the library's code and judged by the vendors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conformance.wires import judge, wire_of
from matrix.scenes import Aim
from recordings import reading_requests as requests
from recordings.reading_requests import Said

_READERS: dict[str, Callable[[Any], list[Said]]] = {
    "openai_chat": requests.chat,
    "openai_responses": requests.responses,
    "anthropic_messages": requests.claude,
    "bedrock_converse": requests.converse,
    "gemini": requests.gemini,
    "ollama": requests.chat,
}


def dialect_of(aim: Aim) -> str:
    """The dialect a target is spoken to in."""
    return aim.llm().target.dialect.key


def said_in(aim: Aim, body: Any) -> list[Said]:
    """The turns of a body."""
    return _READERS[dialect_of(aim)](body)


def complaints(aim: Aim, body: Any) -> list[str]:
    """What the vendor's types and documented rules have against a body.

    The test is skipped where the vendor's package is not installed.
    """
    wire = wire_of(aim.key, dialect_of(aim))
    pytest.importorskip(wire.sdk, reason=f"{wire.sdk} has the types of {aim.key}")
    return judge(wire, body)
