"""A server in a process of its own that answers as its script says, however badly.

`python misbehaving_server.py [CERT KEY]` prints its port. A test posts a script to `/_script/<name>`
and sends requests below `/<name>/`; each request takes the script's next step (the last one over
and over). `GET /_log/<name>` tells what came: times, connections, headers and bodies.

A step is a list of actions: ["send", text], ["send64", base64], ["repeat", text, times], ["sleep", s],
["stall"] (until the other side is gone), ["close"], ["reset"]. After the last action the connection
stays open for the next request.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import socket
import ssl
import struct
import sys
import time
from typing import Any

scripts: dict[str, list[list[Any]]] = {}
logs: dict[str, list[dict[str, Any]]] = {}
open_connections: set[int] = set()
numbers = itertools.count()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    number = next(numbers)
    open_connections.add(number)
    try:
        while await answer_one(reader, writer, number):
            pass
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        open_connections.discard(number)
        writer.close()


async def answer_one(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")[:-2]
    method, path, _ = first.split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    # A proxy is asked for a whole URL.
    name = path.split("/")[3 if path.startswith("http://") else 1]
    if name.startswith("_"):
        control(writer, method, path, body)
        return True
    log = logs.setdefault(name, [])
    log.append(
        {"time": time.monotonic(), "connection": number, "path": path, "method": method,
         "headers": headers, "body": body.decode("utf-8", "replace"), "head": head, "gone": None,
         "repeated": 0}
    )  # fmt: skip
    steps = scripts[name]
    step = steps[min(len(log), len(steps)) - 1]
    entry = log[-1]
    try:
        for action in step:
            if not await act(reader, writer, action, entry):
                return False
    finally:
        if reader.at_eof() or reader.exception() is not None or writer.is_closing():
            entry["gone"] = time.monotonic()
    return True


async def act(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    action: list[Any],
    entry: dict[str, Any],
) -> bool:
    match action:
        case ["send", text]:
            writer.write(text.encode("utf-8"))
            await writer.drain()
        case ["send64", data]:
            writer.write(base64.b64decode(data))
            await writer.drain()
        case ["repeat", text, times]:
            for number in range(times):
                writer.write(text.encode("utf-8"))
                await writer.drain()
                entry["repeated"] = number + 1
        case ["sleep", seconds]:
            await asyncio.sleep(seconds)
        case ["stall"]:
            while await reader.read(65536):
                pass
            return False
        case ["close"]:
            return False
        case ["reset"]:
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
    return True


def control(writer: asyncio.StreamWriter, method: str, path: str, body: bytes) -> None:
    _, verb, *rest = path.split("/")
    answer: Any = None
    if verb == "_script":
        scripts[rest[0]] = json.loads(body)
        logs[rest[0]] = []
    elif verb == "_log":
        answer = logs.get(rest[0], [])
    elif verb == "_open":
        answer = len(open_connections) - 1
    data = json.dumps(answer).encode()
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(data), data))


async def main() -> None:
    context = None
    if len(sys.argv) > 2:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = await asyncio.start_server(
        serve, "127.0.0.1", 0, ssl=context, limit=1 << 20, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
