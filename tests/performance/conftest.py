"""What these tests share: scripts run in processes of their own, beside a server of canned answers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"


def clean_environment() -> dict[str, str]:
    """No key, no proxy, and another order of hashes for every process."""
    kept = ("PATH", "PYTHONPATH", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ}


@pytest.fixture(scope="session")
def run_python() -> Callable[..., str]:
    """Runs Python with arguments, and gives what it printed."""

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            env=clean_environment(),
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server of `benchmarks/canned_server.py`."""
    server = subprocess.Popen(
        [sys.executable, str(BENCHMARKS / "canned_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        server.stdin.close()
        server.wait(20)
