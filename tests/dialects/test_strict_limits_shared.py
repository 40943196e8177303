"""Claude's limits for strict schemas hold for functions and output together."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools import use_llm


def with_optionals(count: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(count)}}


def is_strict(llm: Any, functions: list[dict[str, Any]], json_schema: Any) -> bool:
    request = llm.build_request(
        "hi", functions=functions, function_call_strict_input=True, json_schema=json_schema
    )
    unavailable = "strict_unavailable" in {warning.code for warning in request.warnings}
    tools = request.body.get("tools") or [
        tool["toolSpec"] for tool in request.body["toolConfig"]["tools"]
    ]
    assert unavailable is not tools[0].get("strict", False)
    return not unavailable


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("anthropic.claude-sonnet-4-6", {}),
        ("amazon.anthropic.claude-sonnet-4-6-v1:0", {"region": "us-east-1"}),
    ],
)
def test_a_strict_output_spends_what_functions_may_use(key: str, options: dict[str, str]) -> None:
    """15 optional properties fit alone, not beside an output of 15 more (24 are allowed)."""
    llm = use_llm(key, **options)
    functions = [{"name": "f", "description": "d", "parameters": with_optionals(15)}]
    assert is_strict(llm, functions, None)
    assert is_strict(llm, functions, with_optionals(5))
    assert not is_strict(llm, functions, with_optionals(15))
