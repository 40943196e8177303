"""2,000 calls in flight at once, against a server that answers each after two seconds.

    python benchmarks/bench_inflight.py [--quick]

Each client runs in a process of its own. Told are the time until all are answered, as a multiple of
the two seconds, and the memory that a call in flight holds beyond its body and its socket: what the
process grows by at its peak, per call, less the body (which each client encodes and holds per call)
and less what a task holds that waits at a plain connected socket.
"""

from __future__ import annotations

import gc
import resource
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import agent_work
import anyio
import msgspec
from canned_server import DELAYS, pinned, running
from clients import DEFAULT, FAST, HTTPX, SOCKETS, open_one
from measuring import Effort, Row, Work, main, make_row, together
from socket_floor import SocketClient

CALLS = 2000
FEW = 200
"""Up to so many calls, half a second is long enough for all to be in flight."""
WAITING = "waiting"
"""A task that waits at a plain socket."""
AIM_OF_FAST = 12.0
"""Kilobytes per call beyond its body and its socket."""
_STATUS = Path("/proc/self/status")


class Figures(NamedTuple):
    """What a process measured.

    Attributes:
        wall: the time all calls took, as a multiple of the ideal.
        memory: kilobytes per call, its body not counted.
    """

    wall: float
    memory: float


def rows(effort: Effort) -> list[Row]:
    """The rows of time and memory, on both loops."""
    calls = min(effort.largest, CALLS if effort.rounds > 3 else CALLS // 4)
    found = []
    with running() as address, pinned(0):
        for loop in effort.loops:
            figures = {
                name: measured(name, address, calls, loop)
                for name in (HTTPX, SOCKETS, DEFAULT, FAST, WAITING)
            }
            found += [
                *_rows_of_time(figures, calls, loop),
                *_rows_of_memory(figures, calls, loop),
            ]
    return found


def _rows_of_time(figures: dict[str, Figures], calls: int, loop: str) -> list[Row]:
    return [
        make_row(
            f"{calls:,} calls in flight, time",
            name,
            [figures[name].wall / figures[HTTPX].wall],
            loop=loop,
            steady=figures[name].wall / figures[SOCKETS].wall,
            figure=f"{figures[name].wall:.2f} x the ideal",
        )
        for name in (DEFAULT, FAST, HTTPX)
    ]


def _rows_of_memory(figures: dict[str, Figures], calls: int, loop: str) -> list[Row]:
    beside = figures[WAITING].memory
    floor = figures[HTTPX].memory - beside
    aims: dict[str, dict[str, Any]] = {
        DEFAULT: {"aim": 1.0},
        FAST: {"aim": AIM_OF_FAST / floor, "aim_text": f"{AIM_OF_FAST:g} KB"},
        HTTPX: {},
    }
    return [
        make_row(
            f"{calls:,} calls in flight, memory of one",
            name,
            [(figures[name].memory - beside) / floor],
            loop=loop,
            steady=(figures[name].memory - beside) / (figures[SOCKETS].memory - beside),
            figure=f"{figures[name].memory - beside:.1f} KB",
            **aims[name],
        )
        for name in (DEFAULT, FAST, HTTPX)
    ]


def measured(name: str, address: str, calls: int, loop: str) -> Figures:
    """What a fresh process measures."""
    command = [sys.executable, str(Path(__file__).resolve()), name, address, str(calls), loop]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Figures)


async def one_client(name: str, address: str, calls: int) -> None:
    """Measure one client and print its figures."""
    kind = "late" if calls > FEW else "slow"
    floor = SocketClient(f"{address}/{kind}", agent_work.make_messages(), agent_work.make_tools())
    if name == WAITING:
        found = await all_at_once(partial(wait_at_socket, *floor.request()), calls, DELAYS[kind])
    else:
        await call_once(name, f"{address}/one")  # what is imported and made once is there
        client = await open_one(name, f"{address}/{kind}")
        call = client.call_encoding if name in (HTTPX, SOCKETS) else client.call
        found = await all_at_once(call, calls, DELAYS[kind])
        await client.aclose()
        found = found._replace(memory=found.memory - floor.body_size / 1024)
    sys.stdout.buffer.write(msgspec.json.encode(found))


async def call_once(name: str, base_url: str) -> None:
    """A first call."""
    client = await open_one(name, base_url)
    await client.call()
    await client.aclose()


async def wait_at_socket(address: tuple[str, int], request: bytes) -> None:
    """Send over a new connection, and wait until something comes."""
    with socket.create_connection(address) as connection:
        connection.sendall(request)
        connection.setblocking(False)
        await anyio.wait_readable(connection)


async def all_at_once(call: Work, calls: int, ideal: float) -> Figures:
    """The time as a multiple of the ideal, and kilobytes for each call in flight."""
    forget_peak()
    held, began = peak(), time.monotonic()
    await together(call, calls)
    return Figures((time.monotonic() - began) / ideal, (peak() - held) / calls)


def peak() -> int:
    """The most memory this process has held, in kilobytes; on Linux, since it was forgotten."""
    if not _STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1])


def forget_peak() -> None:
    """From here on, `peak` is that of what follows."""
    gc.collect()
    if _STATUS.exists():
        _STATUS.with_name("clear_refs").write_text("5")


if __name__ == "__main__":
    if len(sys.argv) == 5:
        anyio.run(one_client, sys.argv[1], sys.argv[2], int(sys.argv[3]), backend=sys.argv[4])
    else:
        sys.exit(main("calls in flight", rows))
