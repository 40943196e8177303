"""A model's answer with places in it, filled from the input of the executor."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools import (
    DEFER,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultText,
    ParserError,
    PendingRun,
    ScriptedLlm,
    create_chat_prompt,
    create_llm_executor,
    create_llm_function_executor,
    create_parser,
    tool,
)

pytestmark = pytest.mark.anyio

ANSWER = "Dear {{ name }}, order {{ order }}: {{ secret.x }} {% if %}"
INPUT = {"name": "Ada {{ order }}", "order": 7, "secret": {"x": "hidden"}}
FILLED = "Dear Ada {{ order }}, order 7: {{ secret.x }} {% if %}"


@tool
def ping() -> str:
    """Ask whether it is there."""
    return "pong"


def made(make: Any, *answers: Any) -> Any:
    prompt = create_chat_prompt("Write to {{ name }}.").add_user_message("Go.")
    parser = create_parser("replace_string_template")
    return make(llm=ScriptedLlm(list(answers)), prompt=prompt, parser=parser)


@pytest.mark.parametrize("make", [create_llm_executor, create_llm_function_executor])
async def test_execute_fills_names_and_evaluates_nothing(make: Any) -> None:
    """Values are put in verbatim; whatever else looks like a template is the model's text."""
    assert await made(make, ANSWER).execute(INPUT) == FILLED


async def test_a_run_fills_its_last_answer() -> None:
    """Also when it waited for a decision in between."""
    call = [OutputResultFunctionUse(name="ping", input={}, function_id="c1")]
    executor = made(create_llm_function_executor, call, ANSWER)
    assert (await executor.run(INPUT, functions=[ping])).output == FILLED
    executor = made(create_llm_function_executor, call, ANSWER)
    waiting = await executor.run(INPUT, functions=[ping], approve=lambda _: DEFER)
    assert waiting.pending is not None
    assert (await executor.resume(waiting.pending, decisions={"c1": True})).output == FILLED


async def test_a_saved_run_has_forgotten_its_input() -> None:
    """It is not written down; the answer that asks for it is refused, with its text."""
    call = [OutputResultFunctionUse(name="ping", input={}, function_id="c1")]
    executor = made(create_llm_function_executor, call, ANSWER)
    waiting = await executor.run(INPUT, functions=[ping], approve=lambda _: DEFER)
    assert waiting.pending is not None
    loaded = PendingRun.from_json(waiting.pending.to_json())
    with pytest.raises(ParserError, match="asks for 'name', 'order'") as caught:
        await executor.resume(loaded, decisions={"c1": True}, functions=[ping])
    assert caught.value.text == ANSWER


async def test_a_name_the_input_lacks_is_refused() -> None:
    """With the text and the answer kept."""
    with pytest.raises(ParserError, match="'order'") as caught:
        await made(create_llm_executor, ANSWER).execute({"name": "Ada"})
    result = caught.value.result
    assert isinstance(result, OutputResult)
    assert result.content == (OutputResultText(text=ANSWER),)
