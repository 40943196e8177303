"""Answers of Chat Completions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from streaming.wires.exchange import (
    ARGUMENTS,
    COUNTS,
    GLUED,
    ODD_ARGUMENTS,
    SSE_STYLES,
    TEXT,
    Draw,
    Exchange,
    SseBytes,
    as_json,
    cuts,
    woven,
)

HEAD = {"id": "chatcmpl-1", "created": 1767225600, "model": "m-1"}
REASONS = ["stop", "tool_calls", "length", "content_filter", "error", "weird"]
WAYS = ["usual", "repeating", "late id", "whole", "without index"]


@st.composite
def exchanges(draw: Draw, names: list[str]) -> Exchange:
    """Text, reasoning, a refusal and several calls, woven as the wire allows."""
    texts = {
        "reasoning_content": draw(st.none() | TEXT),
        "content": draw(st.none() | TEXT),
        "refusal": draw(st.sampled_from([None, None, "I cannot."])),
    }
    given = draw(st.sampled_from([True, True, False]))
    count = draw(st.integers(0, 3))
    odd = ODD_ARGUMENTS | GLUED if count == 1 else ODD_ARGUMENTS
    calls = [
        {
            **({"id": f"c_{number}"} if given else {}),
            "type": "function",
            "function": {
                "name": draw(st.sampled_from(names)),
                "arguments": draw(ARGUMENTS | odd),
            },
        }
        for number in range(count)
    ]
    way = draw(st.sampled_from(WAYS if given else WAYS[:1]))
    told = [_pieces(draw, number, call, way) for number, call in enumerate(calls)]
    if way == "without index":
        told = [[piece for pieces in told for piece in pieces]]
    said = [[{key: piece} for piece in draw(cuts(text))] for key, text in texts.items() if text]
    deltas = draw(woven([*said, *[[{"tool_calls": [one]} for one in pieces] for pieces in told]]))
    reason = draw(st.sampled_from(REASONS))
    usage = draw(st.none() | st.builds(_usage, COUNTS, COUNTS, COUNTS))
    message: dict[str, Any] = {"role": "assistant", **texts}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": reason}
    body = {**HEAD, "object": "chat.completion", "choices": [choice], "usage": usage}
    return _exchange(draw, deltas, reason, usage, as_json(body))


def _pieces(draw: Draw, number: int, call: Any, way: str) -> list[Any]:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    index = {} if way == "without index" else {"index": number}
    if way == "whole":
        return [{**index, **call}]
    fragments = draw(cuts(arguments))
    grown: list[Any] = [{**index, "function": {"arguments": piece}} for piece in fragments]
    if way == "repeating":
        for piece in grown:
            piece |= {"id": call["id"], "type": "function"}
            piece["function"]["name"] = name
    first = {**index, **call, "function": {"name": name, "arguments": ""}}
    if way == "late id" and grown:
        grown[0]["id"] = first.pop("id")
    return [first, *grown]


def _usage(given: int, made: int, cached: int) -> Any:
    return {
        "prompt_tokens": given + cached,
        "completion_tokens": made,
        "total_tokens": given + cached + made,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _exchange(draw: Draw, deltas: list[Any], reason: str, usage: Any, body: bytes) -> Exchange:
    sse = SseBytes(draw(SSE_STYLES))
    beside, done = draw(st.booleans()), draw(st.booleans())

    def chunk(delta: Any, reason: str | None = None, **rest: Any) -> Any:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return {**HEAD, "object": "chat.completion.chunk", "choices": choices, **rest}

    if draw(st.booleans()):
        sse.send({"id": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": []})
    sse.send(chunk({"role": "assistant", "content": ""}))
    for delta in deltas:
        sse.send(chunk(delta))
    if beside:
        sse.send(chunk({}, reason, usage=usage), last=True)
    else:
        sse.send(chunk({}, reason), last=True)
        if usage is not None:
            sse.send({**HEAD, "choices": [], "usage": usage})
    if done:
        sse.send("[DONE]")
    return Exchange(sse.data, body, sse.ends)
