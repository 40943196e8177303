"""`llm-tools explain`: the target of a key, and what a request to it would be."""

from __future__ import annotations

from argparse import Namespace

import msgspec

from ..llm import Llm, use_llm
from .painting import Paint

_FUNCTION = {
    "name": "add_numbers",
    "description": "Add two numbers.",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}


def run(options: Namespace) -> int:
    """Print both; nothing is sent, no key is needed."""
    paint = Paint()
    llm = use_llm(options.key, model=options.model)
    print(paint.bold("target"))
    for name, value in _facts(llm):
        print(f"  {name:<9} {value}")
    request = llm.build_request("Please add 17 and 25.", functions=[_FUNCTION], function_call="any")
    print(paint.bold('\na request that forces a call (function_call="any")'))
    print(f"  {request.method} {request.url}")
    for name, value in request.headers.items():
        print(f"  {name}: {value}")
    body = msgspec.json.format(msgspec.json.encode(request.body), indent=2).decode()
    print("\n  " + body.replace("\n", "\n  "))
    for warning in request.warnings:
        print(paint.dim(f"\n  warning {warning.code}: {warning.detail}"))
    return 0


def _facts(llm: Llm) -> list[tuple[str, str]]:
    target = llm.target
    endpoint = target.endpoint
    given, plain = target.quirks, target.dialect.quirks()
    flags = [
        f"{name}={_brief(getattr(given, name))}"
        for name in given.__struct_fields__
        if getattr(given, name) != getattr(plain, name)
    ]
    return [
        ("endpoint", f"{endpoint.key}.{endpoint.protocol}.v1 ({endpoint.tier})"),
        ("dialect", target.dialect.key),
        ("model", target.model),
        ("key from", " or ".join(endpoint.api_key_env) or "none needed"),
        ("quirks", ", ".join(flags) or "none"),
    ]


def _brief(value: object) -> str:
    """A flag's value; of a record with a key, the key."""
    return str(getattr(value, "key", None) or repr(value))
