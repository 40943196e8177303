"""What an executor is made of, and what a scripted model says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import msgspec
import pytest

from llm_tools import (
    ConfigurationError,
    OutputResultFunctionUse,
    OutputResultText,
    ScriptedLlm,
    ScriptedTransport,
    create_llm_executor,
    create_llm_function_executor,
    create_prompt,
    fallback,
    tool,
    use_llm,
)
from llm_tools.testing import ScriptedResponse

MODEL_REFUSED = r"'openai\.gpt-4o-mini' is no model: pass use_llm\('openai\.gpt-4o-mini'\)\."


@pytest.mark.parametrize("create", [create_llm_executor, create_llm_function_executor])
def test_an_executor_refuses_the_key_of_a_model(create: Any) -> None:
    """A key instead of a model is refused at once, with the call that makes one."""
    with pytest.raises(ConfigurationError, match=MODEL_REFUSED):
        create(llm="openai.gpt-4o-mini", prompt="Hi")


def test_an_executor_refuses_the_kind_of_a_parser() -> None:
    """A parser's kind instead of a parser is refused at once, with the call that makes one."""
    wrong: Any = "json"
    with pytest.raises(ConfigurationError, match=r"pass create_parser\('json'\)\."):
        create_llm_executor(llm=ScriptedLlm(["Hi"]), prompt="Hi", parser=wrong)


def test_an_executor_refuses_what_only_resembles_a_parser() -> None:
    """A bare function is no parser, and the message names the maker."""
    wrong: Any = str.split
    with pytest.raises(ConfigurationError, match=r"is no parser: pass create_parser\(…\)\."):
        create_llm_executor(llm=ScriptedLlm(["Hi"]), prompt="Hi", parser=wrong)


def test_a_fallback_refuses_the_keys_of_models() -> None:
    """Of several models each has to be one; the message names the one that is not."""
    keys: Any = (ScriptedLlm(["Hi"]), "openai.gpt-4o-mini")
    with pytest.raises(ConfigurationError, match=MODEL_REFUSED):
        fallback(*keys)


def test_a_fallback_refuses_other_objects() -> None:
    """What has nothing to call is told what would have."""
    nothing: Any = 3
    with pytest.raises(ConfigurationError, match=r"3 is no model: pass what use_llm\(…\) gives\."):
        fallback(nothing)


def test_a_template_instead_of_a_kind_is_told_where_it_goes() -> None:
    """create_prompt takes the kind first, and says so."""
    template: Any = "Hi {{ name }}"
    with pytest.raises(ConfigurationError, match=r"create_prompt\('text', '…'\)"):
        create_prompt(template)


@pytest.mark.anyio
async def test_a_scripted_answer_may_hold_text_beside_calls() -> None:
    """In a list of parts, a string is a text part."""
    llm = ScriptedLlm([["I look.", {"type": "function_use", "name": "look", "input": {}}]])
    result = await llm.call("Where am I?", functions=[{"name": "look"}])
    text, call = result.content
    assert text == OutputResultText(text="I look.")
    assert isinstance(call, OutputResultFunctionUse)
    assert call.name == "look"
    assert result.stop_reason == "function_use"


@pytest.mark.anyio
async def test_an_early_start_can_be_watched_over_a_scripted_wire() -> None:
    """Chunks may wait: the first function runs while the rest of the answer is held back."""
    ran = anyio.Event()

    @tool
    async def look(place: str) -> str:
        """Look."""
        ran.set()
        return f"a wall in the {place}"

    async def answer() -> AsyncIterator[bytes]:
        yield _chunk(_call(0, "north"))
        yield _chunk(_call(1, "south"))
        await ran.wait()
        yield _chunk({}, "tool_calls") + b"data: [DONE]\n\n"

    end = _chunk({"content": "Walls."}) + _chunk({}, "stop") + b"data: [DONE]\n\n"
    as_events = {"content-type": "text/event-stream"}
    wire = ScriptedTransport(
        [
            ScriptedResponse(headers=as_events, chunks=answer()),
            ScriptedResponse(headers=as_events, chunks=[end]),
        ]
    )
    llm = use_llm("openai.gpt-4o-mini", transport=wire, api_key="not-a-key")
    executor = create_llm_function_executor(llm=llm, prompt="Look around.")
    with anyio.fail_after(30):
        done = await executor.run(functions=[look], start_early=True)
    assert [result.content for result in done.results] == [
        "a wall in the north",
        "a wall in the south",
    ]
    assert done.output == "Walls."


def _call(index: int, place: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": f'{{"place": "{place}"}}'}
    return {"tool_calls": [{"index": index, "id": f"call-{index}", "function": function}]}


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    event = {"id": "1", "model": "gpt-4o-mini", "created": 1, "choices": [choice]}
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
