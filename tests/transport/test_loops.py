"""Connections belong to the loop they were made in, and end with it."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from transport.scripted import OK, Script, Server, chunk, http, sse_head

from llm_tools.transport import Transport, TransportSettings
from llm_tools.transport.loops import loop_state
from llm_tools.transport.slots import Slots, allowed_connections

LOOPS = ("asyncio", "trio")


def open_files() -> list[str]:
    """What this process has open; the log of pytest and the like included."""
    gc.collect()
    found = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            found.append(os.readlink(link))
        except OSError:
            continue  # the handle of this very listing
    return sorted(name.partition(":")[0] for name in found)


async def use(transport: Transport, script: Script) -> None:
    """Some calls side by side, and a stream left in its middle."""
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(transport.send, script.request())
    stream = await transport.open(script.request(path="/stream", framing="sse"))
    await stream.read_frames()
    await stream.aclose()
    await transport.send(script.request())


@pytest.fixture
def script(server: Server) -> Script:
    return server.script(OK)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_one_transport_in_many_loops(kind: str, script: Script) -> None:
    """Loop after loop of both kinds: each works, and leaves no file open."""
    transport = Transport(TransportSettings(transport=kind))
    anyio.run(use, transport, script, backend="asyncio")
    anyio.run(use, transport, script, backend="trio")
    before = open_files()
    for backend in (*LOOPS, *LOOPS, *LOOPS[::-1]):
        anyio.run(use, transport, script, backend=backend)
    assert open_files() == before


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_one_transport_in_loops_side_by_side(kind: str, script: Script) -> None:
    """Four threads, each with loops of its own, over one transport."""
    transport = Transport(TransportSettings(transport=kind))
    anyio.run(use, transport, script, backend="trio")
    before = open_files()
    failures: list[BaseException] = []

    def work(backend: str) -> None:
        try:
            for _ in range(3):
                anyio.run(use, transport, script, backend=backend)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(LOOPS[n % 2],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert open_files() == before


@pytest.mark.parametrize("backend", LOOPS)
def test_a_loop_that_ends_in_an_error_closes_too(kind: str, server: Server, backend: str) -> None:
    """A stream in the middle of which the program fails leaves nothing open."""
    script = server.script([["send", sse_head() + chunk("data: a\n\n")], ["stall"]])
    transport = Transport(TransportSettings(transport=kind))

    async def fail() -> None:
        stream = await transport.open(script.request(framing="sse"))
        try:
            await stream.read_frames()
            raise KeyError("a fault of the program")
        finally:
            await stream.aclose()

    with pytest.raises(KeyError):
        anyio.run(fail, backend=backend)
    gc.collect()


@pytest.mark.anyio
async def test_equal_settings_share_connections(kind: str, server: Server) -> None:
    """Transports of like settings take each other's connections; timeouts make no difference."""
    script = server.script(OK)
    for timeout in (5.0, 6.0):
        await Transport(TransportSettings(transport=kind, timeout=timeout)).send(script.request())
    assert len({entry["connection"] for entry in script.log}) == 1


@pytest.mark.anyio
async def test_private_connections_are_counted(kind: str, server: Server) -> None:
    """Inside the block its own connections, nested and from several tasks; the last exit closes."""
    script = server.script(OK)
    transport = Transport(TransportSettings(transport=kind))
    await transport.send(script.request())
    async with transport:
        await transport.send(script.request())
        async with transport:
            await transport.send(script.request())
        await transport.send(script.request())
        async with anyio.create_task_group() as group:

            async def again() -> None:
                async with transport:
                    await transport.send(script.request())

            group.start_soon(again)
    await transport.send(script.request())
    shared, *private, after = [entry["connection"] for entry in script.log]
    assert len(set(private)) == 1
    assert private[0] != shared
    assert after == shared
    assert transport._carriers not in loop_state().private


@pytest.mark.anyio
async def test_private_connections_can_be_closed_and_opened_again(
    kind: str, server: Server
) -> None:
    """`aclose` closes the private connections; the next call in the block opens new ones."""
    script = server.script(OK)
    transport = Transport(TransportSettings(transport=kind))
    await transport.aclose()
    async with transport:
        await transport.send(script.request())
        await transport.aclose()
        await transport.send(script.request())
    first, second = script.log
    assert first["connection"] != second["connection"]


@pytest.mark.anyio
async def test_closing_spares_what_is_in_use(kind: str, server: Server) -> None:
    """A stream that is open when its pool is closed goes on, and its connection ends with it."""
    script = server.script(
        [["send", sse_head() + chunk("data: a\n\n")], ["sleep", 0.2], ["send", chunk("data: b\n\n") + "0\r\n\r\n"]],
        OK,
    )  # fmt: skip
    transport = Transport(TransportSettings(transport=kind))
    async with transport:
        stream = await transport.open(script.request(framing="sse"))
        await stream.read_frames()
        await transport.aclose()
        found: list[Any] = []
        while (frames := await stream.read_frames()) is not None:
            found += frames
        assert [frame.data for frame in found] == [b"b"]
        await transport.send(script.request())
    first, second = script.log
    assert first["connection"] != second["connection"]


