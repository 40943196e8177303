"""What a piece of a streamed call's arguments costs.

    python benchmarks/bench_pieces.py [--quick]

One call comes with its arguments in 1,000 to 100,000 pieces, each in an HTTP chunk of its own as
providers send them, or forty to a chunk as they arrive where the reader is behind. Told is the CPU
time per piece, as a ratio to the floor's blocks before and after it in the same run: httpx's client,
its bytes split into events and each event decoded into a struct by msgspec. Beside it the OpenAI SDK,
where it is installed.

Aims: at most one and a half times the floor, at most a third of the SDK, and for a piece of a long
stream what a piece of a short one costs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import httpx
import msgspec
from clients import DEFAULT, FAST
from measuring import Effort, Row, main, make_row, on_loops
from msgspec import Struct

LENGTHS = (1_000, 10_000, 100_000)
TOGETHER = (1, 40)
ROUNDS = {1_000: 15, 10_000: 7, 100_000: 3}
LONGEST_OF_THE_SDK = 10_000
OPENAI = "openai"
MODEL = "gpt-4o-mini"
FUNCTIONS = [
    {
        "name": "write_file",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
]
Work = Callable[[str, int], Awaitable[int]]
"""Reads one stream, of a form and a number of pieces; returns how many pieces it saw."""


# ---------------------------------------------------------------- the server


@cache
def make_body(pieces: int, together: int) -> bytes:
    """The stream as a chunked body, so many events a chunk."""
    begun = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "write_file", "arguments": ""},
    }
    events = [
        _event({"role": "assistant", "content": None, "tool_calls": [begun]}),
        _piece('{"text":"'),
    ]
    events += [_piece(f" word{number % 1000}") for number in range(pieces - 2)]
    events += [_piece('"}'), _event({}, "tool_calls"), b"data: [DONE]\n\n"]
    chunks = [
        b"".join(events[start : start + together]) for start in range(0, len(events), together)
    ]
    return b"".join([b"%x\r\n%b\r\n" % (len(one), one) for one in chunks]) + b"0\r\n\r\n"


def _piece(text: str) -> bytes:
    return _event({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})


def _event(delta: dict[str, Any], reason: str | None = None) -> bytes:
    chunk = {
        "id": "chatcmpl-0123456789",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "gpt-4o-mini-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
    }
    return b"data: %b\n\n" % msgspec.json.encode(chunk)


def serve() -> None:
    """Answer `POST /<together>/<pieces>/…` until standard input ends."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            _, together, pieces, *_ = self.path.split("/")
            self.wfile.write(make_body(int(pieces), int(together)))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()


@contextmanager
def running() -> Iterator[str]:
    """The server's address, while it runs in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "serve"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.stdin.close()
            server.wait(10)


# ---------------------------------------------------------------- who is measured


class Function(Struct):
    arguments: str | None = None


class ToolCall(Struct):
    index: int = 0
    function: Function | None = None


class Delta(Struct):
    tool_calls: list[ToolCall] | None = None


class Choice(Struct):
    delta: Delta


class Chunk(Struct):
    choices: list[Choice]


def _told(calls: Any) -> list[str]:
    return [
        one.function.arguments for one in calls or () if one.function and one.function.arguments
    ]


def floor(url: str, client: httpx.AsyncClient) -> Work:
    """httpx's client; each event decoded into structs, the arguments at the end."""
    decode = msgspec.json.Decoder(Chunk).decode
    sent = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}

    async def read(form: str, pieces: int) -> int:
        rest = b""
        fragments: list[str] = []
        async with client.stream(
            "POST", f"{url}/{form}/{pieces}/chat/completions", json=sent
        ) as response:
            async for data in response.aiter_bytes():
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    if event == b"data: [DONE]":
                        continue
                    fragments += _told(decode(event[6:]).choices[0].delta.tool_calls)
        msgspec.json.decode("".join(fragments))
        return len(fragments)

    return read


