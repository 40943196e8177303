"""How much memory and how many objects many calls of one `Llm` leave behind.

    python tests/performance/memory.py 100000              # on each loop, over each transport
    python tests/performance/memory.py 100000 trio fast    # or on one, over one

Every other call continues the same conversation, the others begin a new one.
"""

from __future__ import annotations

import gc
import socket
import sys
import tracemalloc
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmarks")]
WARM_UP = 400  # more than conversations are remembered


class Left(msgspec.Struct):
    """What is there after the calls and was not before."""

    loop: str
    transport: str
    calls: int
    bytes: int
    objects: int


async def measure(address: str, loop: str, transport: str, calls: int) -> Left:
    """Warm up, look, call, look again."""
    import agent_work
    from adapter import read_chat_message

    from llm_tools import Message, use_llm

    given, tools = agent_work.make_messages(6), agent_work.make_tools(2)
    known = [read_chat_message(message, given) for message in given]
    llm = use_llm(
        f"openai.{agent_work.MODEL}",
        base_url=f"{address}/one",
        api_key=agent_work.KEY,
        transport=transport,
    )

    async def some(count: int, first: int) -> None:
        for number in range(first, first + count):
            new = [Message(role="user", content=f"{number:08d}"), *known[2:]]
            result = await llm.call(new if number % 2 else known, functions=tools)
            assert result.function_calls[0].input == agent_work.INPUT

    await some(WARM_UP, 0)
    before = await _look()
    await some(calls, WARM_UP)
    after = await _look()
    return Left(loop, transport, calls, after[0] - before[0], after[1] - before[1])


async def _look() -> tuple[int, int]:
    import anyio

    # trio forgets deadlines that are over when it waits, and none that is not over comes before.
    one, other = socket.socketpair()
    with one, other:
        one.send(b"x")
        await anyio.wait_readable(other)
    for _ in range(3):
        gc.collect()
    return tracemalloc.get_traced_memory()[0], len(gc.get_objects())


def main() -> None:
    """A line of JSON for each loop and transport."""
    import anyio
    from canned_server import running

    calls, *one = sys.argv[1:]
    pairs: Any = [one] if one else product(("asyncio", "trio"), ("httpx", "fast"))
    tracemalloc.start()
    with running() as address:
        for loop, transport in pairs:
            left = anyio.run(measure, address, loop, transport, int(calls), backend=loop)
            print(msgspec.json.encode(left).decode(), flush=True)


if __name__ == "__main__":
    main()
