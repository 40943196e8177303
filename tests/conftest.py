"""What every test shares: both event loops, a clean environment, no network but loopback."""

from __future__ import annotations

import gc
import os
import socket
from typing import Any

import pytest
from hypothesis import settings

# No time is asserted anywhere: a busy machine is no failure.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

_KEEP = {"LLM_TOOLS_RECORDINGS", "LLM_TOOLS_BUG_CASES"}
_PREFIXES = (
    "OPENAI_", "AZURE_OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "AWS_", "XAI_", "DEEPSEEK_",
    "MISTRAL_", "GROQ_", "OPENROUTER_", "OLLAMA_", "LLM_TOOLS_",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new_is_collected() -> None:
    """What stays until the end, thousands of tests and reports, is not looked through again.

    Many tests ask the collector what they have left behind: all of it took half a second.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """Every async test runs on both loops."""
    if request.param == "asyncio":
        return "asyncio", {"debug": True}
    return request.param, {}


@pytest.fixture(autouse=True)
def clean_environ(monkeypatch: pytest.MonkeyPatch) -> None:
    """No real key and no setting of this machine reaches a test."""
    for name in os.environ:
        proxy = name.lower().endswith("_proxy")
        if (name.startswith(_PREFIXES) and name not in _KEEP) or name.endswith("_API_KEY") or proxy:
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to another machine is an error."""
    connect = socket.socket.connect

    def guarded(sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(sock, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
