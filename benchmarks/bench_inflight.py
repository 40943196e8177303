"""Many calls in flight at once, against a server that answers after two seconds.

    python benchmarks/bench_inflight.py [--quick]

Each client runs in a process of its own: how long all calls take as a multiple of the two seconds,
and what one call in flight holds in memory at the most, as a share of bare httpx's.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from bench_call import open_clients
from canned_server import running

IDEAL = 2.0
CLIENTS = ("floor", "httpx", "fast")


def peak() -> int:
    """The most memory this process has held, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def all_at_once(call: Callable[[], Awaitable[Any]], calls: int) -> tuple[float, float]:
    """The time as a multiple of the ideal, and kilobytes for each call in flight."""
    await call()
    held, began = peak(), time.monotonic()
    async with anyio.create_task_group() as tasks:
        for _ in range(calls):
            tasks.start_soon(call)
    return (time.monotonic() - began) / IDEAL, (peak() - held) / calls


async def one_client(name: str, address: str, calls: int) -> None:
    """Measure one client and print its two figures."""
    clients = await open_clients(address)
    wall, memory = await all_at_once(clients[name].call, calls)
    print(wall, memory)
    for client in clients.values():
        await client.aclose()


def measured(name: str, address: str, calls: int, loop: str) -> tuple[float, float]:
    """What a fresh process measures."""
    command = [sys.executable, str(Path(__file__).resolve()), name, address, str(calls), loop]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, memory = done.stdout.split()
    return float(wall), float(memory)


def main() -> None:
    calls = 500 if "--quick" in sys.argv else 2000
    with running() as address:
        for loop in ("asyncio", "trio"):
            floor = measured("floor", f"{address}/late", calls, loop)
            print(f"{calls} calls in flight, {loop}: bare httpx takes {floor[0]:.2f} x the ideal")
            for name in CLIENTS[1:]:
                wall, memory = measured(name, f"{address}/late", calls, loop)
                print(
                    f"  {name}: {wall:.2f} x the ideal, {memory:.0f} KB a call, "
                    f"{memory / floor[1]:.2f} of bare httpx's"
                )


if __name__ == "__main__":
    if len(sys.argv) == 5:
        anyio.run(one_client, sys.argv[1], sys.argv[2], int(sys.argv[3]), backend=sys.argv[4])
    else:
        main()
