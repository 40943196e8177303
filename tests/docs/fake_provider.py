"""A provider on this machine for the snippets of the documentation: four wires, one behaviour.

Where functions are offered and no result has come yet, it calls the one that was named, else the
first; otherwise it answers in text: JSON for a schema, the result of the last call, or what the
user said. A model whose name ends in `-overloaded` is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from docs.made_values import Maker

from docs import wires


def answer(asked: wires.Asked) -> wires.Answer:
    """What the provider says."""
    if asked.functions and asked.result is None and not asked.forbidden:
        name = asked.forced or next(iter(asked.functions))
        schema = asked.functions[name] or {"type": "object"}
        return wires.Answer(name=name, arguments=Maker(asked.text, schema).make(schema))
    if asked.schema is not None:
        made = Maker(asked.text, asked.schema).make(asked.schema)
        return wires.Answer(text=json.dumps(made))
    if asked.result is not None:
        return wires.Answer(text=f"Done: {asked.result}")
    return wires.Answer(text=f"You said: {asked.text}")


@dataclass
class Exchange:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.exchanges.append(Exchange(self.path, headers, body))  # type: ignore[attr-defined]
        wire = wires.find(self.path)
        if wire is None:
            self._send(404, {"error": {"message": f"There is nothing at {self.path}."}})
        elif "-overloaded" in self.path + str(body.get("model")):
            self._send(529, {"error": {"message": "Overloaded.", "type": "overloaded_error"}})
        elif wires.is_stream(self.path, body):
            self._stream(wire.stream(answer(wire.read(body))))
        else:
            self._send(200, wire.whole(answer(wire.read(body))))

    def _send(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in [*events, b""]:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))

    def log_message(self, *_: Any) -> None:
        """Nothing: tests are quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    exchanges: list[Exchange]


@dataclass
class FakeProvider:
    """A provider that listens; `exchanges` holds what it was asked."""

    url: str
    exchanges: list[Exchange]

    def environment(self) -> dict[str, str]:
        """The variables that send the well-known endpoints here."""
        found: dict[str, str] = {}
        for name in ("OPENAI", "MISTRAL", "GROQ", "XAI", "DEEPSEEK", "OPENROUTER", "VLLM"):
            found[f"{name}_BASE_URL"] = f"{self.url}/v1"
            found[f"{name}_API_KEY"] = f"a-key-for-{name.lower()}"
        for name, path in (("ANTHROPIC", ""), ("GEMINI", "/v1beta")):
            found[f"{name}_BASE_URL"] = self.url + path
            found[f"{name}_API_KEY"] = f"a-key-for-{name.lower()}"
        return found


@contextmanager
def running() -> Iterator[FakeProvider]:
    """A provider on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.exchanges = []
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield FakeProvider(f"http://127.0.0.1:{server.server_address[1]}", server.exchanges)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
