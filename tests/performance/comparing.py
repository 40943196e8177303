"""What was recorded against what was found: what got dearer, by how much, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

RECORD = Path(__file__).with_name("costs.json")
LEEWAY = 10
"""Percent of the record that a cost may differ."""
RENEW = "python tests/performance/record.py"
_MOST_NAMED = 8


class Costs(Struct, forbid_unknown_fields=True):
    """Costs by piece of work: events in all, events by function, bytes held at the peak."""

    events: dict[str, int]
    bytes: dict[str, int]
    functions: dict[str, dict[str, int]]
    """By function, then by piece of work. Less than half a hundredth of a piece is left out, and so is
    trio: asyncio's say it all."""


def read_costs(text: str | bytes) -> Costs:
    """What `write_costs` wrote."""
    return msgspec.json.decode(text, type=Costs)


def write_costs(costs: Costs) -> str:
    """As JSON with a line for every figure of a piece and for every function, so that diffs speak."""
    parts = []
    for part, values in msgspec.to_builtins(costs).items():
        lines = [f"{_json(name)}: {_json(values[name])}" for name in sorted(values)]
        parts.append(f"{_json(part)}: {{\n  " + ",\n  ".join(lines) + "\n }")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def complaints(recorded: Costs, found: Costs) -> list[str]:
    """A paragraph on each piece of work that costs other than its record says; none: all is well."""
    told = [
        *_compare("events", recorded.events, found.events, recorded, found),
        *_compare("bytes", recorded.bytes, found.bytes, recorded, found),
    ]
    if told:
        told.append(f"If that is how it has to be, renew the record: {RENEW}")
    return told


def _compare(
    unit: str, old: Mapping[str, int], new: Mapping[str, int], recorded: Costs, found: Costs
) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            yield f"{name}: {unit} are {'not recorded' if name not in old else 'no more counted'}."
            continue
        more = new[name] - old[name]
        if abs(more) * 100 <= old[name] * LEEWAY:
            continue
        head = f"{name}: {old[name]} {unit} became {new[name]} ({more / max(old[name], 1):+.0%})."
        if more < 0:
            yield f"{head} That is good; the record must say so, or it hides what comes after."
        elif unit == "events":
            yield "\n  ".join([head, *_grown(name, recorded, found)])
        else:
            yield head


def _grown(name: str, recorded: Costs, found: Costs) -> list[str]:
    """The functions that had more events, those with most more first."""
    kept = name.replace(", trio", ", asyncio")
    more = {
        function: counts.get(kept, 0) - recorded.functions.get(function, {}).get(kept, 0)
        for function, counts in found.functions.items()
    }
    most = sorted(more.items(), key=lambda item: (-item[1], item[0]))[:_MOST_NAMED]
    return [f"{extra:+d} events: {function}" for function, extra in most if extra > 0]
