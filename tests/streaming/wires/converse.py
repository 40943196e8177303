"""Answers of Bedrock's Converse."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from streaming.wires.aws import AwsBytes
from streaming.wires.exchange import COUNTS, INPUTS, TEXT, Draw, Exchange, as_json, cuts

REASONS = [
    "end_turn", "tool_use", "max_tokens", "stop_sequence", "guardrail_intervened",
    "content_filtered", "malformed_tool_use", "weird",
]  # fmt: skip


@st.composite
def exchanges(draw: Draw, names: list[str]) -> Exchange:
    """Blocks of every kind, one after the other."""
    kinds = draw(st.lists(st.sampled_from(sorted(MAKERS)), max_size=5))
    blocks = [MAKERS[kind](draw, number, names) for number, kind in enumerate(kinds)]
    reason = draw(st.sampled_from(REASONS))
    counts = {"inputTokens": draw(COUNTS), "outputTokens": draw(COUNTS), "totalTokens": 1}
    body = {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": reason,
        "usage": counts,
        "metrics": {"latencyMs": 1},
    }
    aws = AwsBytes()
    aws.send("messageStart", {"role": "assistant", "p": "ab"})
    for index, block in enumerate(blocks):
        for event, payload in _events(draw, index, block):
            aws.send(event, {**payload, "contentBlockIndex": index, "p": "abcd"})
    aws.send("messageStop", {"stopReason": reason}, last=True)
    aws.send("metadata", {"usage": counts, "metrics": {"latencyMs": 1}})
    return Exchange(aws.data, as_json(body), aws.ends, {"x-amzn-requestid": "req_1"})


def _text(draw: Draw, _number: int, _names: Any) -> Any:
    return {"text": draw(TEXT)}


def _reasoning(draw: Draw, _number: int, _names: Any) -> Any:
    return {"reasoningContent": {"reasoningText": {"text": draw(TEXT), "signature": "EqQB=="}}}


def _redacted(_draw: Draw, _number: int, _names: Any) -> Any:
    return {"reasoningContent": {"redactedContent": "AAEC"}}


def _call(draw: Draw, number: int, names: list[str]) -> Any:
    name = draw(st.sampled_from(names))
    return {"toolUse": {"toolUseId": f"tooluse_{number}", "name": name, "input": draw(INPUTS)}}


MAKERS: dict[str, Any] = {
    "text": _text,
    "reasoning": _reasoning,
    "redacted": _redacted,
    "call": _call,
}


def _events(draw: Draw, _index: int, block: Any) -> list[tuple[str, Any]]:
    """A block's own events."""
    begun: list[tuple[str, Any]] = []
    match block:
        case {"toolUse": {"input": given, **rest}}:
            begun = [("contentBlockStart", {"start": {"toolUse": rest}})]
            text = json.dumps(given) if given or draw(st.booleans()) else ""
            deltas: list[Any] = [{"toolUse": {"input": piece}} for piece in draw(cuts(text))]
        case {"reasoningContent": {"reasoningText": thought}}:
            deltas = [
                {"reasoningContent": {"text": piece}} for piece in draw(cuts(thought["text"]))
            ]
            deltas.append({"reasoningContent": {"signature": thought["signature"]}})
        case {"reasoningContent": _}:
            deltas = [block]
        case _:
            deltas = [{"text": piece} for piece in draw(cuts(block["text"]))]
    grown = [("contentBlockDelta", {"delta": delta}) for delta in deltas]
    return [*begun, *grown, ("contentBlockStop", {})]
