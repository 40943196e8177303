"""Counts what every piece of work costs, and writes the record that the tests compare with.

python tests/performance/record.py           # renews costs.json
python tests/performance/record.py --print   # prints what it would write
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmarks")]


def main() -> None:
    """Count, and write or print."""
    from comparing import RECORD, Costs, write_costs
    from works import measure

    if sys.version_info[:2] != (3, 11):
        sys.exit("Costs are recorded on Python 3.11: each version has events of its own.")
    events, held = measure()
    functions: dict[str, dict[str, int]] = {}
    for name, counts in events.items():
        if not name.endswith(", trio"):
            for function, count in counts.items():
                if count * 200 >= counts.total():
                    functions.setdefault(function, {})[name] = count
    totals = {name: counts.total() for name, counts in events.items()}
    text = write_costs(Costs(events=totals, bytes=held, functions=functions))
    if "--print" in sys.argv:
        print(text, end="")
    else:
        RECORD.write_text(text)


if __name__ == "__main__":
    main()
