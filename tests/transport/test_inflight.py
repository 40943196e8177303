"""Thousands of calls in flight on one model: waiting is waiting, not failure."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from llm_tools import use_llm

CALLS = 2000


@pytest.fixture(scope="module")
def slow_server() -> Iterator[str]:
    """A server in another process that takes a second for each answer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3 * CALLS:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3 * CALLS), hard))
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("slow_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops; without asyncio's debug mode, which is slow with thousands of tasks."""
    return str(request.param)


@pytest.mark.anyio
@pytest.mark.timeout(240)
@pytest.mark.parametrize("transport", ["httpx", "fast"])
async def test_two_thousand_calls_all_answer(slow_server: str, transport: str) -> None:
    """None fails for want of a connection, and each has its own answer."""
    texts: list[str] = []
    async with use_llm(
        "openai.gpt-4o-mini", api_key="k", base_url=slow_server, transport=transport
    ) as llm:

        async def one() -> None:
            texts.append((await llm.call("Hi")).text)

        async with anyio.create_task_group() as tasks:
            for _ in range(CALLS):
                tasks.start_soon(one)
    assert texts == ["Hi."] * CALLS
