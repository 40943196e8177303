"""`llm-tools endpoints`: the support table."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import msgspec

from ..registry import EndpointInfo, list_endpoints
from .painting import Paint

_SIGNS = {"native": "+", "emulated": "~", "refused": "-"}


def run(options: Namespace) -> int:
    """Print every endpoint."""
    found = list_endpoints()
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return 0
    paint = Paint()
    header, *rows = _align(_table(found))
    print(paint.bold(header))
    for row in rows:
        print(row)
    signs = ", ".join(f"{sign} {support}" for support, sign in _SIGNS.items())
    print(paint.dim(f"\n{signs}; emulations are named in a result's warnings"))
    return 0


def _table(found: Sequence[EndpointInfo]) -> list[list[str]]:
    options = list(found[0].support)
    header = ["endpoint", *options, "tier", "key"]
    return [header, *[_row(info, options) for info in found]]


def _row(info: EndpointInfo, options: Sequence[str]) -> list[str]:
    cells = [_SIGNS[info.support[option]] for option in options]
    variable = " or ".join(info.api_key_env)
    return [f"{info.key}.{info.protocol}.v1", *cells, info.tier, variable]


def _align(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]).rstrip()
        for row in table
    ]
