"""One tool call through `Llm.call`, against bare httpx in the same run.

    python benchmarks/bench_call.py [--quick]

Ten functions and twelve messages go out, a call comes back and its arguments are decoded, with 1,
32 and 256 calls in flight, over the default and the fast transport, on asyncio and on trio. The
floor is `httpx.AsyncClient.post` with a body built beforehand and a typed decode of the answer.
"""

from __future__ import annotations

import sys
from typing import Any

import agent_work
from adapter import open_client
from canned_server import running
from httpx_floor import HttpxClient
from measuring import Row, compare, run_all, show

AIMS = {1: (0.8, 0.25), 32: (0.25, 0.06), 256: (0.15, 0.03)}


async def measure(address: str, rounds: int) -> list[Row]:
    """The ratios at each number of calls in flight, on the running loop."""
    clients = await open_clients(f"{address}/one")
    for client in clients.values():
        assert await client.call() == [agent_work.CALL]
    rows = []
    for in_flight, aims in AIMS.items():
        names = [f"{name}, {in_flight} in flight" for name in ("httpx", "fast")]
        rows += await compare(
            clients["floor"].call,
            {names[0]: clients["httpx"].call, names[1]: clients["fast"].call},
            in_flight=in_flight,
            rounds=rounds,
            aims=dict(zip(names, aims, strict=True)),
        )
    for client in clients.values():
        await client.aclose()
    return rows


async def open_clients(
    base_url: str, *, messages: int = 12, tools: int = 10, idle: float = 5.0
) -> dict[str, Any]:
    """The floor and `llm_tools` over either transport, with the same work to do."""
    history, functions = agent_work.make_messages(messages), agent_work.make_tools(tools)
    clients: dict[str, Any] = {"floor": HttpxClient(base_url, history, functions, idle=idle)}
    for transport in ("httpx", "fast"):
        clients[transport] = await open_client(
            base_url,
            history,
            functions,
            model=agent_work.MODEL,
            api_key=agent_work.KEY,
            local_tool=agent_work.local_tool,
            transport=transport,
        )
    return clients


def rows(*, quick: bool = False) -> list[Row]:
    """All ratios, on both loops."""
    with running() as address:
        return run_all(measure, address, 3 if quick else 9)


if __name__ == "__main__":
    sys.exit(show("one call", rows(quick="--quick" in sys.argv)))
