"""To test your own code with: a model and a wire that say what you script, or what was recorded."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .scripted_llm import ScriptedCall, ScriptedLlm, ScriptedStream

if TYPE_CHECKING:
    from .checking.checking import check_endpoint
    from .recordings.recording import RecordingTransport
    from .recordings.replaying import ReplayTransport
    from .scripted_transport import RecordedRequest, ScriptedResponse, ScriptedTransport

__all__ = [
    "RecordedRequest",
    "RecordingTransport",
    "ReplayTransport",
    "ScriptedCall",
    "ScriptedLlm",
    "ScriptedResponse",
    "ScriptedStream",
    "ScriptedTransport",
    "check_endpoint",
]

_LAZY = {  # some are transports of httpx's, which is heavy
    "RecordedRequest": ".scripted_transport",
    "RecordingTransport": ".recordings.recording",
    "ReplayTransport": ".recordings.replaying",
    "ScriptedResponse": ".scripted_transport",
    "ScriptedTransport": ".scripted_transport",
    "check_endpoint": ".checking.checking",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module, __name__), name)
