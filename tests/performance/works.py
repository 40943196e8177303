"""The pieces of work whose costs are recorded.

`call`, `stream` (of 200 deltas), `loop` (two requests and a dispatch between them) and `run` (the
same by an executor) go to a real server; `dispatch`, encoding and decoding need none. Each is told
as a function that makes one run of it ready, uncounted, and gives what is counted.

`benchmarks` must be on the path.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from statistics import median_low
from typing import Any

import agent_work
import anyio
import msgspec
from adapter import open_client, read_chat_message
from answers import Wire, wires
from canned_server import running
from counting import Events, counted, middle, peak_of

from llm_tools import (
    Message,
    OutputResultFunctionUse,
    create_chat_prompt,
    create_llm_function_executor,
    dispatch,
    tool,
    use_llm,
)
from llm_tools.transport import HttpAnswer

LOOPS = ("asyncio", "trio")
TRANSPORTS = ("httpx", "fast")
WARM_UP = 3
RUNS = 5

Ready = Callable[[], Callable[[], Any]]
ReadyAsync = Callable[[], Callable[[], Awaitable[Any]]]


def measure() -> tuple[dict[str, Events], dict[str, int]]:
    """The events of every piece of work, and the bytes that the pure ones hold at their peak."""
    pure = pure_works()
    events = {name: _count(ready) for name, ready in pure.items()}
    held = {name: _weigh(ready) for name, ready in pure.items()}
    with running() as address:
        for loop in LOOPS:
            some = anyio.run(_measure_on_loop, address, backend=loop)
            events |= {f"{name}, {loop}": one for name, one in some.items()}
    return events, held


def _count(ready: Ready) -> Events:
    for _ in range(WARM_UP):
        ready()()
    runs = []
    for _ in range(RUNS):
        work = ready()
        with counted() as events:
            work()
        runs.append(events)
    return middle(runs)


def _weigh(ready: Ready) -> int:
    return median_low(peak_of(ready()) for _ in range(RUNS))


async def _measure_on_loop(address: str) -> dict[str, Events]:
    async with awaited_works(address) as works:
        return {name: await _count_awaited(ready) for name, ready in works.items()}


async def _count_awaited(ready: ReadyAsync) -> Events:
    for _ in range(WARM_UP):
        await ready()()
    runs = []
    for _ in range(RUNS):
        work = ready()
        with counted() as events:
            await work()
        runs.append(events)
    return middle(runs)


# ---------------------------------------------------------------- with a server, or a loop


@asynccontextmanager
async def awaited_works(address: str) -> AsyncIterator[dict[str, ReadyAsync]]:
    """By name, what needs a loop; the server is one of `canned_server`."""
    works: dict[str, ReadyAsync] = {"dispatch": _dispatching()}
    clients = []
    for transport in TRANSPORTS:
        for title, kind, verb in (
            ("call", "one", "call"),
            ("stream", "stream", "stream"),
            ("loop", "loop", "loop"),
        ):
            client = await open_client(
                f"{address}/{kind}",
                agent_work.make_messages(),
                agent_work.make_tools(),
                model=agent_work.MODEL,
                api_key=agent_work.KEY,
                local_tool=agent_work.local_tool,
                transport=transport,
            )
            clients.append(client)
            works[f"{title}, {transport}"] = _same(getattr(client, verb))
        works[f"run, {transport}"] = _same(executor_run(address, transport))
    yield works
    for client in clients:
        await client.aclose()


def _same(work: Callable[[], Awaitable[Any]]) -> ReadyAsync:
    return lambda: work


def executor_run(address: str, transport: str) -> Callable[[], Awaitable[Any]]:
    """A run of a prompt with values and a Python function: two requests and a dispatch."""

    @tool(name="read_forecast_0")
    async def read_forecast(place: str, days: int, unit: str) -> str:
        """Reads the forecast of a place."""
        return agent_work.local_tool("read_forecast_0", {})

    llm = use_llm(
        f"openai.{agent_work.MODEL}",
        base_url=f"{address}/loop",
        api_key=agent_work.KEY,
        transport=transport,
    )
    prompt = create_chat_prompt("You look after {{ what }}.").add_user_message("{{ question }}")
    executor = create_llm_function_executor(llm=llm, prompt=prompt)
    values = {"what": "an island's storehouse", "question": "What is almost out?"}

    async def work() -> None:
        result = await executor.run(values, functions=[read_forecast])
        assert result.output == agent_work.TEXT

    return work


def _dispatching() -> ReadyAsync:
    @tool
    async def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    call = OutputResultFunctionUse(name="add", input={"a": 1, "b": 2}, function_id="call_1")

    async def work() -> None:
        [result] = await dispatch([call], [add])
        assert result.content == 3

    return _same(work)


# ---------------------------------------------------------------- pure


def pure_works() -> dict[str, Ready]:
    """By name, what needs neither loop nor network: both ends of a call, on every wire."""
    _, name, given, call_id = agent_work.CALL
    works: dict[str, Ready] = {}
    for dialect, wire in wires(name, given, call_id).items():
        works[f"encode a known conversation, {dialect}"] = _encoding_known(wire)
        works[f"encode a grown conversation, {dialect}"] = _encoding_grown(wire)
        works[f"encode a new conversation, {dialect}"] = _encoding_new(wire)
        works[f"decode, {dialect}"] = _decoding(wire)
    return works


_numbers = count(100_000)


def _conversation(mark: int) -> list[Message]:
    """Twelve messages; of each mark another conversation, no longer or shorter."""
    given = agent_work.make_messages()
    for message in given:
        message["content"] = f"{mark} {message['content'] or ''}"
    return [read_chat_message(message, given) for message in given]


def _encoder(wire: Wire) -> Callable[[list[Message]], Any]:
    asker = use_llm(wire.key, **wire.options)._ask()
    tools = agent_work.make_tools()

    def encode(messages: list[Message]) -> Any:
        encoded = asker.encode(messages, tools, "auto", False, None, stream=False)
        assert len(asker.write(encoded, stream=False).body) > 5_000
        return encoded

    return encode


def _encoding_known(wire: Wire) -> Ready:
    encode, messages = _encoder(wire), _conversation(next(_numbers))
    return lambda: partial(encode, messages)


def _encoding_grown(wire: Wire) -> Ready:
    encode = _encoder(wire)

    def ready() -> Callable[[], Any]:
        messages = _conversation(next(_numbers))
        encode(messages[:-5])  # without its last round
        return partial(encode, messages)

    return ready


def _encoding_new(wire: Wire) -> Ready:
    encode = _encoder(wire)
    return lambda: partial(encode, _conversation(next(_numbers)))


def _decoding(wire: Wire) -> Ready:
    plan = _encoder(wire)(_conversation(next(_numbers))).plan
    asker = use_llm(wire.key, **wire.options)._ask()
    body = msgspec.json.encode(wire.answer)
    headers = {"content-type": "application/json"}

    def work() -> None:
        result = asker.read(plan, HttpAnswer(200, headers, body))
        assert [use.input for use in result.function_calls] == [agent_work.INPUT]

    return lambda: work
