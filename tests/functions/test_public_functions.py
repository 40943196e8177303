"""Real functions of public benchmarks, hundreds of them, pass through every wire."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from functions import subset_rules
from functions.test_wire_schema_properties import PLAIN_RULES, STRICT_RULES
from functions.wires import WIRES

from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.preparing import prepare_functions

_SPEC = find_spec("bfcl_eval")
pytestmark = pytest.mark.skipif(
    _SPEC is None, reason="bfcl-eval, which ships the functions, is not installed"
)

_TYPES = {
    "any": None, "array": "array", "arraylist": "array", "bigint": "integer", "bool": "boolean",
    "boolean": "boolean", "byte": "integer", "char": "string", "dict": "object",
    "double": "number", "float": "number", "hashmap": "object", "hashtable": "object",
    "int": "integer", "integer": "integer", "list": "array", "long": "integer",
    "object": "object", "queue": "array", "short": "integer", "stack": "array",
    "string": "string", "tuple": "array",
}  # fmt: skip


def _schema(written: Any) -> Any:
    """JSON Schema in place of the data's own type names."""
    if not isinstance(written, dict):
        return written
    out: dict[str, Any] = {}
    for key, value in written.items():
        if key == "type":
            named = _TYPES.get(value.lower(), value)
            out.update({"type": named} if named else {})
        elif key == "properties":
            out[key] = {name: _schema(item) for name, item in value.items()}
        elif key in ("items", "additionalProperties"):
            out[key] = _schema(value)
        elif not isinstance(value, bool) and value != []:
            out[key] = value
    return out


@cache
def public_functions() -> list[dict[str, Any]]:
    """All functions of the data, each once, under a name of its own."""
    assert _SPEC is not None
    assert _SPEC.origin is not None
    found: dict[str, dict[str, Any]] = {}
    for file in sorted((Path(_SPEC.origin).parent / "data").glob("*.json")):
        for line in file.read_text().splitlines():
            for function in json.loads(line).get("function", ()) if '"function":' in line else ():
                found.setdefault(json.dumps(function, sort_keys=True), function)
    return [
        {
            "name": f"{function['name']}.{number}",
            "description": function.get("description", ""),
            "parameters": _schema(function["parameters"]),
        }
        for number, function in enumerate(found.values())
    ]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("wire", WIRES)
def test_every_function_on_every_wire(wire: str, strict: bool) -> None:
    """Legal names, legal schemas, nothing lost without a word."""
    written = public_functions()
    assert len(written) > 2000
    before = json.dumps(written)
    rules = WIRES[wire]
    native = 0
    for start in range(0, len(written), 20):
        functions = normalize_functions(written[start : start + 20])
        prepared = prepare_functions(functions, rules, strict=strict)
        assert len(prepared.by_wire_name) == len(functions.definitions)
        for item in prepared.items:
            native += item.strict
            check = STRICT_RULES[wire] if item.strict else PLAIN_RULES[wire]
            assert check(item.schema) == [], item.definition
            if strict and rules.strict is not None and not item.strict:
                assert item.validate
                assert item.warnings[0].code == "strict_unavailable"
            if not item.strict and wire not in ("gemini", "openapi", "ollama"):
                assert item.schema is not None
                assert subset_rules.every(item.schema) == []
    assert json.dumps(written) == before
    assert (native > 500) is (strict and rules.strict is not None)
