"""Fakes to test your own code with: a model and a wire that say what you script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .scripted_llm import ScriptedLlm, ScriptedStream

if TYPE_CHECKING:
    from .scripted_transport import ScriptedTransport

__all__ = ["ScriptedLlm", "ScriptedStream", "ScriptedTransport"]


def __getattr__(name: str) -> Any:
    if name == "ScriptedTransport":  # it is an httpx transport, and httpx is heavy
        from .scripted_transport import ScriptedTransport

        return ScriptedTransport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