def openai_sdk(url: str) -> Work:
    """The OpenAI SDK: its chunks, the arguments at the end."""
    from openai import AsyncOpenAI

    async def read(form: str, pieces: int) -> int:
        fragments: list[str] = []
        async with AsyncOpenAI(api_key="k", base_url=f"{url}/{form}/{pieces}") as client:
            chunks = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "Hi"}], stream=True
            )
            async for chunk in chunks:
                fragments += _told(chunk.choices[0].delta.tool_calls)
        msgspec.json.decode("".join(fragments))
        return len(fragments)

    return read


def ours(url: str, transport: str) -> Work:
    """This library: every event, and the whole answer at the end."""
    from llm_tools import FunctionInputDelta, use_llm

    llm = use_llm("openai.chat.v1", model=MODEL, api_key="k", transport=transport)

    async def read(form: str, pieces: int) -> int:
        count = 0
        there = llm.with_options(base_url=f"{url}/{form}/{pieces}")
        async with there.stream("Hi", functions=FUNCTIONS) as events:
            async for event in events:
                if type(event) is FunctionInputDelta:
                    count += 1
        assert events.result.function_calls[0].input_error is None
        return count

    return read


# ---------------------------------------------------------------- measuring


async def measure(url: str, sdk: bool, effort: Effort) -> list[Row]:
    """The rows of the running loop."""
    lengths = effort.sizes(LENGTHS[: 2 if effort.rounds <= 3 else 3])
    rows: list[Row] = []
    async with httpx.AsyncClient(timeout=600, headers={"authorization": "Bearer k"}) as client:
        bare = floor(url, client)
        others = {DEFAULT: ours(url, "httpx"), FAST: ours(url, "fast")}
        if sdk:
            others[OPENAI] = openai_sdk(url)
        for work in (bare, *others.values()):
            await work("40", lengths[0])
        for together in TOGETHER:
            costs: dict[tuple[str, int], float] = {}
            for pieces in lengths:
                rounds = min(2 * effort.rounds - 1, ROUNDS[pieces])
                rows += await _compare(bare, others, str(together), pieces, rounds, costs)
            work = f"a piece of {lengths[-1]:,} to one of {lengths[0]:,}, {together} a chunk"
            for name in (DEFAULT, FAST):
                growth = costs[name, lengths[-1]] / costs[name, lengths[0]]
                rows.append(make_row(work, name, [growth], aim=1.2))
    return rows


async def _compare(
    bare: Work,
    others: dict[str, Work],
    form: str,
    pieces: int,
    rounds: int,
    costs: dict[tuple[str, int], float],
) -> list[Row]:
    """Everyone in turns with the floor, and with the SDK."""
    taking_part = {n: w for n, w in others.items() if n != OPENAI or pieces <= LONGEST_OF_THE_SDK}
    spent: dict[str, list[float]] = {name: [] for name in taking_part}
    ratios: dict[str, list[float]] = {name: [] for name in taking_part}
    for _ in range(rounds):
        before = await _cost(bare, form, pieces)
        for name, work in taking_part.items():
            cost, after = await _cost(work, form, pieces), await _cost(bare, form, pieces)
            spent[name].append(cost)
            ratios[name].append(2 * cost / (before + after))
            before = after
    costs.update({(name, pieces): min(found) for name, found in spent.items()})
    where = f"{pieces:,} pieces, {form} a chunk"
    rows = [
        make_row(where, name, found, aim=None if name == OPENAI else 1.5)
        for name, found in ratios.items()
    ]
    if OPENAI in spent:
        found = [mine / theirs for mine, theirs in zip(spent[DEFAULT], spent[OPENAI], strict=True)]
        rows.append(make_row(f"{where}, to the OpenAI SDK", DEFAULT, found, aim=1 / 3))
    return rows


async def _cost(work: Work, form: str, pieces: int) -> float:
    """CPU seconds of this process per piece."""
    began = process_time()
    seen = await work(form, pieces)
    spent = process_time() - began
    assert seen == pieces
    return spent / pieces


def rows(effort: Effort) -> list[Row]:
    """All rows, on both loops."""
    found = []
    with running() as url:
        for loop in effort.loops:
            sdk = loop == "asyncio" and find_spec("openai") is not None
            found += on_loops(measure, effort._replace(loops=(loop,)), url, sdk)
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        raise SystemExit(main("pieces of a stream", rows))
