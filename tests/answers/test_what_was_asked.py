"""What an answer is checked for, and what is mended on the way."""

from __future__ import annotations

import math
from typing import Any

import pytest

import llm_tools
from llm_tools import (
    ConfigurationError,
    ParserError,
    ScriptedTransport,
    StreamError,
    TextDelta,
    UnmetFunctionCallError,
    use_llm,
)
from llm_tools.testing import ScriptedResponse

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FUNCTION = {"name": "f", "description": "d"}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def llm_saying(message: dict[str, Any]) -> Any:
    wire = ScriptedTransport([answer(message)])
    return use_llm("openai.gpt-4o-mini", api_key="k", transport=wire)


async def test_a_fence_around_the_json_is_taken_off() -> None:
    """The text then fits the schema, and a warning says what was done."""
    llm = llm_saying({"content": '```json\n{"n": 1}\n```'})
    result = await llm.call("x", json_schema=SCHEMA)
    assert result.text == '{"n": 1}'
    assert [warning.code for warning in result.warnings] == ["output_unfenced"]


async def test_text_around_a_fence_is_no_answer_to_a_schema() -> None:
    """Only a fence that holds everything is taken off; the text stays as it came."""
    text = 'Here:\n```json\n{"n": 1}\n```'
    with pytest.raises(ParserError) as caught:
        await llm_saying({"content": text}).call("x", json_schema=SCHEMA)
    assert caught.value.text == text


async def test_a_made_up_function_does_not_meet_any() -> None:
    """A forced call is met by a function that was offered."""
    call = {"id": "c_1", "type": "function", "function": {"name": "made_up", "arguments": "{}"}}
    with pytest.raises(UnmetFunctionCallError) as caught:
        await llm_saying({"content": None, "tool_calls": [call]}).call(
            "x", functions=[FUNCTION], function_call="any"
        )
    assert caught.value.result.function_calls[0].name == "made_up"


@pytest.mark.parametrize("value", [math.nan, math.inf, [{"a": -math.inf}]])
def test_numbers_that_json_cannot_say_are_refused(value: Any) -> None:
    """They would go out as null without a word."""
    with pytest.raises(ConfigurationError, match="extra_body"):
        use_llm("openai.gpt-4o-mini", extra_body={"x": value})


async def test_a_stream_left_early_is_over() -> None:
    """What was read ahead is not told after the block."""
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    wire = ScriptedTransport([ScriptedResponse(chunks=[chunk * 3])])
    llm = use_llm("openai.gpt-4o-mini", api_key="k", transport=wire)
    async with llm.stream("x") as events:
        assert await anext(events) == TextDelta(text="a")
    with pytest.raises(StreamError):
        await anext(events)


def test_the_version_is_the_distribution_s() -> None:
    """`__version__` is looked up when it is asked for."""
    assert llm_tools.__version__.count(".") == 2
