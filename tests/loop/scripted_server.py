"""A provider on 127.0.0.1 that says what its script says, from threads of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any

import anyio
from anyio import to_thread

HANG = object()
"""In a stream: send nothing more, until the client is gone."""


class Raw:
    """An answer as it goes over the wire; `chunks` are bytes, `HANG`, or functions to call."""

    def __init__(
        self,
        chunks: Iterable[Any],
        *,
        status: int = 200,
        content_type: str = "text/event-stream",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.chunks = list(chunks)
        self.status = status
        self.headers = {"content-type": content_type, **(headers or {})}


def sse(*events: Any) -> list[bytes]:
    """Server-sent events: JSON values, text, or `(name, JSON value)` pairs."""
    return [event if event is HANG or callable(event) else _event(event) for event in events]


def _event(event: Any) -> bytes:
    name, data = event if isinstance(event, tuple) else (None, event)
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


class Request:
    """What came."""

    def __init__(self, path: str, headers: dict[str, str], body: Any) -> None:
        self.path = path
        self.headers = headers
        self.body = body


class Server(ThreadingHTTPServer):
    """Each request takes the next answer: a JSON value, a `Raw`, or a function of the request."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, answers: Iterable[Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._answers = iter(list(answers))
        self._changed = Condition()
        self.requests: list[Request] = []
        self.connections = 0
        self.streaming = 0

    @property
    def url(self) -> str:
        """Where it is, without a slash at the end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests."""
        return [request.body for request in self.requests]

    def count(self, *, connections: int = 0, streaming: int = 0) -> None:
        """Note that a connection or a streamed answer begins or ends."""
        with self._changed:
            self.connections += connections
            self.streaming += streaming
            self._changed.notify_all()

    def answer(self, request: Request) -> Any:
        """The next answer of the script."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            answer = next(self._answers)
        return answer(request) if callable(answer) else answer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is no error; anything else fails the test that caused it."""
        if not isinstance(sys.exception(), ConnectionError):
            raise  # noqa: PLE0704 - it is being handled by our caller

    async def reaches(self, condition: Callable[[Server], bool]) -> None:
        """Wait until something is true of this server."""

        def wait() -> bool:
            with self._changed:
                return self._changed.wait_for(lambda: condition(self), 30)

        with anyio.CancelScope(shield=True):
            assert await to_thread.run_sync(wait), "the server never came to that"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.server.count(connections=1)

    def finish(self) -> None:
        self.server.count(connections=-1)
        super().finish()

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        raw = self.rfile.read(length)
        if len(raw) < length:  # the client left in the middle
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.answer(Request(self.path, headers, json.loads(raw)))
        if not isinstance(answer, Raw):
            answer = Raw([json.dumps(answer).encode()], content_type="application/json")
        self.server.count(streaming=1)
        try:
            self._send(answer)
        except ConnectionError:
            self.close_connection = True
        finally:
            self.server.count(streaming=-1)

    def _send(self, answer: Raw) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in answer.chunks:
            if chunk is HANG:
                self.connection.recv(1)
                raise ConnectionError("the client is gone")
            data = chunk() if callable(chunk) else chunk
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(*answers: Any) -> Iterator[Server]:
    """A server with a script."""
    server = Server(answers)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
