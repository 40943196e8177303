"""Fakes to test your own code with: a model and a wire that say what you script."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .scripted_llm import ScriptedCall, ScriptedLlm, ScriptedStream

if TYPE_CHECKING:
    from .scripted_transport import RecordedRequest, ScriptedResponse, ScriptedTransport

__all__ = [
    "RecordedRequest",
    "ScriptedCall",
    "ScriptedLlm",
    "ScriptedResponse",
    "ScriptedStream",
    "ScriptedTransport",
]

_OF_THE_WIRE = frozenset({"RecordedRequest", "ScriptedResponse", "ScriptedTransport"})


def __getattr__(name: str) -> Any:
    if name in _OF_THE_WIRE:  # one is an httpx transport, and httpx is heavy
        return getattr(import_module(".scripted_transport", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
