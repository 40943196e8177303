"""Records of endpoints as people write them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from llm_tools import (
    ConfigurationError,
    create_openai_compatible_endpoint,
    register_endpoint,
    use_llm,
)

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"aliases": ["big"]}, r"Expected `object`, got `array` - at `\$\.aliases`"),
    ({"headers": ["x-region"]}, r"Expected `object`, got `array` - at `\$\.headers`"),
    ({"headers": {"x-region": 3}}, r"Expected `str`, got `int` - at `\$\.headers"),
    ({"body": [1]}, r"Expected `object`, got `array` - at `\$\.body`"),
    ({"quirks": ["parallel"]}, r"Expected `object`, got `array` - at `\$\.quirks`"),
    ({"per_model": {"big.*": {}}}, r"Expected `array`, got `object` - at `\$\.per_model`"),
    ({"base_url": 3}, r"Expected `str \| null`, got `int` - at `\$\.base_url`"),
    ({"key": None}, r"Expected `str`, got `null` - at `\$\.key`"),
]


@pytest.mark.parametrize(("fields", "told"), WRONG)
def test_a_field_of_the_wrong_shape_is_refused(fields: dict[str, Any], told: str) -> None:
    """A record that could only fail at its first call is refused, and the field is named."""
    whole: dict[str, Any] = {"key": "by-hand", "base_url": "https://acme.example/v1", **fields}
    with pytest.raises(ConfigurationError, match=told):
        register_endpoint(create_openai_compatible_endpoint(**whole))


def test_any_mapping_and_sequence_will_do() -> None:
    """What is a mapping without being a dict, or a list instead of a tuple, is taken."""
    per_model: Any = [("rocket-1.*", {"max_tokens": "max_completion_tokens"})]
    register_endpoint(
        create_openai_compatible_endpoint(
            key="by-hand",
            base_url="https://acme.example/v1",
            headers=MappingProxyType({"x-region": "moon"}),
            aliases=MappingProxyType({"big": "rocket-1-2026-01"}),
            per_model=per_model,
        )
    )
    request = use_llm("by-hand.big", max_tokens=5).build_request("Hi")
    assert request.headers["x-region"] == "moon"
    assert request.body["max_completion_tokens"] == 5
