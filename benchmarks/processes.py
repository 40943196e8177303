"""Fresh processes, and the CPU time that each takes from its start to its end."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def cpu_of(arguments: Sequence[str]) -> float:
    """Seconds of CPU, user and system, of a fresh Python with these arguments.

    Raises:
        RuntimeError: it failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    with subprocess.Popen([sys.executable, *arguments], env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{arguments} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def in_turns(programs: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each program in each round; their order changes from round to round."""
    for arguments in programs.values():  # their files are compiled and in memory from here on
        cpu_of(arguments)
    costs: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds):
        names = list(programs)
        random.Random(number).shuffle(names)
        for name in names:
            costs[name].append(cpu_of(programs[name]))
    return costs
