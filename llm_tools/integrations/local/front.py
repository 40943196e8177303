"""The server that clients see: OpenAI's paths on the loopback interface, behind a key.

One thread a connection; the engine works on as many requests as it has seats, the others wait in
order of arrival.
"""

from __future__ import annotations

import hmac
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from msgspec import Struct

from .asking import Ask, read_ask
from .client import Client, ClientGone
from .loopback import Address
from .protocol import respond
from .refusing import ApiError
from .replying import chunks, whole
from .seats import Seats
from .session import Session
from .wire import ChatRequest, read_body

_LARGEST_BODY = 8 * 1024 * 1024
_IDLE_SECONDS = 75
_PARTING_SECONDS = 2


class Service(Struct, frozen=True):
    """What the server needs to know: its key, the model's names, the engine and its seats."""

    key: str
    names: tuple[str, ...]
    engine: Address
    seats: Seats


class Front(ThreadingHTTPServer):
    """Listens on a free port of the loopback interface."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, service: Service) -> None:
        self.service = service
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def base_url(self) -> str:
        """What clients put before `/chat/completions`."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the client's business; nothing is printed."""


class _Handler(BaseHTTPRequestHandler):
    server: Front
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(_GET)

    def do_POST(self) -> None:
        self._answer(_POST)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parent's name
        """Nothing is logged: requests are the caller's own."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the parent class says about malformed HTTP, in the form of all other errors."""
        self.close_connection = True
        self._refuse(ApiError(message or explain or "The request is malformed.", status=code))

    def _answer(self, routes: dict[str, Any]) -> None:
        path = self.path.partition("?")[0]
        try:
            body = self._read_body()
            if path not in _GET and path not in _POST:
                raise ApiError(f"There is no {path} here: POST {_CHAT}.", status=404)
            if path not in routes:
                raise ApiError(f"{path} does not take {self.command}.", status=405)
            if path != _HEALTH:
                self._check_key()
            routes[path](self, body)
        except ApiError as error:
            self._refuse(error)
        except RecursionError:
            self._refuse(ApiError("The request is nested too deeply."))
        except (ClientGone, OSError):
            self.close_connection = True

    def _read_body(self) -> bytes:
        length = self.headers.get("content-length", "0")
        if "transfer-encoding" in self.headers or not length.isdecimal():
            self.close_connection = True
            raise ApiError("Send a body with its Content-Length.", status=411)
        if int(length) > _LARGEST_BODY:
            self.close_connection = True
            raise ApiError(f"The body is larger than {_LARGEST_BODY} bytes.", status=413)
        return self.rfile.read(int(length))

    def _check_key(self) -> None:
        given = self.headers.get("authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {self.server.service.key}".encode()):
            raise ApiError(
                "The key is missing or wrong: it is handed out by the launcher alone.",
                status=401,
                code="invalid_api_key",
            )

    def _health(self, _: bytes) -> None:
        self._send(200, b'{"status":"ok"}')

    def _models(self, _: bytes) -> None:
        models = [
            {"id": name, "object": "model", "created": int(time.time()), "owned_by": "local"}
            for name in self.server.service.names
        ]
        self._send(200, msgspec.json.encode({"object": "list", "data": models}))

    def _chat(self, body: bytes) -> None:
        request = read_body(body)
        service = self.server.service
        if request.model not in service.names:
            raise ApiError(
                f"There is no model {request.model!r} here, only {', '.join(service.names)}.",
                status=404,
                code="model_not_found",
                param="model",
            )
        ask = read_ask(request)
        client = Client(self.connection)
        with service.seats.take(client.check):
            self._serve(request, ask, Session(service.engine, client))

    def _serve(self, request: ChatRequest, ask: Ask, session: Session) -> None:
        with closing(respond(ask, session)) as events:
            if not request.stream:
                self._send(200, whole(request.model, events, session))
                return
            options = request.stream_options
            usage = options is not None and options.include_usage is True
            self._stream(chunks(request.model, events, session, include_usage=usage))

    def _stream(self, payloads: Iterator[bytes]) -> None:
        first = next(payloads)  # an error before it is still a plain answer
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._event(first)
        try:
            for payload in payloads:
                self._event(payload)
        except ApiError as error:
            self._event(error.body())
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, payload: bytes) -> None:
        event = b"data: " + payload + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))

    def _refuse(self, error: ApiError) -> None:
        with suppress(OSError):
            self._send(error.status, error.body())
            if self.close_connection:
                self._hear_out()

    def _hear_out(self) -> None:
        """Read what is still coming: closed over unread bytes, a socket takes our answer along."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(_PARTING_SECONDS)
        heard = 0
        while heard < _LARGEST_BODY and (piece := self.connection.recv(65536)):
            heard += len(piece)

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


_CHAT = "/v1/chat/completions"
_HEALTH = "/health"
_GET = {_HEALTH: _Handler._health, "/v1/models": _Handler._models}  # noqa: SLF001 - own class
_POST = {_CHAT: _Handler._chat}  # noqa: SLF001 - own class
