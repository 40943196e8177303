"""One service under two servers, on asyncio and on trio, with many visitors, some of whom leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@contextmanager
def process(*arguments: str, **environment: str) -> Iterator[str]:
    """A script that prints its port and ends with its stdin; its address."""
    script, *rest = arguments
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    running = subprocess.Popen(
        [sys.executable, str(HERE / script), *rest],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**kept, **environment},
        text=True,
    )
    assert running.stdin is not None
    assert running.stdout is not None
    try:
        yield f"http://127.0.0.1:{running.stdout.readline().strip()}"
    finally:
        running.stdin.close()
        running.wait(20)
        running.stdout.close()


@pytest.fixture
def anyio_backend() -> str:
    """The visitors' loop; the services have one each."""
    return "asyncio"


class Place:
    """A service and the provider behind it."""

    def __init__(self, service: str, provider: str) -> None:
        self.service = service
        self.provider = provider

    def visitor(self) -> httpx.AsyncClient:
        """A client with as many connections as it likes."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        return httpx.AsyncClient(base_url=self.service, limits=limits, timeout=50)

    async def stats(self, **wanted: int) -> dict[str, int]:
        """The provider's counts, once they have come so far."""
        async with httpx.AsyncClient(base_url=self.provider, timeout=50) as client:
            counts: dict[str, int] = (await client.get("/stats", params=wanted)).json()
            return counts


@pytest.fixture(scope="module", params=["uvicorn", "hypercorn-trio"])
def server(request: pytest.FixtureRequest) -> str:
    """The server, with its loop."""
    return str(request.param)


@pytest.fixture(scope="module", params=["httpx", "fast"])
def place(request: pytest.FixtureRequest, server: str) -> Iterator[Place]:
    """The service, on each transport of ours."""
    with process("provider.py") as provider:
        environment = {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{provider}/v1",
            "SERVICE_TRANSPORT": request.param,
        }
        with process("serve.py", server, **environment) as service:
            yield Place(service, provider)


def answer_to(number: int) -> dict[str, Any]:
    day = DAYS[number % 7]
    return {
        "answer": f"It is {17 + number} on {day}.",
        "results": [["add", 17 + number], ["name_of_day", day]],
    }


async def ask_many(visitor: httpx.AsyncClient, count: int) -> dict[int, Any]:
    """The answers to so many questions at once, by number."""
    answers: dict[int, Any] = {}

    async def ask(number: int) -> None:
        response = await visitor.post("/ask", json={"question": f"17 and {number}"})
        answers[number] = response.json()

    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(ask, number)
    return answers


async def test_two_hundred_visitors_at_once(place: Place) -> None:
    """Each gets their own answer, after two requests and two calls."""
    before = (await place.stats())["requests"]
    async with place.visitor() as visitor:
        answers = await ask_many(visitor, 200)
    assert answers == {number: answer_to(number) for number in range(200)}
    assert (await place.stats())["requests"] - before == 400


@pytest.mark.parametrize(("method", "path"), [("POST", "/ask"), ("GET", "/watch")])
async def test_visitors_who_leave(place: Place, method: str, path: str) -> None:
    """Their runs end, up to the provider's connections; those who stay are served."""
    gone = (await place.stats())["gone"]

    async def wait_in_vain(visitor: httpx.AsyncClient, number: int) -> None:
        question = {"question": f"hang {number}"}
        if method == "POST":
            await visitor.post(path, json=question)
        else:
            await visitor.get(path, params=question)

    async with place.visitor() as visitor:
        async with anyio.create_task_group() as impatient:
            for number in range(50):
                impatient.start_soon(wait_in_vain, visitor, number)
            assert (await place.stats(hanging=50))["hanging"] == 50
            answers = await ask_many(visitor, 150)
            assert (await place.stats())["hanging"] == 50
            impatient.cancel_scope.cancel()
        assert answers == {number: answer_to(number) for number in range(150)}
        counts = await place.stats(gone=gone + 50)
        assert (counts["gone"], counts["hanging"]) == (gone + 50, 0)
        assert await ask_many(visitor, 1) == {0: answer_to(0)}


async def test_a_page_watches_the_calls(place: Place) -> None:
    """Calls, their results and the text come as server-sent events, each when it is known."""
    seen: list[tuple[str, Any]] = []
    async with (
        place.visitor() as visitor,
        visitor.stream("GET", "/watch", params={"question": "17 and 3"}) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        kind = ""
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                seen.append((kind, json.loads(value)))
    calls = {
        "call_0": [
            ("call", {"name": "add", "id": "call_0"}),
            ("result", {"name": "add", "id": "call_0", "content": 20}),
        ],
        "call_1": [
            ("call", {"name": "name_of_day", "id": "call_1"}),
            ("result", {"name": "name_of_day", "id": "call_1", "content": "Thursday"}),
        ],
    }
    for name, expected in calls.items():
        assert [event for event in seen if event[1].get("id") == name] == expected
    assert seen[4:] == [
        ("text", {"text": "It is 2"}),
        ("text", {"text": "0 on Thursday."}),
        ("done", {"answer": "It is 20 on Thursday."}),
    ]


async def test_the_page_knows_every_event(place: Place) -> None:
    """What it listens to is what it is told."""
    async with place.visitor() as visitor:
        page = (await visitor.get("/")).text
    assert all(f'on("{kind}"' in page for kind in ("call", "result", "text", "done"))
