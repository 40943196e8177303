"""The README's program, on the real local model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.local_model, pytest.mark.timeout(180)]

README = Path(__file__).parents[2] / "README.md"


def test_the_program_of_the_readme_calls_the_function_that_was_asked_for(tmp_path: Path) -> None:
    """Without a key it runs as it is printed, and the model steps to the left."""
    [source] = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    program = tmp_path / "maze.py"
    program.write_text(source)
    assert "OPENAI_API_KEY" not in os.environ

    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=150
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"move_left \{\} \S+\n", done.stdout)
