"""Serves `app.py` until stdin ends: `python serve.py uvicorn` or `python serve.py hypercorn-trio`."""

from __future__ import annotations

import socket
import sys
import threading
from typing import Any

import anyio
from app import app


def listen() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print(listener.getsockname()[1], flush=True)
    return listener


def under_uvicorn(listener: socket.socket) -> None:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))

    def wait_for_the_end() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    server.run(sockets=[listener])


def under_hypercorn_with_trio(listener: socket.socket) -> None:
    from hypercorn.config import Config
    from hypercorn.trio import serve

    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.loglevel = "WARNING"
    config.graceful_timeout = 1

    async def the_end() -> None:
        await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)

    async def main() -> None:
        await serve(app, config, shutdown_trigger=the_end)  # type: ignore[arg-type]

    anyio.run(main, backend="trio")


SERVERS: dict[str, Any] = {
    "uvicorn": under_uvicorn,
    "hypercorn-trio": under_hypercorn_with_trio,
}

if __name__ == "__main__":
    SERVERS[sys.argv[1]](listen())
