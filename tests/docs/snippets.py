"""Running a page's snippets, in order, in one namespace.

- `python` blocks run; a top-level `await` runs on the given event loop.
- an `output` block is what the Python before it prints (`…` stands for anything).
- `console` blocks are commands after `$`, with what they print.
- `sh` blocks are not run, and say why: `<!-- not run: … -->` stands before them.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
from sybil import Document, Example
from sybil.parsers.myst import CodeBlockParser

_ALLOWED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_ELLIPSIS = "…"


class Page:
    """One page of the documentation."""

    def __init__(self, path: Path, *, backend: str, folder: Path) -> None:
        self._backend = backend
        self._folder = folder
        self._printed = ""
        self._document = Document.parse(
            str(path),
            CodeBlockParser("python", self._run_python),
            CodeBlockParser("output", self._compare),
            CodeBlockParser("console", self._run_commands),
        )
        self._document.namespace["__name__"] = path.stem.replace("-", "_").lower()

    def run(self) -> int:
        """Run every snippet; returns how many there were."""
        examples = list(self._document)
        for example in examples:
            example.evaluate()
        return len(examples)

    def _run_python(self, example: Example) -> None:
        source = "\n" * (example.line + example.parsed.line_offset) + example.parsed
        code = compile(
            source, example.path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        with redirect_stdout(StringIO()) as printed:
            if code.co_flags & inspect.CO_COROUTINE:
                anyio.run(_await, code, example.namespace, backend=self._backend)
            else:
                exec(code, example.namespace)
        self._printed = printed.getvalue()

    def _compare(self, example: Example) -> str | None:
        return _difference(example.parsed, self._printed)

    def _run_commands(self, example: Example) -> str | None:
        for block in example.parsed.removeprefix("$ ").split("\n$ "):
            command, _, expected = block.partition("\n")
            printed = _run(command, self._folder)
            problem = _difference(expected, printed)
            if problem:
                return f"{command}\n{problem}"
        return None


async def _await(code: Any, namespace: dict[str, Any]) -> None:
    await eval(code, namespace)


def _run(command: str, folder: Path) -> str:
    """What a command prints, run with this environment's programs."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env={**os.environ, "PATH": programs, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout + done.stderr


def _difference(expected: str, printed: str) -> str | None:
    wanted = expected.replace(_ELLIPSIS, "...").strip() + "\n"
    found = printed.strip() + "\n"
    if doctest.OutputChecker().check_output(wanted, found, _ALLOWED):
        return None
    return f"the page says:\n{wanted}\nit printed:\n{found}"
