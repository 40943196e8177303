"""Answers of Gemini: events or one array, calls whole or (on Vertex AI) in pieces."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
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
    "STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER",
]  # fmt: skip


@st.composite
def exchanges(
    draw: Draw, names: list[str], *, array: bool = False, partial: bool = False
) -> Exchange:
    """Parts of every kind; plain texts come in pieces."""
    kinds = draw(st.lists(st.sampled_from(sorted(MAKERS)), max_size=5))
    parts = [MAKERS[kind](draw, number, names) for number, kind in enumerate(kinds)]
    reason = draw(st.sampled_from(REASONS))
    head = {"modelVersion": "m-1", "responseId": "resp_1"}
    counts = {"promptTokenCount": draw(COUNTS), "candidatesTokenCount": draw(COUNTS)}
    content = {"role": "model", "parts": parts}
    candidate = {"content": content, "finishReason": reason, "index": 0}
    body = {**head, "candidates": [candidate], "usageMetadata": counts}
    chunks: list[Any] = []
    for part in parts:
        for piece in _pieces(draw, part, partial=partial):
            chunks.append({"content": {"role": "model", "parts": [piece]}, "index": 0})
    if chunks and draw(st.booleans()):
        chunks[-1]["finishReason"] = reason
    else:
        chunks.append({"finishReason": reason, "index": 0})
    whole = [{**head, "candidates": [one], "usageMetadata": counts} for one in chunks]
    headers = {"x-goog-request-id": "req_1"}
    if array:
        texts = [json.dumps(one) for one in whole]
        data = "[" + "\n,\r\n".join(texts) + "]"
        return Exchange(data.encode(), as_json(body), len(data.encode()) - 1, headers)
    sse = SseBytes(draw(SSE_STYLES))
    for number, one in enumerate(whole, 1):
        sse.send(one, last=number == len(whole))
    return Exchange(sse.data, as_json(body), sse.ends, headers)


def _text(draw: Draw, _number: int, _names: Any) -> Any:
    return {"text": draw(TEXT)}


def _thought(draw: Draw, _number: int, _names: Any) -> Any:
    return {"text": draw(TEXT), "thought": True}


def _signed(draw: Draw, _number: int, _names: Any) -> Any:
    return {"text": draw(TEXT | st.just("")), "thoughtSignature": "U0lH"}


def _call(draw: Draw, number: int, names: list[str]) -> Any:
    call = {"name": draw(st.sampled_from(names)), "args": draw(INPUTS)}
    part: dict[str, Any] = {"functionCall": call}
    if draw(st.booleans()):
        call["id"] = f"g_{number}"
    if draw(st.booleans()):
        part["thoughtSignature"] = "U0lH"
    return part


def _code(_draw: Draw, _number: int, _names: Any) -> Any:
    return {"executableCode": {"language": "PYTHON", "code": "1"}}


def _image(_draw: Draw, _number: int, _names: Any) -> Any:
    return {"inlineData": {"mimeType": "image/png", "data": "AA=="}}


MAKERS: dict[str, Any] = {
    "text": _text,
    "thought": _thought,
    "signed": _signed,
    "call": _call,
    "code": _code,
    "image": _image,
}


def _pieces(draw: Draw, part: Any, *, partial: bool) -> list[Any]:
    """The parts of a stream that make this one."""
    if "text" in part and "thoughtSignature" not in part:
        return [{**part, "text": piece} for piece in draw(cuts(part["text"]))]
    if partial and "functionCall" in part:
        return _partial_call(draw, part)
    return [part]


def _partial_call(draw: Draw, part: Any) -> list[Any]:
    """A call as Vertex AI streams it: its name, its scalars by their path, an empty end."""
    call = dict(part["functionCall"])
    args = call.pop("args")
    pieces = [
        piece for name, value in args.items() for piece in _paths(draw, f"$[{name!r}]", value)
    ]
    if not args or not all(map(_has_a_path, args.items())):
        return [part]
    parts: list[Any] = [{**part, "functionCall": {**call, "willContinue": True}}]
    parts += [{"functionCall": {"partialArgs": [one], "willContinue": True}} for one in pieces]
    return [*parts, {"functionCall": {}}]


def _has_a_path(member: tuple[str, Any]) -> bool:
    """Whether pieces can say this: no container, and a name that needs no escapes."""
    name, value = member
    return name.isalnum() and not isinstance(value, list | dict)


def _paths(draw: Draw, path: str, value: Any) -> list[Any]:
    match value:
        case str():
            pieces = draw(cuts(value)) or [""]
            last = len(pieces) - 1
            return [
                {"jsonPath": path, "stringValue": piece, "willContinue": number < last}
                for number, piece in enumerate(pieces)
            ]
        case bool():
            return [{"jsonPath": path, "boolValue": value}]
        case int():
            return [{"jsonPath": path, "numberValue": value}]
        case _:
            return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
