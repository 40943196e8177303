"""The misbehaving server's process, scripts for it, and requests to it."""

from __future__ import annotations

import base64
import itertools
import json
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from llm_tools.spec import Endpoint, Quirks, Target
from llm_tools.transport import OutgoingRequest, Secret

HERE = Path(__file__).parent
KEY = "sk-test-KEY-0123456789abcdefghij"
_names = (f"s{number}" for number in itertools.count())


class Script:
    """One script at the server, and the requests that reached it."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.base_url = f"{server.url}/{name}/v1"

    @property
    def log(self) -> list[dict[str, Any]]:
        """What came."""
        return self.server.ask(f"_log/{self.name}")  # type: ignore[no-any-return]

    def request(self, **changes: Any) -> OutgoingRequest:
        """A request to it."""
        return make_request(self.base_url, **changes)


class Server:
    """The server's process."""

    def __init__(self, *certificate: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "misbehaving_server.py"), *certificate],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        port = int(self.process.stdout.readline())
        self.port = port
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{port}"
        self._context = ssl.create_default_context(cafile=str(HERE / "certificates/ca.pem"))

    def script(self, *steps: list[Any]) -> Script:
        """Have it answer requests to a new address by these steps."""
        name = next(_names)
        self.ask(f"_script/{name}", json.dumps(steps).encode())
        return Script(self, name)

    def ask(self, path: str, body: bytes | None = None) -> Any:
        """Its control side."""
        context = self._context if self.url.startswith("https") else None
        with urllib.request.urlopen(f"{self.url}/{path}", data=body, context=context) as answer:
            return json.loads(answer.read())

    def open_connections(self) -> int:
        """How many connections it has, without the one that asks."""
        return self.ask("_open")  # type: ignore[no-any-return]

    def stop(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def make_request(base_url: str, **changes: Any) -> OutgoingRequest:
    """A request to a base URL; `endpoint` replaces fields of the endpoint, `options` the key."""
    fields = {"key": "acme", "api_key_env": ("ACME_API_KEY",), **changes.pop("endpoint", {})}
    target: Target[Quirks] = Target(
        endpoint=Endpoint(**fields),
        dialect=None,  # type: ignore[arg-type]
        model=changes.pop("model", "m-1"),
        quirks=Quirks(),
    )
    options = changes.pop("options", {"api_key": Secret(KEY)})
    settings: dict[str, Any] = {
        "target": target,
        "options": {"base_url": base_url, **options},
        "path": "/chat/completions",
        "headers": {},
        "body": b'{"model":"m-1"}',
        **changes,
    }
    return OutgoingRequest(**settings)


def http(
    body: str | bytes, *, status: int = 200, headers: dict[str, str] | None = None
) -> list[Any]:
    """A step: one whole response."""
    data = body.encode() if isinstance(body, str) else body
    fields = {
        "content-type": "application/json",
        "content-length": str(len(data)),
        **(headers or {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    head = f"HTTP/1.1 {status} Reason\r\n{lines}\r\n".encode("latin-1")
    return [["send64", base64.b64encode(head + data).decode()]]


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> list[Any]:
    """A step: an error as OpenAI words it; underscores in header names are hyphens."""
    body = json.dumps({"error": {"message": message, "type": code, "code": code}})
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return http(body, status=status, headers=fields)


def sse_head(**headers: str) -> str:
    """The head of a chunked event stream."""
    known = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers}
    return "".join(["HTTP/1.1 200 OK\r\n", *[f"{k}: {v}\r\n" for k, v in known.items()], "\r\n"])


def chunk(text: str) -> str:
    """One chunk of a chunked body."""
    return f"{len(text.encode()):x}\r\n{text}\r\n"


OK = http('{"ok":true}')
