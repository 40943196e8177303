"""Whatever a dialogue holds, the request built from it is legal on every wire, or refused."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from conversation.bodies import complaints, said_in
from conversation.makers import MAKERS
from conversation.test_crossing_providers import answered
from conversation.test_rich_history import assert_answered
from hypothesis import given, settings, strategies as st
from matrix.scenes import Aim

from llm_tools import (
    ConfigurationError,
    Dialogue,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    UnsupportedOptionError,
    create_dialogue,
)

AIMS = [
    Aim("openai.chat.v1", "gpt-4o-mini"),
    Aim("azure.chat.v1", "gpt-4.1"),
    Aim("google:openai.chat.v1", "gemini-3-pro"),
    Aim("deepseek.chat.v1", "deepseek-v4-pro"),
    Aim("mistral.chat.v1", "mistral-large-latest"),
    Aim("groq.chat.v1", "openai/gpt-oss-120b"),
    Aim("openrouter.chat.v1", "z-ai/glm-5"),
    Aim("xai.chat.v1", "grok-4.7"),
    Aim("vllm.chat.v1", "qwen3"),
    Aim("local.chat.v1", "some-model"),
    Aim("openai.responses.v1", "gpt-5.6"),
    Aim("openai.responses.v1", "gpt-4o-mini"),
    Aim("xai.responses.v1", "grok-4.3"),
    Aim("deepseek.responses.v1", "deepseek-v4-flash"),
    Aim("anthropic.chat.v1", "claude-haiku-4-5"),
    Aim("anthropic.chat.v1", "claude-opus-5-5"),
    Aim("amazon:anthropic.chat.v1", "anthropic.claude-3-haiku-20240307-v1:0"),
    Aim("vertex:anthropic.chat.v1", "claude-haiku-4-5@20251001"),
    Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    Aim("amazon.converse.v1", "amazon.nova-pro-v1:0"),
    Aim("amazon.converse.v1", "mistral.mistral-large-2407-v1:0"),
    Aim("google.chat.v1", "gemini-3-pro"),
    Aim("google.chat.v1", "gemini-2.0-flash"),
    Aim("vertex.chat.v1", "gemini-3.8-flash"),
    Aim("ollama.chat.v1", "qwen3"),
]
FUNCTIONS = [{"name": "f"}, {"name": "no legal.name"}, {"name": "get_weather"}, {"name": "ping"}]

_ids = st.sampled_from(["c1", "c2", "call_2", "toolu_1", "g1", "an id, illegal", "é" * 70, ""])
_names = st.sampled_from(["f", "g", "no legal.name"])
_texts = st.sampled_from(["text", "", " ", "\n", "é\x00"])
_json = st.sampled_from([None, "", 0, [1], {"a": {"b": None}}, "text", True, 1.5])
_metadata = st.none() | st.just({"elsewhere": {"signature": "x", "item": {"id": 1}}})
_text = st.builds(OutputResultText, text=_texts, provider_metadata=_metadata)
_use = st.builds(
    OutputResultFunctionUse,
    name=_names,
    input=st.sampled_from([{}, {"q": "é"}, {"deep": {"list": [1, None]}}]),
    function_id=_ids,
    input_error=st.none() | st.just("bad"),
    provider_metadata=_metadata,
)
_hand_made = st.one_of(
    _text,
    _use,
    st.builds(OutputResultReasoning, text=_texts, provider_metadata=_metadata),
    st.builds(OutputResultRefusal, text=st.sampled_from(["no", ""])),
)
_real = st.sampled_from([part for m in MAKERS for part in anyio.run(answered, m).content])
_parts = _hand_made | _real
_image = st.just(OutputResultImage(data="aGk=", media_type="image/png"))
_steps = st.one_of(
    st.tuples(st.just("add_system_message"), _texts),
    st.tuples(st.just("add_user_message"), _texts | st.lists(_text | _image, max_size=3)),
    st.tuples(st.just("add_assistant_message"), _texts),
    st.tuples(st.just("add_from_output"), st.lists(_parts, max_size=4)),
    st.tuples(
        st.just("add_function_message"),
        _json | st.lists(_text | _image, max_size=2),
        _names,
        _ids,
        st.booleans(),
    ),
)


def build(steps: list[tuple[Any, ...]]) -> Dialogue:
    dialogue = create_dialogue()
    for method, *arguments in steps:
        getattr(dialogue, method)(*arguments)
    return dialogue


@st.composite
def cut_histories(draw: st.DrawFn) -> Dialogue:
    """Whole rounds of real answers, of which the user has thrown messages and parts away."""
    dialogue = create_dialogue().add_system_message("Be brief.").add_user_message("Go.")
    for maker in draw(st.lists(st.sampled_from(MAKERS), min_size=1, max_size=3)):
        result = anyio.run(answered, maker)
        keep = draw(st.lists(st.booleans(), min_size=len(result.content), max_size=9))
        parts = [part for part, kept in zip(result.content, keep, strict=False) if kept]
        dialogue.add_from_output(parts)
        for call in result.function_calls:
            dialogue.add_function_message("done", call.name, call.function_id)
        dialogue.add_user_message("Go on.")
    size = len(dialogue)
    keep = draw(st.lists(st.integers(0, 4).map(bool), min_size=size, max_size=size))
    return Dialogue("cut", [m for m, kept in zip(dialogue.history, keep, strict=True) if kept])


def check(aim: Aim, dialogue: Dialogue) -> None:
    """A body the vendor takes, with a result for every call; or a typed error before any I/O."""
    before = dialogue.to_json()
    try:
        body = aim.llm().build_request(dialogue, functions=FUNCTIONS).body
    except UnsupportedOptionError as error:
        assert_refusal(aim, dialogue, str(error))
    except ConfigurationError:
        assert not asks_something(dialogue)
    else:
        found = complaints(aim, body)
        if getattr(aim.llm().target.quirks, "prefill", False):
            found = [line for line in found if not line.startswith("turns of")]
        assert found == []
        assert_answered(said_in(aim, body))
    assert dialogue.to_json() == before


def assert_refusal(aim: Aim, dialogue: Dialogue, error: str) -> None:
    """What models refuse: images, and going on with their own turn."""
    if "assistant turn" in error:
        last = [m.role for m in dialogue.history if m.role in ("user", "assistant") and m.content]
        assert last[-1:] == ["assistant"] or not asks_something(dialogue)
    else:
        assert "image" in error
        assert '"type":"image"' in dialogue.to_json()


@pytest.mark.parametrize("aim", AIMS, ids=str)
@settings(max_examples=50, deadline=None)
@given(st.lists(_steps, max_size=8))
def test_any_dialogue_goes_out_legal_or_not_at_all(aim: Aim, steps: list[tuple[Any, ...]]) -> None:
    """Whatever was added, in whatever order."""
    check(aim, build(steps))


@pytest.mark.parametrize("aim", AIMS, ids=str)
@settings(max_examples=50, deadline=None)
@given(cut_histories())
def test_a_history_cut_anywhere_goes_out_legal(aim: Aim, dialogue: Dialogue) -> None:
    """Messages and parts of real rounds are missing: what is left still makes a request."""
    check(aim, dialogue)


def asks_something(dialogue: Dialogue) -> bool:
    """Whether there is anything a request could be made of: words of the user's, or a call."""
    for message in dialogue.history:
        content = message.content
        parts = [OutputResultText(text=content)] if isinstance(content, str) else content
        if message.role == "assistant":
            if any(isinstance(part, OutputResultFunctionUse) for part in parts):
                return True
        elif message.role == "user" and any(
            isinstance(part, OutputResultImage) or part.text.strip() for part in parts
        ):
            return True
    return False
