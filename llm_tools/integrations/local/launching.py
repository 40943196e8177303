"""Starting the local model, once for this process.

`launch` is the launcher of the endpoint `local`. The child process is shared by all event loops
and threads of a process, and ends with it.
"""

from __future__ import annotations

import atexit
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import anyio.to_thread
import msgspec
from msgspec import Struct

from ...errors import ConfigurationError
from .weights import FETCH, MODEL_VARIABLE, SMOLLM2, find_weights

INSTALL = "pip install 'llm-tools[local]'"
"""The command that gets the engine."""

_START_SECONDS = 120
_STOP_SECONDS = 2


class _Child(Struct, frozen=True):
    base_url: str
    key: str
    process: subprocess.Popen[bytes]
    owner: int

    def is_ours_and_alive(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None


class _Ready(Struct, frozen=True):
    base_url: str


_lock = threading.Lock()
_children: dict[str, _Child] = {}
"""One for each value of `LLM_TOOLS_LOCAL_MODEL` that was met, so one as a rule."""


async def launch() -> tuple[str, str]:
    """The base URL (ending in `/v1`) and the key of the local model's server.

    It is started if it is not running; cheap if it is, so ask before every request. A child that
    died is replaced. Cancelling leaves a start that has begun to itself: the next call finds it.

    Raises:
        ConfigurationError: engine or weights are missing, or it does not start; the message names
            the command to run.
    """
    model = os.environ.get(MODEL_VARIABLE, "")
    child = _children.get(model)
    if child is None or not child.is_ours_and_alive():
        child = await anyio.to_thread.run_sync(_start_once, model, abandon_on_cancel=True)
    return child.base_url, child.key


def stop() -> None:
    """End the child of this process, if there is one; the next `launch` starts another."""
    with _lock:
        children = [child for child in _children.values() if child.owner == os.getpid()]
        _children.clear()
    for child in children:
        _hang_up(child.process)
    for child in children:
        try:
            child.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()


def _start_once(model: str) -> _Child:
    with _lock:
        child = _children.get(model)
        if child is not None and child.is_ours_and_alive():
            return child
        if child is not None:
            _hang_up(child.process)
        _children[model] = child = _start()
        return child


def _start() -> _Child:
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(f"The local model needs its engine: run `{INSTALL}`.")
    weights = find_weights()
    key = secrets.token_urlsafe(24)
    began = time.monotonic()
    _tell(f"llm-tools: starting the local model ({weights.stem}) …")
    with tempfile.TemporaryFile() as log:
        process = _spawn(weights, log)
        line = _handshake(process, key)
        if not line:
            _hang_up(process)
            process.wait()
            raise ConfigurationError(_failure(weights, process.returncode, log))
    _tell(f" ready in {time.monotonic() - began:.1f} s\n")
    return _Child(msgspec.json.decode(line, type=_Ready).base_url, key, process, os.getpid())


def _spawn(weights: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", f"{__package__}.serving"]
    command += ["--model", str(weights), "--parent", str(os.getpid())]
    # A session of its own: Ctrl-C in the terminal is for the parent to deal with.
    return subprocess.Popen(  # noqa: S603 - our own module, no shell
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=_environment(),
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """Ours, so that the child finds this very package even where it is not installed."""
    environment = dict(os.environ)
    home = Path(__file__).parents[3]
    if home.name not in ("site-packages", "dist-packages"):
        others = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(home), *([others] if others else [])])
    return environment


def _handshake(process: subprocess.Popen[bytes], key: str) -> bytes:
    """Give the key and wait for the line that says where it listens; empty if none comes."""
    stdin, stdout = _pipes(process)
    overdue = threading.Timer(_START_SECONDS, process.kill)
    overdue.daemon = True
    overdue.start()
    try:
        stdin.write(f"{key}\n".encode())
        stdin.flush()
        # The engine may have something to say before, on the same stream.
        return next((line for line in stdout if line.startswith(b'{"base_url"')), b"")
    except BrokenPipeError:
        return b""
    finally:
        overdue.cancel()
        stdout.close()


def _failure(weights: Path, status: int, log: IO[bytes]) -> str:
    log.seek(0)
    said = log.read().decode(errors="replace").strip().splitlines()[-3:]
    return (
        f"The local model did not start (exit status {status}) with {weights}: "
        f"{' | '.join(said) or 'it said nothing'}. Run `{FETCH}` for {SMOLLM2.title}, or "
        f"`{INSTALL}` for a fresh engine."
    )


def _tell(text: str) -> None:
    """Progress, for a person who waits."""
    stream = sys.stderr
    if os.environ.get("LLM_TOOLS_PROGRESS") == "1" or (stream is not None and stream.isatty()):
        print(text, end="", file=stream, flush=True)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the child process was started without pipes")
    return process.stdin, process.stdout


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    """Close our end of the pipe, which is what keeps the child alive."""
    with suppress(BrokenPipeError):  # it is gone already
        _pipes(process)[0].close()


def _forget_after_fork() -> None:
    """A forked copy must neither use the child of its parent nor keep its pipe open."""
    global _lock
    _lock = threading.Lock()
    for child in _children.values():
        _hang_up(child.process)
        child.process.returncode = 0  # not ours to wait for
    _children.clear()


atexit.register(stop)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_after_fork)
