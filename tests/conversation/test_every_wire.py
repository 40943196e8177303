"""Whatever a dialogue holds, the request built from it is legal on every wire, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from llm_tools.content import (
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from llm_tools.dialogue import Dialogue, create_dialogue
from llm_tools.errors import ConfigurationError, UnsupportedOptionError
from llm_tools.llm import use_llm

_ids = st.sampled_from(["c1", "c2", "call_2", "toolu_x", "an id, illegal", ""])
_names = st.sampled_from(["f", "g", "no legal.name"])
_texts = st.sampled_from(["text", "", " ", "\n", "é\x00"])
_json = st.sampled_from([None, "", 0, [1], {"a": {"b": None}}, "text", True, 1.5])
_metadata = st.none() | st.dictionaries(
    st.sampled_from(["openai", "anthropic", "google", "elsewhere"]),
    st.dictionaries(st.sampled_from(["signature", "x"]), st.text(max_size=3), max_size=2),
    max_size=2,
)
_text = st.builds(OutputResultText, text=_texts, provider_metadata=_metadata)
_use = st.builds(
    OutputResultFunctionUse,
    name=_names,
    input=st.sampled_from([{}, {"q": "é"}, {"deep": {"list": [1, None]}}]),
    function_id=_ids,
    input_error=st.none() | st.just("bad"),
    provider_metadata=_metadata,
)
_parts = st.one_of(
    _text,
    _use,
    st.builds(OutputResultReasoning, text=_texts, provider_metadata=_metadata),
    st.builds(OutputResultRefusal, text=st.just("no")),
)
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


def check_chat(body: Any) -> None:
    """Tool messages right after their assistant message, one for each call, in order."""
    waiting: list[str] = []
    used: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert message["content"] is not None
            continue
        assert waiting == []
        if message["role"] == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            assert len(set(waiting)) == len(waiting)
            assert not used & set(waiting)
            used |= set(waiting)
            assert waiting or message.get("content") or message.get("refusal")
        else:
            assert isinstance(message["content"], str | list)
    assert waiting == []


def check_responses(body: Any) -> None:
    """Every call has its output, after it, and each id is used once."""
    items = body["input"]
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert outputs == calls
    assert len(set(calls)) == len(calls)


def check_anthropic(body: Any) -> None:
    """Roles alternate from user on, results come first and match, no blank text."""
    waiting: list[str] = []
    for position, message in enumerate(body["messages"]):
        assert message["role"] == ("user", "assistant")[position % 2]
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == waiting
        assert [block["type"] for block in blocks[: len(results)]] == ["tool_result"] * len(results)
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert waiting == []


def check_converse(body: Any) -> None:
    """The same rules in Converse's words."""
    waiting: list[str] = []
    for position, message in enumerate(body["messages"]):
        assert message["role"] == ("user", "assistant")[position % 2]
        blocks = message["content"]
        assert blocks
        results = [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
        assert results == waiting
        assert all("toolResult" in block for block in blocks[: len(results)])
        assert all(block["text"].strip() for block in blocks if "text" in block)
        waiting = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
    assert waiting == []


def check_gemini(body: Any) -> None:
    """Roles alternate from user on; as many responses as calls, under the same names."""
    waiting: list[str] = []
    for position, content in enumerate(body["contents"]):
        assert content["role"] == ("user", "model")[position % 2]
        parts = content["parts"]
        assert parts
        answers = [p["functionResponse"] for p in parts if "functionResponse" in p]
        assert [answer["name"] for answer in answers] == waiting
        assert all(isinstance(answer["response"], dict) for answer in answers)
        waiting = [p["functionCall"]["name"] for p in parts if "functionCall" in p]
    assert waiting == []


def check_ollama(body: Any) -> None:
    """As many tool messages as calls, right after them, under the same names."""
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_name"] == waiting.pop(0)
            continue
        assert waiting == []
        waiting = [call["function"]["name"] for call in message.get("tool_calls", ())]
    assert waiting == []


WIRES: dict[str, tuple[dict[str, Any], Callable[[Any], None]]] = {
    "openai.chat.v1": ({"model": "gpt-4o-mini"}, check_chat),
    "mistral.chat.v1": ({"model": "mistral-large-latest"}, check_chat),
    "deepseek.chat.v1": ({"model": "deepseek-chat"}, check_chat),
    "openai.responses.v1": ({"model": "gpt-5"}, check_responses),
    "anthropic.chat.v1": ({"model": "claude-sonnet-4-5"}, check_anthropic),
    "amazon.converse.v1": (
        {"model": "anthropic.claude-sonnet-4-5", "region": "us-east-1"},
        check_converse,
    ),
    "google.chat.v1": ({"model": "gemini-2.5-flash"}, check_gemini),
    "ollama.chat.v1": ({"model": "llama3.2"}, check_ollama),
}


@pytest.mark.parametrize("key", WIRES)
@settings(max_examples=60)
@given(st.lists(_steps, max_size=8))
def test_any_dialogue_goes_out_legal_or_not_at_all(key: str, steps: list[tuple[Any, ...]]) -> None:
    """A body that keeps the wire's rules and is valid JSON, or a typed error before any I/O."""
    options, check = WIRES[key]
    dialogue = build(steps)
    before = dialogue.to_json()
    functions = [{"name": "f"}, {"name": "g"}]
    try:
        request = use_llm(key, **options).build_request(dialogue, functions=functions)
    except UnsupportedOptionError:
        assert '"type":"image"' in before  # a model that sees none
    except ConfigurationError:
        assert not asks_something(dialogue)
    else:
        check(msgspec.json.decode(msgspec.json.encode(request.body)))
    assert dialogue.to_json() == before


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
