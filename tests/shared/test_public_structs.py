"""What all public structs have in common, whatever their room."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import llm_tools
from llm_tools import ExecutionMetadata, create_openai_compatible_endpoint, list_endpoints

STRUCTS = [
    value
    for value in (getattr(llm_tools, name) for name in llm_tools.__all__)
    if isinstance(value, type) and issubclass(value, msgspec.Struct)
]


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_frozen_and_in_camel_case(kind: Any) -> None:
    """None can be changed, and none has underscores in its JSON."""
    assert kind.__struct_config__.frozen
    assert not [name for name in kind.__struct_encode_fields__ if "_" in name]


def as_json(value: Any) -> Any:
    """What a program that reads the JSON sees."""
    return msgspec.json.decode(msgspec.json.encode(value))


def test_what_is_read_elsewhere() -> None:
    """Records of endpoints and executions are spelled like messages and results."""
    info = as_json(list_endpoints()[0])
    assert (info["baseUrl"], info["apiKeyEnv"]) == ("https://api.openai.com/v1", ["OPENAI_API_KEY"])
    assert as_json(ExecutionMetadata(executor="e", trace_id="t"))["traceId"] == "t"
    endpoint = create_openai_compatible_endpoint(key="a", base_url="https://a.example/v1")
    record = as_json(endpoint)
    assert (record["baseUrl"], record["auth"]["tokenHeader"]) == ("https://a.example/v1", None)
