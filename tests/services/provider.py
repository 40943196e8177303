"""A provider in a process of its own: two calls, then text about their results; or nothing, ever.

Asked about "hang", it takes the request and says no more, "hang later" after its first words. `GET
/stats?gone=N&hanging=N` waits for at least so many requests whose client left, or that hang now.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import Any
from urllib.parse import parse_qsl, urlsplit


class Stats:
    """What was seen so far."""

    def __init__(self) -> None:
        self.changed = asyncio.Condition()
        self.counts = {"requests": 0, "hanging": 0, "gone": 0}

    async def count(self, **changes: int) -> None:
        async with self.changed:
            for name, change in changes.items():
                self.counts[name] += change
            self.changed.notify_all()

    async def reach(self, wanted: dict[str, int]) -> dict[str, int]:
        async with self.changed:
            await self.changed.wait_for(
                lambda: all(self.counts[name] >= count for name, count in wanted.items())
            )
            return dict(self.counts)


def calls_for(question: str) -> list[dict[str, Any]]:
    number = int(question.rsplit(" ", 1)[-1])
    return [
        _call(0, "add", {"a": 17, "b": number}),
        _call(1, "name_of_day", {"number": number % 7 + 1}),
    ]


def _call(index: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": index, "id": f"call_{index}", "type": "function", "function": function}


def completion(body: Any, kind: str, part: dict[str, Any], reason: str | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, kind: part, "finish_reason": reason}],
    }


class Exchange:
    """One request and its answer."""

    def __init__(self, stats: Stats, reader: Any, writer: Any) -> None:
        self.stats = stats
        self.reader = reader
        self.writer = writer

    async def answer(self, body: Any) -> None:
        await self.stats.count(requests=1)
        question = next(m["content"] for m in body["messages"] if m["role"] == "user")
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        streamed = body.get("stream", False)
        if question.startswith("hang") and not streamed:
            await self.hang()
        if results:
            text = "It is " + " on ".join(results) + "."
            parts = [{"content": word} for word in (text[:7], text[7:])] if streamed else []
            message, reason = {"role": "assistant", "content": text}, "stop"
        else:
            calls = [] if question.startswith("hang") else calls_for(question)
            parts = [{"tool_calls": [call]} for call in calls]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
            reason = "tool_calls"
        if streamed:
            await self.stream(body, question, parts, reason)
        else:
            await self.send(completion(body, "message", message, reason))

    async def stream(self, body: Any, question: str, parts: list[Any], reason: str) -> None:
        self.writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        if question.startswith("hang"):
            self._event(completion(body, "delta", {"content": "Let me see."}, None))
            await self.writer.drain()
            await self.hang()
        for part in parts:
            self._event(completion(body, "delta", part, None))
        self._event(completion(body, "delta", {}, reason))
        self.writer.write(b"data: [DONE]\n\n")
        await self.writer.drain()
        raise ConnectionError

    def _event(self, data: Any) -> None:
        self.writer.write(f"data: {json.dumps(data)}\n\n".encode())

    async def send(self, data: Any) -> None:
        raw = json.dumps(data).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}"
        self.writer.write(head.encode() + b"\r\n\r\n" + raw)
        await self.writer.drain()

    async def hang(self) -> None:
        await self.stats.count(hanging=1)
        try:
            await self.reader.read(1)
        finally:
            await self.stats.count(hanging=-1, gone=1)
        raise ConnectionError


async def serve(stats: Stats, reader: Any, writer: Any) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            url = urlsplit(head.split(" ", 2)[1])
            exchange = Exchange(stats, reader, writer)
            if url.path == "/stats":
                wanted = {name: int(count) for name, count in parse_qsl(url.query)}
                await exchange.send(await stats.reach(wanted))
                continue
            length = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
            await exchange.answer(json.loads(await reader.readexactly(length)))
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main() -> None:
    stats = Stats()
    server = await asyncio.start_server(
        lambda reader, writer: serve(stats, reader, writer), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    await ended.wait()
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
