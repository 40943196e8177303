"""A program that makes one call and ends, with `llm_tools` or with bare httpx.

    python benchmarks/cold_program.py CLIENT BASE_URL LOOP

It imports what it needs and nothing else. `bench_cold.py` starts it again and again.
"""

from __future__ import annotations

import sys
from typing import Any

import agent_work
import anyio

MESSAGES = [{"role": "user", "content": "How is the weather on Pellworm?"}]


async def with_httpx(base_url: str) -> Any:
    """The floor."""
    from httpx_floor import HttpxClient

    client = HttpxClient(base_url, MESSAGES, agent_work.make_tools())
    [(_, _, given, _)] = await client.call_encoding()
    await client.aclose()
    return given


async def with_llm_tools(base_url: str, transport: str) -> Any:
    """The same through `Llm.call`."""
    from llm_tools import use_llm

    llm = use_llm(
        "openai.chat.v1",
        model=agent_work.MODEL,
        base_url=base_url,
        api_key=agent_work.KEY,
        transport=transport,
    )
    result = await llm.call(MESSAGES, functions=agent_work.make_tools(), function_call="auto")
    return result.function_calls[0].input


async def run(client: str, base_url: str) -> None:
    """One call, by the named client."""
    if client == "bare":
        given = await with_httpx(base_url)
    else:
        given = await with_llm_tools(base_url, client)
    assert given == agent_work.INPUT


if __name__ == "__main__":
    anyio.run(run, sys.argv[1], sys.argv[2], backend=sys.argv[3])
