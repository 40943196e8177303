"""More calls than connections, more connections than files, and closing while calls are on."""

from __future__ import annotations

import gc
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from transport.scripted import OK, Server, chunk, sse_head

from llm_tools.errors import RequestTimeoutError, TransportError
from llm_tools.transport import Transport, TransportSettings
from llm_tools.transport.slots import Slots

pytestmark = pytest.mark.anyio


# ---------------------------------------------------------------- closing in the middle

WAYS: dict[str, dict[str, Any]] = {
    "httpx": {},
    "fast": {"transport": "fast"},
    "a whole client": {"http2": True},
}


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("leaves", [True, False])
async def test_closed_while_calls_are_on(
    server: Server, settings: dict[str, Any], leaves: bool
) -> None:
    """They end as they would have, and their connections with them."""
    script = server.script([["sleep", 0.2], *OK])
    transport = Transport(TransportSettings(max_attempts=1, **settings))
    answers: list[bytes] = []
    before = server.open_connections()

    async def call() -> None:
        answers.append((await transport.send(script.request())).body)

    async with anyio.create_task_group() as group:
        await transport.__aenter__()
        for _ in range(3):
            group.start_soon(call)
        while len(script.log) < 3:
            await anyio.sleep(0.01)
        await (transport.__aexit__(None, None, None) if leaves else transport.aclose())
    assert answers == [b'{"ok":true}'] * 3
    with anyio.fail_after(5):
        while server.open_connections() > before:
            await anyio.sleep(0.01)
    gc.collect()


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
async def test_closed_while_a_stream_is_read(server: Server, settings: dict[str, Any]) -> None:
    """The rest of it still comes; after it, or where it is left early, nothing is open."""
    script = server.script(
        [["send", sse_head() + chunk("data: a\n\n")], ["sleep", 0.2], ["send", chunk("data: b\n\n") + "0\r\n\r\n"]]
    )  # fmt: skip
    before = server.open_connections()
    for whole in (True, False):
        transport = Transport(TransportSettings(max_attempts=1, **settings))
        async with transport:
            stream = await transport.open(script.request(framing="sse"))
            assert [frame.data for frame in await stream.read_frames() or []] == [b"a"]
        if whole:
            assert [frame.data for frame in await stream.read_frames() or []] == [b"b"]
            assert await stream.read_frames() is None
        await stream.aclose()
        with anyio.fail_after(5):
            while server.open_connections() > before:
                await anyio.sleep(0.01)


# ---------------------------------------------------------------- files


@pytest.fixture
def open_no_more() -> Iterator[Callable[[], None]]:
    """A function after which the process may open no file more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fillers: list[int] = []

    def limit() -> None:
        highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
        while not fillers or fillers[-1] <= highest:
            fillers.append(os.open("/dev/null", os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (fillers[-1] + 1, hard))

    yield limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for filler in fillers:
        os.close(filler)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_no_file_left_for_a_connection(
    server: Server, kind: str, open_no_more: Callable[[], None]
) -> None:
    """Others opened them all: calls wait for the connections there are; without any it is an error."""
    slow = server.script([["sleep", 0.05], *OK])
    transport = Transport(TransportSettings(transport=kind, max_attempts=1, timeout=2.0))
    statuses: list[int] = []

    async def send(through: Transport) -> None:
        statuses.append((await through.send(slow.request())).status)

    await send(transport)
    open_no_more()
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(send, transport)
    async with transport:  # a private pool: an idle connection of the shared one makes room
        await send(transport)
        other = Transport(TransportSettings(transport=kind, max_attempts=1, timeout=2.0))
        await send(other)
        await other.aclose()
    assert statuses == [200] * 11


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_no_file_and_no_connection(
    server: Server, kind: str, open_no_more: Callable[[], None]
) -> None:
    """Where there is nothing to wait for, it is an error that may be tried again."""
    script = server.script(OK)
    async with Transport(TransportSettings(transport=kind)) as transport:
        await transport.send(script.request())
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    open_no_more()
    with pytest.raises(TransportError) as caught:
        await transport.send(script.request())
    assert caught.value.retryable


async def test_loops_share_the_files() -> None:
    """A loop takes no more than its part; one that has more gives connections up."""
    first, second = Slots(10), Slots(10)
    for _ in range(10):
        assert await first.take()
    assert not first.has_too_many()
    for _ in range(5):
        assert await second.take()
    assert not await second.take()
    assert first.has_too_many()
    for _ in range(5):
        first.give_back()
    assert not first.has_too_many()
    for _ in range(5):
        first.give_back()
    assert await second.take()


# ---------------------------------------------------------------- the caller's own pool


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
async def test_waiting_in_a_clients_pool_is_no_failure(server: Server, library: Any) -> None:
    """With fewer connections than calls all calls succeed, though their timeouts are shorter."""
    slow = server.script([["sleep", 0.15], *OK])
    client = library.AsyncClient(limits=library.Limits(max_connections=2))
    transport = Transport(TransportSettings(client=client, max_attempts=1, timeout=0.4))
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(transport.send, slow.request())
    assert len({entry["connection"] for entry in slow.log}) == 2
    stalled = server.script([["stall"]])
    with pytest.raises(RequestTimeoutError, match=r"did not answer within timeout=0\.4 s"):
        await transport.send(stalled.request())
    await client.aclose()
