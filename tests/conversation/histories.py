"""Histories that other clients sent in a shape no provider takes, in the words of `messages`.

Some are handed in by the folder that `LLM_TOOLS_BUG_CASES` names; the others are our own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("LLM_TOOLS_BUG_CASES")
handed = pytest.mark.skipif(not FOLDER, reason="LLM_TOOLS_BUG_CASES names no folder")

History = list[dict[str, Any]]


def load(name: str) -> Any:
    """A JSON file of the folder."""
    return json.loads(Path(FOLDER or "", name).read_text("utf-8"))


def messages_of(history: History) -> History:
    """The folder says `output` for a result's content, and keeps a provider's words beside."""
    return [
        {("content" if key == "output" else key): value for key, value in message.items()
         if key != "provider_raw"}
        for message in history
    ]  # fmt: skip


def handed_in(*names: str) -> list[Any]:
    """Histories of the folder as parameters of a test; skipped ones where there is no folder."""
    return [
        pytest.param(messages_of(load(name)) if FOLDER else None, id=name, marks=handed)
        for name in names
    ]


def ours(**histories: History) -> list[Any]:
    """Our own histories as parameters of a test."""
    return [pytest.param(history, id=name) for name, history in histories.items()]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def turn(*parts: Any) -> dict[str, Any]:
    """An assistant turn; strings in it are text."""
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts],
    }


def call(function_id: str, name: str = "run", **given: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": given, "functionId": function_id}


def result(function_id: str, content: Any, name: str = "run", **more: Any) -> dict[str, Any]:
    return {
        "role": "function", "name": name, "functionId": function_id, "content": content, **more,
    }  # fmt: skip


def functions_in(history: History) -> list[dict[str, str]]:
    """The functions that a history calls, by name."""
    names = {
        part["name"]: None
        for message in history
        if message["role"] == "assistant" and not isinstance(message["content"], str)
        for part in message["content"]
        if part["type"] == "function_use"
    }
    return [{"name": name} for name in names]
