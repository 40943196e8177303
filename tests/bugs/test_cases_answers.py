"""Answers that other clients crashed on, or took for empty ones."""

from __future__ import annotations

from typing import Any

import pytest
from bugs.handed import answer, handed, items, load, scripted, streamed

from llm_tools import (
    ContentFilterError,
    LlmToolsError,
    RefusalError,
    ResponseDecodeError,
    create_chat_prompt,
    create_llm_function_executor,
    dispatch,
    guards,
)

TIME = {"name": "get_time", "parameters": {"type": "object", "properties": {"tz": {}}}}
TOOLS = [
    TIME,
    {"name": "wipe_cache"},
    {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
]
CALL = {
    "id": "c_1",
    "type": "function",
    "function": {"name": "get_time", "arguments": '{"tz":"CET"}'},
}
USE = {"type": "function_use", "name": "get_time", "input": {"tz": "CET"}, "functionId": "c_1"}


@handed
@pytest.mark.anyio
async def test_what_is_in_the_message_decides() -> None:
    """Not the reason the provider gives; and there are no empty text items."""
    bodies, expected = load("B19/bodies.json"), load("B19/expected.json")
    for name, content in expected["bodies.json"].items():
        result = await answer("openai_chat", bodies[name], functions=TOOLS)
        assert items(result) == content, name
        assert len(result.content) == len(content), name
        called = any(item["type"] == "function_use" for item in content)
        assert result.stop_reason == ("function_use" if called else "stop"), name
        assert guards.has_function_call(result) is called, name
    for name, called in expected["hasFunctionCall"].items():
        result = await answer("openai_chat", bodies[name], functions=TOOLS)
        assert guards.has_function_call(result.content) is called


@handed
@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 5, 1 << 20])
async def test_what_is_in_the_stream_decides(size: int) -> None:
    """The same, streamed in pieces."""
    raw = load("B19/stream_stop_with_call.sse.txt")
    expected = load("B19/expected.json")["stream_stop_with_call.sse.txt"]
    result = await streamed("openai_chat", raw, size=size, functions=TOOLS)
    assert items(result) == expected
    assert result.stop_reason == "function_use"


def chat(reason: Any, **message: Any) -> dict[str, Any]:
    """An answer of Chat Completions."""
    return {"id": "x", "choices": [{"index": 0, "finish_reason": reason, "message": message}]}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        chat("stop", content=None, tool_calls=[CALL]),
        chat("", content="", tool_calls=[CALL]),
        chat("eos", content="", tool_calls=[CALL]),
        chat("function_call", content=None, tool_calls=[CALL]),
        chat("tool_calls", content=[], tool_calls=[CALL]),
        chat("tool_calls", content=[{"type": "text", "text": ""}], tool_calls=[CALL]),
        chat("stop", role=None, content=None, tool_calls=[CALL], refusal=None),
        {"choices": [{"message": {"tool_calls": [CALL]}}]},
        {
            "choices": [
                {"message": {"function_call": None, "tool_calls": [{**CALL, "type": None}]}}
            ],
            "usage": None,
        },
    ],
    ids=str,
)
async def test_a_call_is_a_call_whatever_is_around_it(body: dict[str, Any]) -> None:
    """Odd reasons, missing keys, nulls and empty texts."""
    result = await answer("openai_chat", body, functions=TOOLS)
    assert items(result) == [USE]
    assert len(result.content) == 1
    assert result.stop_reason == "function_use"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        chat("tool_calls", content="Done.", tool_calls=[]),
        chat("tool_calls", content="Done."),
        chat("stop", content="Done.", tool_calls=None, function_call=None),
        chat(None, content=[{"type": "text", "text": "Done."}]),
        chat(
            "tool_calls", content=[{"type": "text", "text": "Do"}, {"type": "text", "text": "ne."}]
        ),
    ],
    ids=str,
)
async def test_text_is_text_whatever_the_reason(body: dict[str, Any]) -> None:
    """A reason that speaks of calls makes none."""
    result = await answer("openai_chat", body, functions=TOOLS)
    assert result.text == "Done."
    assert result.stop_reason == "stop"
    assert not guards.has_function_call(result)


@pytest.mark.anyio
async def test_other_wires_call_without_saying_so() -> None:
    """Gemini, Ollama, Converse and Claude: a call under the reason of plain text."""
    replies: dict[str, Any] = {
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {
                                "functionCall": {
                                    "id": "c_1",
                                    "name": "get_time",
                                    "args": {"tz": "CET"},
                                }
                            }
                        ]
                    },
                    "finishReason": "STOP",
                }
            ]
        },
        "ollama": {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c_1", "function": {"name": "get_time", "arguments": {"tz": "CET"}}}
                ],
            },
            "done": True,
            "done_reason": "stop",
        },
        "bedrock_converse": {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {
                            "toolUse": {
                                "toolUseId": "c_1",
                                "name": "get_time",
                                "input": {"tz": "CET"},
                            }
                        }
                    ],
                }
            },
            "stopReason": "end_turn",
        },
        "anthropic": {
            "id": "m",
            "stop_reason": "end_turn",
            "content": [
                {"type": "tool_use", "id": "c_1", "name": "get_time", "input": {"tz": "CET"}}
            ],
        },
    }
    for provider, reply in replies.items():
        result = await answer(provider, reply, functions=TOOLS)
        assert items(result) == [USE], provider
        assert result.stop_reason == "function_use", provider


