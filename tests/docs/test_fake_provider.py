"""The provider behind the snippets behaves like four real ones."""

from __future__ import annotations

from typing import Any

import pytest
from docs.fake_provider import FakeProvider

from llm_tools import (
    OverloadedError,
    create_chat_prompt,
    create_llm_function_executor,
    use_llm,
)

pytestmark = pytest.mark.anyio

MODELS = [
    "openai.gpt-4o-mini",
    "openai.gpt-5-pro",
    "anthropic.claude-sonnet-4-5",
    "google.gemini-2.5-flash",
]


PROMPT = create_chat_prompt().add_user_message("{{ input }}")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def say(word: str) -> str:
    """Say a word."""
    return word


@pytest.fixture(autouse=True)
def environment(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in provider.environment().items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("model", MODELS)
async def test_a_whole_run_ends_in_a_text_with_the_result(model: str) -> None:
    """A call with what the user said, its result, and a text that holds it, on every wire."""
    executor = create_llm_function_executor(llm=use_llm(model), prompt=PROMPT)
    done = await executor.run("Please add 17 and 25.", functions=[say, add], function_call="add")
    assert [(result.name, result.content) for result in done.results] == [("add", 42)]
    assert "42" in done.output
    assert done.turns == 2


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"function_call": {"names": ["add"]}}, "add"),
        ({"function_call": "any"}, "say"),
        ({}, "say"),
        ({"function_call": "none"}, None),
    ],
)
async def test_streamed_and_whole_answers_agree(
    model: str, options: dict[str, Any], name: str | None
) -> None:
    """The choice is obeyed, and the stream comes to the same answer."""
    llm = use_llm(model)
    whole = await llm.call("Say it in Paris.", functions=[say, add], **options)
    async with llm.stream("Say it in Paris.", functions=[say, add], **options) as events:
        async for _ in events:
            pass
    assert [call.name for call in whole.function_calls] == ([name] if name else [])
    assert [call.input for call in events.result.function_calls] == [
        call.input for call in whole.function_calls
    ]
    assert events.result.text == whole.text


@pytest.mark.parametrize("model", MODELS)
async def test_a_schema_is_obeyed(model: str) -> None:
    """The text is JSON of the schema, with what the user said."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    result = await use_llm(model).call("I live in Paris.", json_schema=schema)
    assert result.text == '{"city": "Paris"}'


@pytest.mark.parametrize("model", MODELS)
async def test_an_overloaded_model_says_so(model: str) -> None:
    """For the pages on what happens then."""
    with pytest.raises(OverloadedError):
        await use_llm(f"{model}-overloaded", max_attempts=1).call("Hello")
