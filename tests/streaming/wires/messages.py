"""Answers of Anthropic's Messages API, as server-sent events and within AWS's frames."""

from __future__ import annotations

import base64
import json
from typing import Any

from hypothesis import strategies as st
from streaming.wires.aws import AwsBytes
from streaming.wires.exchange import (
    COUNTS,
    INPUTS,
    SSE_STYLES,
    TEXT,
    Draw,
    Exchange,
    SseBytes,
    as_json,
    cuts,
)

REASONS = [
    "end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal",
    "model_context_window_exceeded", "weird",
]  # fmt: skip


@st.composite
def exchanges(draw: Draw, names: list[str], *, framed: bool = False) -> Exchange:
    """Blocks of every kind, one after the other."""
    kinds = draw(st.lists(st.sampled_from(sorted(MAKERS)), max_size=5))
    blocks = [MAKERS[kind](draw, number, names) for number, kind in enumerate(kinds)]
    reason = draw(st.sampled_from(REASONS))
    made = draw(COUNTS)
    usage = {"input_tokens": draw(COUNTS), "cache_read_input_tokens": 3, "output_tokens": made}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    delta = {"stop_reason": reason, "stop_sequence": None}
    events: list[Any] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        events += _events(draw, index, block)
    events += [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": made}},
        {"type": "message_stop"},
    ]
    if framed:
        return _framed(draw, events, as_json(message))
    sse = SseBytes(draw(SSE_STYLES))
    for event in events:
        sse.send(event, event=event["type"], last=event["type"] == "message_stop")
    return Exchange(sse.data, as_json(message), sse.ends, {"request-id": "req_1"})


def _framed(draw: Draw, events: list[Any], body: bytes) -> Exchange:
    aws = AwsBytes()
    for event in events:
        inner = base64.b64encode(json.dumps(event).encode()).decode()
        padding = "abc"[: draw(st.integers(0, 3))]
        aws.send("chunk", {"bytes": inner, "p": padding}, last=event["type"] == "message_stop")
    return Exchange(aws.data, body, aws.ends, {"x-amzn-requestid": "req_1"})


def _text(draw: Draw, _number: int, _names: Any) -> Any:
    block = {"type": "text", "text": draw(TEXT)}
    if draw(st.integers(0, 4)) == 0:
        block["citations"] = [{"type": "char_location", "cited_text": "x"}]
    return block


def _thinking(draw: Draw, _number: int, _names: Any) -> Any:
    return {"type": "thinking", "thinking": draw(TEXT), "signature": "EqQB=="}


def _redacted(_draw: Draw, _number: int, _names: Any) -> Any:
    return {"type": "redacted_thinking", "data": "Emwk"}


def _call(draw: Draw, number: int, names: list[str]) -> Any:
    name = draw(st.sampled_from(names))
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": draw(INPUTS)}


def _search(draw: Draw, number: int, _names: Any) -> Any:
    given = {"query": draw(TEXT)}
    return {"type": "server_tool_use", "id": f"s_{number}", "name": "web_search", "input": given}


def _found(_draw: Draw, number: int, _names: Any) -> Any:
    return {"type": "web_search_tool_result", "tool_use_id": f"s_{number}", "content": []}


MAKERS: dict[str, Any] = {
    "text": _text,
    "thinking": _thinking,
    "redacted": _redacted,
    "call": _call,
    "search": _search,
    "found": _found,
}


def _events(draw: Draw, index: int, block: Any) -> list[Any]:
    """A block's own events."""
    begun, deltas = dict(block), []
    match block["type"]:
        case "text":
            begun = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in draw(cuts(block["text"]))]
            cited = block.get("citations", [])
            deltas += [{"type": "citations_delta", "citation": one} for one in cited]
            begun |= {"citations": []} if cited else {}
        case "thinking":
            begun = {"type": "thinking", "thinking": "", "signature": ""}
            pieces = draw(cuts(block["thinking"]))
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use" | "server_tool_use":
            begun["input"] = {}
            text = json.dumps(block["input"]) if block["input"] or draw(st.booleans()) else ""
            pieces = ["", *draw(cuts(text))]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *[{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas],
        {"type": "content_block_stop", "index": index},
    ]
