"""Scripts for the server in another process, in the words of Chat Completions."""

from __future__ import annotations

import json
from typing import Any

import anyio
from transport.scripted import Script, Server, chunk, sse_head

from llm_tools import use_llm

LAST = "0\r\n\r\n"
"""The end of a chunked body."""
DONE = "data: [DONE]\n\n"


def event(delta: Any, reason: str | None = None) -> str:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    body = {"id": "c", "model": "m", "created": 1, "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n"


def piece(index: int, text: str, name: str | None = None) -> str:
    """An event with a piece of a call; one with a name begins it."""
    call: dict[str, Any] = {"index": index, "function": {"arguments": text}}
    if name is not None:
        call |= {"id": f"call_{index}", "type": "function"}
        call["function"]["name"] = name
    return event({"tool_calls": [call]})


HELLO = event({"content": "Hello"})
WORLD = event({"content": " world"})
STOP = event({}, "stop")
CALLED = event({}, "tool_calls")


def sends(*texts: str) -> list[Any]:
    """Actions: the head, then each text as a chunk of its own."""
    return [["send", sse_head()], *[["send", chunk(text)] for text in texts]]


def whole(*texts: str) -> list[Any]:
    """A step: a stream that ends as it should."""
    return [*sends(*texts, DONE), ["send", LAST]]


def model_of(script: Script, kind: str, **options: Any) -> Any:
    """A model at the script's address."""
    known = {"api_key": "k", "transport": kind, "max_attempts": 1, "timeout": 20.0, **options}
    return use_llm("openai.chat.v1", model="gpt-4o-mini", base_url=script.base_url, **known)


async def until(condition: Any) -> None:
    """Wait for something that happens at the server."""
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.01)


async def gone(script: Script, request: int = 0) -> None:
    """Wait until the server has seen the connection of a stalled request go."""
    await until(lambda: script.log[request]["gone"] is not None)


def connections(script: Script) -> int:
    """How many connections the requests of a script came on."""
    return len({entry["connection"] for entry in script.log})


__all__ = [
    "CALLED", "DONE", "HELLO", "LAST", "STOP", "WORLD", "Script", "Server", "chunk", "connections",
    "event", "gone", "model_of", "piece", "sends", "sse_head", "until", "whole",
]  # fmt: skip
