"""Runs the benches and writes their results into the documentation.

    python benchmarks/run_all.py               # everything, in some minutes
    python benchmarks/run_all.py --quick       # the same, shorter: to look, not to publish
    python benchmarks/run_all.py call stream   # these alone; the other results stay as they are
    python benchmarks/run_all.py --render      # measures nothing, draws what was measured last

Each bench runs in a process of its own, one after the other; all ratios of a bench are of one
interleaved run. The results go to `docs/explanation/performance-results.json`; of them, and of
nothing else, `rendering.py` makes the tables of `docs/explanation/performance.md` and `drawing.py`
the plot beside it.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from argparse import ArgumentParser
from importlib.metadata import version
from pathlib import Path

import drawing
import msgspec
import rendering
from measuring import Row
from rendering import BENCHES, Results

FOLDER = Path(__file__).resolve().parent
DOCS = FOLDER.parent / "docs" / "explanation"
RESULTS = DOCS / "performance-results.json"
PAGE = DOCS / "performance.md"
PLOT = DOCS / "performance.svg"


def measure(bench: str, *, quick: bool) -> list[Row]:
    """The rows of one bench."""
    command = [sys.executable, str(FOLDER / f"bench_{bench}.py"), "--json"]
    command += ["--quick"] if quick else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=list[Row])


def read_results() -> Results:
    """What was measured last."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=Results)


def write_results(results: Results) -> None:
    """Keep what was measured, in a form that is read and compared easily."""
    rows = {
        bench: [msgspec.structs.replace(row, **_rounded(row)) for row in found]
        for bench, found in results.rows.items()
    }
    encoded = msgspec.json.encode(msgspec.structs.replace(results, rows=rows))
    RESULTS.write_bytes(msgspec.json.format(encoded, indent=1) + b"\n")


def _rounded(row: Row) -> dict[str, float]:
    """The numbers of a row to four digits, more than they are good for."""
    return {
        name: float(f"{value:.4g}")
        for name, value in msgspec.structs.asdict(row).items()
        if isinstance(value, float)
    }


def render(results: Results) -> None:
    """Write the tables into the page, and the plot beside it."""
    PAGE.write_text(rendering.page(PAGE.read_text("utf-8"), results), "utf-8")
    PLOT.write_text(drawing.plot(results), "utf-8")


def versions() -> dict[str, str]:
    """Of what the figures depend on."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    names = ("httpx", "httpcore", "anyio", "trio", "msgspec", "httptools")
    return {"Python": python} | {name: version(name) for name in names}


def main() -> int:
    """Measure and render; 1 where an aim is missed."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=", ".join(BENCHES))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--render", action="store_true", help="only draw what was measured last")
    given = parser.parse_args()
    if unknown := set(given.benches) - set(BENCHES):
        parser.error(f"no such bench: {', '.join(sorted(unknown))}")
    if given.render:
        render(read_results())
        return 0
    rows = read_results().rows if RESULTS.exists() else {}
    missed = False
    for bench in given.benches or BENCHES:
        print(f"{BENCHES[bench]} (bench_{bench}.py)", flush=True)
        rows[bench] = measure(bench, quick=given.quick)
        for row in rows[bench]:
            missed |= row.is_missed
            print(f"  {row}", flush=True)
        # Written at once: whoever stops here goes on later with the names of the other benches.
        write_results(Results(versions(), {one: rows[one] for one in BENCHES if one in rows}))
        render(read_results())
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
