"""A stand-in for the engine's server: what it says is scripted, what it was asked is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from llm_tools.integrations.local.loopback import Address

KEY = "engine-key"


def chunk(content: str | None = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def said(*pieces: str, reason: str = "stop", tokens: int = 5, cached: int = 0) -> list[Any]:
    """A run of the model: its text in pieces, then the end, the usage and the end mark."""
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": tokens,
        "total_tokens": 10 + tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return [
        chunk(),
        *[chunk(piece) for piece in pieces],
        chunk(reason=reason),
        {"choices": [], "usage": usage},
        "[DONE]",
    ]


class Refuses:
    """An answer with an error status."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body


class HoldsOn:
    """Says its pieces, then nothing more until `go_on` is set."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.started = threading.Event()
        self.go_on = threading.Event()
        self.hung_up = threading.Event()


class BreaksOff:
    """Says its pieces and closes the connection."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces


class HangsUp:
    """Closes the connection without a word."""


class ScriptedEngine:
    """`answers` are given in order; `asked` are the bodies that came."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append(body)
                outer.keys.append(self.headers["authorization"])
                outer._answer(self, outer.answers.pop(0))

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = Address("127.0.0.1", self._server.server_address[1], KEY)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def prompt(self, number: int = -1) -> list[tuple[str, str]]:
        return [(turn["role"], turn["content"]) for turn in self.asked[number]["messages"]]

    def _answer(self, handler: BaseHTTPRequestHandler, answer: Any) -> None:
        if isinstance(answer, HangsUp):
            handler.close_connection = True
            return
        if isinstance(answer, Refuses):
            handler.send_response(answer.status)
            handler.send_header("content-length", str(len(answer.body)))
            handler.end_headers()
            handler.wfile.write(answer.body)
            return
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        match answer:
            case HoldsOn():
                self._hold(handler, answer)
            case BreaksOff(pieces=pieces):
                _write(handler, [chunk(piece) for piece in pieces])
                handler.close_connection = True
            case _:
                _write(handler, answer)
                handler.wfile.write(b"0\r\n\r\n")
                handler.close_connection = True

    def _hold(self, handler: BaseHTTPRequestHandler, answer: HoldsOn) -> None:
        try:
            _write(handler, [chunk(piece) for piece in answer.pieces])
        except ConnectionError:  # whoever had heard enough of the first may be gone before the next
            answer.hung_up.set()
            handler.close_connection = True
            return
        answer.started.set()
        handler.connection.settimeout(0.01)
        while not answer.go_on.is_set():
            try:
                left = not handler.connection.recv(1)
            except TimeoutError:
                continue
            except ConnectionError:
                left = True
            if left:
                answer.hung_up.set()
                handler.close_connection = True
                return
        handler.connection.settimeout(None)
        _write(handler, said()[1:])
        handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = True


def _write(handler: BaseHTTPRequestHandler, events: Iterable[Any]) -> None:
    for event in events:
        text = event if isinstance(event, str) else json.dumps(event)
        data = f"data: {text}\n\n".encode()
        # In two HTTP chunks: an event is no unit of the transfer.
        for part in (data[:7], data[7:]):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
