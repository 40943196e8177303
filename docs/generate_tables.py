"""Writes the pages that are tables: `python docs/generate_tables.py`, and `--check` in tests."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from llm_tools import list_endpoints
from llm_tools.registry import EndpointInfo

PAGE = Path(__file__).parent / "reference" / "endpoints.md"

_ABOUT_CALLS = ("auto", "none", "any", "named", "subset", "strict", "json_schema")
_ABOUT_THE_REST = ("parallel_off", "image", "effort", "seed")

_HEAD = """\
<!-- Written by docs/generate_tables.py; change the endpoints, not this page. -->

# Endpoints

{count} endpoints, each a record in `llm_tools/endpoints/`.
`list_endpoints()` returns the same as data, with what you registered yourself.

A model is named `"<endpoint>.<model>"`, or by a protocol key from the first column with `model=`.
Any model works, known or not.
`base_url=` replaces the address, `api_key=` the variable.

The tier is `verified` where bodies and answers are tested against recordings or vendor types of the
host, and `community` where they are tested only as those of a compatible host.

## Where they are

{places}

## How options are served

`native`: the wire has a word for it.
`emulated`: it is done another way, and the answer's `warnings` say so (see [](warnings.md)).
`refused`: an error before anything is sent, which names a way out.
No option is ever ignored.

The tables are for a model of which nothing particular is known.
Single models depart from them: some Claude models refuse forced calls, and reasoning models refuse
sampling parameters.
`llm.target.dialect.support(llm.target)` is the row of the model at hand.

### Functions and answers

`auto`, `none`, `any`, `named` and `subset` are the values of `function_call`; `strict` is
`function_call_strict_input=True`.

{calls}

### Parameters and images

`parallel_off` is `parallel_function_calls=False`; `image` is an image in a user message.

{rest}
"""


def page() -> str:
    """The page, from `list_endpoints()`."""
    infos = list_endpoints()
    return _HEAD.format(
        count=len(infos),
        places=_table(
            ("key", "wire", "address", "variable of its key", "tier"), map(_place, infos)
        ),
        calls=_support(infos, _ABOUT_CALLS),
        rest=_support(infos, _ABOUT_THE_REST),
    )


def _protocol_key(info: EndpointInfo) -> str:
    return f"`{info.key}.{info.protocol}.v1`"


def _place(info: EndpointInfo) -> tuple[str, ...]:
    variables = " or ".join(f"`{name}`" for name in info.api_key_env)
    address = f"`{info.base_url}`" if info.base_url else "from its settings"
    wire = f"[{info.dialect}]({info.docs_url})" if info.docs_url else info.dialect
    return _protocol_key(info), wire, address, variables or "none", info.tier


def _support(infos: Sequence[EndpointInfo], options: Sequence[str]) -> str:
    rows = ((_protocol_key(info), *(info.support[option] for option in options)) for info in infos)
    return _table(("key", *(f"`{option}`" for option in options)), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str]) -> int:
    """Write the page; with `--check`, only say whether it is current."""
    written = page()
    if "--check" in arguments:
        return 0 if PAGE.read_text("utf-8") == written else 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(written, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
