"""The clients that are measured side by side, all with the same work to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import agent_work
from adapter import Client, open_client
from floor import Floor
from httpx_floor import HttpxClient
from socket_floor import SocketClient

HTTPX = "bare httpx"
SOCKETS = "sockets"
DEFAULT = "default"
FAST = "fast"

_TRANSPORTS = {DEFAULT: "httpx", FAST: "fast"}


async def open_one(
    name: str,
    base_url: str,
    *,
    messages: int = 12,
    tools: int = 10,
    idle: float = 5.0,
    topic: str = "the week",
) -> Any:
    """One client by its name, with a history and functions of these numbers.

    Each has a conversation of its own, of the same size: what is known of one is of no use to, and
    not in the way of, another.

    Args:
        name: `HTTPX` or `SOCKETS`, the floors; `DEFAULT` or `FAST`, `llm_tools` over that transport.
        base_url: everything before `/chat/completions`.
        messages: how many messages go out.
        tools: how many functions go out.
        idle: seconds for which bare httpx keeps an idle connection.
        topic: what else makes the conversation its own.
    """
    history = agent_work.make_messages(messages, f"{topic}, {name:>10}")
    functions = agent_work.make_tools(tools)
    if name == HTTPX:
        return HttpxClient(base_url, history, functions, idle=idle)
    if name == SOCKETS:
        return SocketClient(base_url, history, functions)
    return await open_client(
        base_url,
        history,
        functions,
        model=agent_work.MODEL,
        api_key=agent_work.KEY,
        local_tool=agent_work.local_tool,
        transport=_TRANSPORTS[name],
    )


@asynccontextmanager
async def opened(base_url: str, **work: Any) -> AsyncIterator[tuple[Floors, Ours]]:
    """Both floors and `llm_tools` over both transports, by name; closed at the end."""
    floors = {name: await open_one(name, base_url, **work) for name in (HTTPX, SOCKETS)}
    ours = {name: await open_one(name, base_url, **work) for name in (DEFAULT, FAST)}
    try:
        yield floors, ours
    finally:
        for client in (*floors.values(), *ours.values()):
            await client.aclose()


Floors = dict[str, Floor]
Ours = dict[str, Client]
