"""Streams over a caller's own client: left early, they leave it as they found it."""

from __future__ import annotations

import gc
from typing import Any

import anyio
import pytest
from streaming.serving import HELLO, STOP, Server, connections, gone, piece, sends, whole

from llm_tools import use_llm
from llm_tools.content import Finished, FunctionUseDone, TextDelta
from llm_tools.errors import StreamError

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest) -> Any:
    """httpx, or a library with its interface."""
    return pytest.importorskip(request.param)


def model(library: Any, script: Any) -> Any:
    """A model over a client of the caller's."""
    client = library.AsyncClient()
    llm = use_llm(
        "openai.chat.v1", model="m", api_key="k", base_url=script.base_url, client=client,
        max_attempts=1,
    )  # fmt: skip
    return client, llm


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_left_early(server: Server, library: Any, count: int) -> None:
    """The response is cut off; the client goes on."""
    told = sends(HELLO, piece(0, "", "pick"), piece(0, '{"a": 1}'))
    script = server.script([*told, ["stall"]], whole(HELLO, STOP))
    client, llm = model(library, script)
    async with client:
        async with llm.stream("Hi") as events:
            for _ in range(count):
                assert not isinstance(await anext(events), FunctionUseDone)
        await gone(script)
        gc.collect()
        async with llm.stream("Hi") as events:
            assert [type(event) async for event in events] == [TextDelta, Finished]
        assert not client.is_closed
    assert connections(script) == 2


async def test_cancelled(server: Server, library: Any) -> None:
    """Cancellation goes through, and cuts the response."""
    script = server.script([*sends(HELLO), ["stall"]])
    client, llm = model(library, script)
    async with client:
        with anyio.move_on_after(0.3) as scope:
            async with llm.stream("Hi") as events:
                async for _ in events:
                    pass
        assert scope.cancelled_caught
        await gone(script)
    gc.collect()


async def test_broken_off(server: Server, library: Any) -> None:
    """A reset is a stream error here, too."""
    script = server.script([*sends(HELLO), ["sleep", 0.05], ["reset"]])
    client, llm = model(library, script)
    async with client:
        with pytest.raises(StreamError):
            async with llm.stream("Hi") as events:
                async for _ in events:
                    pass
    gc.collect()
