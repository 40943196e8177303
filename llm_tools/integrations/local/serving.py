"""The child process of the local model: `python -m llm_tools.integrations.local.serving`.

The key is the first line on stdin. One line of JSON on stdout says where it listens. It ends when
stdin does, and when its parent is another process than the one that started it: the one covers a
parent that is killed, the other a forked copy of the parent that keeps the pipe open.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path

import msgspec

from .engine import start_engine
from .front import Front, Service
from .seats import Seats

_PARENT_CHECK_SECONDS = 0.5


def main(arguments: list[str] | None = None) -> None:
    """Serve until the parent is gone."""
    options = _options(arguments)
    key = sys.stdin.buffer.readline().decode().strip()
    if not key:
        _leave()
    for watch in (_watch_stdin, _watch_parent):
        threading.Thread(target=watch, args=(options.parent,), daemon=True).start()
    engine, _server = start_engine(
        options.model, threads=options.threads, context=options.context, slots=options.slots
    )
    names = tuple(dict.fromkeys((options.name, Path(options.model).stem)))
    front = Front(Service(key, names, engine, Seats(options.slots)))
    print(msgspec.json.encode({"base_url": front.base_url}).decode(), flush=True)
    _close_stdout()
    front.serve_forever()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="llm_tools.integrations.local.serving")
    parser.add_argument("--model", required=True, help="path of a GGUF file")
    parser.add_argument("--name", default="smollm2", help="what clients call the model")
    parser.add_argument("--parent", type=int, required=True, help="end when this is not the parent")
    # One thread: with two on a busy machine each waits for the other at every layer.
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--slots", type=int, default=2)
    return parser.parse_args(arguments)


def _watch_stdin(_: int) -> None:
    while sys.stdin.buffer.read(1):
        pass
    _leave()


def _watch_parent(parent: int) -> None:
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(_PARENT_CHECK_SECONDS)
    _leave()


def _leave() -> None:
    """At once: there is nothing to save, and the engine's own end would wait for busy slots."""
    os._exit(0)


def _close_stdout() -> None:
    """Nobody reads it any more; what the engine might print must not fill the pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    main()