# ---------------------------------------------------------------- Gemini without content


async def executed(provider: str, body: Any) -> Any:
    """What `execute` makes of an answer."""
    prompt = create_chat_prompt("Work.").add_user_message("{{ input }}")
    executor = create_llm_function_executor(llm=scripted(provider, body), prompt=prompt)
    return await executor.execute({"input": "Go"}, functions=TOOLS)


@handed
@pytest.mark.anyio
async def test_answers_without_usable_content() -> None:
    """The reason is named; a call that was marked malformed never runs."""
    bodies, expected = load("B20/bodies.json"), load("B20/expected.json")
    for name, reason in expected["typed_error_naming_reason"].items():
        await check_reason(bodies[name], reason, retry=reason in expected["retry_worth_trying"])
    result = await answer("gemini", bodies["malformed_with_parsed_call"], functions=TOOLS)
    (use,) = result.function_calls
    assert use.input_error
    (outcome,) = await dispatch(result, [])
    assert outcome.is_error
    empty = await answer("gemini", bodies["stop_but_no_parts"], functions=TOOLS)
    assert empty.content == ()
    assert [warning.code for warning in empty.warnings] == ["empty_answer"]
    with pytest.raises(ResponseDecodeError) as caught:
        await executed("gemini", bodies["stop_but_no_parts"])
    assert caught.value.retryable


async def check_reason(body: Any, reason: str, *, retry: bool) -> None:
    """`call` returns a result that names the reason, `execute` raises what fits it."""
    result = await answer("gemini", body, functions=TOOLS)
    assert result.provider_stop_reason == reason
    blocked = reason in ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")
    assert result.stop_reason == ("content_filter" if blocked else "error")
    if result.function_calls:
        return
    with pytest.raises(ContentFilterError if blocked else LlmToolsError) as caught:
        await executed("gemini", body)
    assert caught.value.retryable is (retry or not blocked)
    assert caught.value.result is not None
    if blocked:
        assert (caught.value.status, caught.value.code) == (200, reason)


@pytest.mark.anyio
@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"])
@pytest.mark.parametrize("shape", ["prompt", "prompt and empty list", "candidate", "no content"])
async def test_blocked_in_every_shape(reason: str, shape: str) -> None:
    """The prompt or the answer, with the content missing in every way."""
    body = {
        "prompt": {"promptFeedback": {"blockReason": reason}},
        "prompt and empty list": {"candidates": [], "promptFeedback": {"blockReason": reason}},
        "candidate": {"candidates": [{"finishReason": reason, "content": {"parts": []}}]},
        "no content": {"candidates": [{"finishReason": reason}]},
    }[shape]
    await check_reason(body, reason, retry=False)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "content", [None, {}, {"role": "model"}, {"parts": None}, {"role": "model", "parts": []}]
)
@pytest.mark.parametrize(
    "reason",
    [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "MISSING_THOUGHT_SIGNATURE",
        "TOO_MANY_TOOL_CALLS",
    ],
)
async def test_failed_calls_in_every_shape(reason: str, content: Any) -> None:
    """No content at all, or none in its parts."""
    await check_reason(
        {"candidates": [{"content": content, "finishReason": reason}]}, reason, retry=True
    )


@pytest.mark.anyio
async def test_answers_of_gemini_that_hold_nothing_at_all() -> None:
    """Empty objects and lists end in a result or a typed error, never in another."""
    for body in ({}, {"candidates": None}, {"candidates": []}, {"candidates": [{}]}):
        try:
            result = await answer("gemini", body, functions=TOOLS)
        except LlmToolsError:
            continue
        assert result.content == ()


@pytest.mark.anyio
async def test_refusals_are_told_apart_from_answers() -> None:
    """`call` returns them, `execute` raises `RefusalError` with the result."""
    refused = {
        "openai_chat": chat("stop", content=None, refusal="I cannot."),
        "anthropic": {"id": "m", "stop_reason": "refusal", "content": []},
    }
    for provider, body in refused.items():
        result = await answer(provider, body)
        assert result.stop_reason == "refusal"
        with pytest.raises(RefusalError) as caught:
            await executed(provider, body)
        assert caught.value.result is not None