@pytest.mark.anyio
async def test_idle_connections_expire(
    kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that was not used for a while is closed, and not used again."""
    monkeypatch.setattr("llm_tools.transport.carriers.connections.KEEP_ALIVE", 0.05)
    script = server.script(OK)
    transport = Transport(TransportSettings(transport=kind))
    async with transport:
        await transport.send(script.request())
        await anyio.sleep(0.1)
        await transport.send(script.request())
    first, second = script.log
    assert first["connection"] != second["connection"]


@pytest.mark.anyio
async def test_the_connection_used_last_is_used_first(kind: str, server: Server) -> None:
    """Few calls after many keep to few connections."""
    slow = server.script([["sleep", 0.1], *OK])
    transport = Transport(TransportSettings(transport=kind))
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(transport.send, slow.request())
    for _ in range(3):
        await transport.send(slow.request())
    connections = [entry["connection"] for entry in slow.log]
    assert len(set(connections[:5])) == 5
    assert len(set(connections[5:])) == 1


@pytest.mark.anyio
async def test_waiting_for_a_connection_is_no_failure(
    kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer connections than calls all calls succeed, though their timeouts are shorter."""
    monkeypatch.setattr("llm_tools.transport.slots.allowed_connections", lambda: 3)
    loop_state().slots.__init__()  # type: ignore[misc]
    slow = server.script([["sleep", 0.1], *OK])
    other = server.script(OK)
    transport = Transport(TransportSettings(transport=kind, timeout=0.25))
    async with anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(transport.send, slow.request())
    assert len({entry["connection"] for entry in slow.log}) == 3
    async with transport:  # a private pool: an idle connection of the shared one makes room
        await transport.send(other.request())
    assert len(other.log) == 1


@pytest.mark.anyio
async def test_a_cancelled_wait_passes_its_turn_on(
    kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever gives up waiting for a connection does not keep the others from theirs."""
    monkeypatch.setattr("llm_tools.transport.slots.allowed_connections", lambda: 1)
    loop_state().slots.__init__()  # type: ignore[misc]
    slow = server.script([["sleep", 0.2], *OK])
    transport = Transport(TransportSettings(transport=kind))
    done: list[int] = []

    async def call(number: int, patience: float) -> None:
        with anyio.move_on_after(patience):
            await transport.send(slow.request())
            done.append(number)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for number, patience in enumerate((9.0, 0.1, 9.0, 0.1, 9.0)):
                group.start_soon(call, number, patience)
                await anyio.sleep(0.01)
    assert done == [0, 2, 4]


@pytest.mark.anyio
async def test_hundreds_of_calls_at_once(kind: str, server: Server) -> None:
    """Every one of many calls that begin together gets its answer, over a connection of its own."""
    slow = server.script([["sleep", 0.5], *OK])
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    async with transport:
        async with anyio.create_task_group() as group:
            for _ in range(300):
                group.start_soon(transport.send, slow.request())
        assert server.open_connections() >= 300
    assert len(slow.log) == 300


@pytest.mark.anyio
async def test_a_connection_the_server_will_close_is_not_kept(kind: str, server: Server) -> None:
    """`Connection: close` is believed."""
    script = server.script(http("{}", headers={"Connection": "Close"}), OK)
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    async with transport:
        await transport.send(script.request())
        pools = loop_state().private[transport._carriers].pools.by_key.values()
        (pool,) = pools
        assert not pool._connections._free  # type: ignore[attr-defined]
        await transport.send(script.request())
        assert len(pool._connections._free) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("backend", LOOPS)
def test_private_connections_that_are_never_let_go(kind: str, server: Server, backend: str) -> None:
    """They end with the loop."""
    script = server.script(OK)
    transport = Transport(TransportSettings(transport=kind))

    async def forget() -> None:
        await transport.__aenter__()
        await transport.send(script.request())

    before = server.open_connections()
    for _ in range(2):
        anyio.run(forget, backend=backend)
    gc.collect()
    assert server.open_connections() <= before


@pytest.mark.anyio
async def test_leaving_without_having_entered(kind: str, server: Server) -> None:
    """One exit too many closes nothing of anyone else's."""
    script = server.script(OK)
    other, transport = [Transport(TransportSettings(transport=kind)) for _ in range(2)]
    async with other:
        await other.send(script.request())
        await transport.__aexit__(None, None, None)
        await transport.aclose()
        await other.send(script.request())
    assert len(script.log) == 2
    assert len({entry["connection"] for entry in script.log}) == 1


@pytest.mark.anyio
async def test_a_turn_that_comes_with_the_cancellation() -> None:
    """A waiter that is woken and cancelled in one breath passes the turn on."""
    slots = Slots(1)
    assert await slots.take()
    woken: list[int] = []

    async def wait(number: int, scope: anyio.CancelScope) -> None:
        with scope:
            await slots.wait(first=False)
            woken.append(number)

    first, second = anyio.CancelScope(), anyio.CancelScope()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(wait, 1, first)
            await anyio.sleep(0.01)
            group.start_soon(wait, 2, second)
            await anyio.sleep(0.01)
            first.cancel()
            slots.give_back()
    assert woken == [2]


@pytest.mark.parametrize(
    ("soft", "slots"), [(1024, 768), (256, 128), (20, 16), (-1, 1 << 20), (None, 1 << 20)]
)
def test_how_many_connections_a_process_may_have(
    soft: int | None, slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three quarters of the files it may open, some left for the rest; without a limit, many."""
    if soft is None:
        monkeypatch.setitem(sys.modules, "resource", None)
    else:
        monkeypatch.setattr("resource.getrlimit", lambda kind: (soft, soft))
    assert allowed_connections() == slots
