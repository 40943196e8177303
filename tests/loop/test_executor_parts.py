"""What an executor is made of, and what a scripted model says."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools import (
    ConfigurationError,
    OutputResultFunctionUse,
    OutputResultText,
    ScriptedLlm,
    create_llm_executor,
    create_llm_function_executor,
    create_prompt,
    fallback,
)

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
