"""Answers of the Responses API."""

from __future__ import annotations

from itertools import groupby
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

ENDS = [
    {"status": "completed"},
    {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
]


@st.composite
def exchanges(draw: Draw, names: list[str]) -> Exchange:
    """Items of every kind; calls beside each other may overlap."""
    kinds = draw(st.lists(st.sampled_from(sorted(MAKERS)), max_size=5))
    items = [MAKERS[kind](draw, number, names) for number, kind in enumerate(kinds)]
    end = draw(st.sampled_from(ENDS))
    if end["status"] == "incomplete" and items and items[-1]["type"] == "function_call":
        items[-1]["status"] = "incomplete"
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1767225600,
        "model": "m-1",
        "output": items,
        "usage": draw(st.none() | st.builds(_usage, COUNTS, COUNTS, COUNTS)),
        **end,
    }
    events: list[Any] = []
    overlap = draw(st.booleans())
    for calls, group in groupby(enumerate(items), lambda one: one[1]["type"] == "function_call"):
        queues = [_events(draw, number, item) for number, item in group]
        if calls and overlap:
            events += [queue.pop(0) for queue in queues] + draw(woven(queues))
        else:
            events += [event for queue in queues for event in queue]
    sse = SseBytes(draw(SSE_STYLES))
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    _send(sse, {"type": "response.created", "response": started})
    _send(sse, {"type": "response.in_progress", "response": started})
    for event in events:
        _send(sse, event)
    _send(sse, {"type": f"response.{end['status']}", "response": response}, last=True)
    return Exchange(sse.data, as_json(response), sse.ends, {"x-request-id": "req_1"})


def _send(sse: SseBytes, event: Any, *, last: bool = False) -> None:
    sse.send(event, event=event["type"], last=last)


def _reasoning(draw: Draw, number: int, _: Any) -> Any:
    texts = draw(st.lists(TEXT, max_size=2))
    return {
        "type": "reasoning",
        "id": f"rs_{number}",
        "summary": [{"type": "summary_text", "text": text} for text in texts],
        "encrypted_content": "gAAA",
    }


def _message(draw: Draw, number: int, _: Any) -> Any:
    content: list[Any] = [
        {"type": "output_text", "text": draw(TEXT), "annotations": [], "logprobs": []}
    ]
    if draw(st.integers(0, 4)) == 0:
        content = [{"type": "refusal", "refusal": draw(TEXT)}]
    item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    return {**item, "content": content}


def _call(draw: Draw, number: int, names: list[str]) -> Any:
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": draw(st.sampled_from(names)),
        "arguments": draw(ARGUMENTS | ODD_ARGUMENTS | GLUED),
        "status": "completed",
    }


def _search(_draw: Draw, number: int, _: Any) -> Any:
    action = {"type": "search", "query": "x"}
    return {
        "type": "web_search_call",
        "id": f"ws_{number}",
        "status": "completed",
        "action": action,
    }


MAKERS: dict[str, Any] = {
    "reasoning": _reasoning,
    "message": _message,
    "call": _call,
    "search": _search,
}


def _events(draw: Draw, number: int, item: Any) -> list[Any]:
    """An item's own events, in order."""
    begun = {**item, "status": "in_progress"}
    place = {"output_index": number, "item_id": item["id"]}
    deltas: list[Any] = []
    match item["type"]:
        case "function_call":
            begun["arguments"] = ""
            kind = "response.function_call_arguments"
            deltas = [{"type": f"{kind}.delta", **place, "delta": p} for p in draw(cuts(item["arguments"]))]  # fmt: skip
            deltas.append({"type": f"{kind}.done", **place, "arguments": item["arguments"]})
        case "message":
            begun["content"] = []
            part = item["content"][0]
            kind, text = ("response.output_text", part.get("text"))
            if text is None:
                kind, text = "response.refusal", part["refusal"]
            deltas = [
                {"type": f"{kind}.delta", **place, "content_index": 0, "delta": piece}
                for piece in draw(cuts(text))
            ]
        case "reasoning":
            begun = {**item, "summary": [], "encrypted_content": "g"}
            kind = "response.reasoning_summary_text.delta"
            deltas = [
                {"type": kind, **place, "summary_index": section, "delta": piece}
                for section, part in enumerate(item["summary"])
                for piece in draw(cuts(part["text"]))
            ]
    added = {"type": "response.output_item.added", "output_index": number, "item": begun}
    done = {"type": "response.output_item.done", "output_index": number, "item": item}
    return [added, *deltas, done]


def _usage(given: int, made: int, cached: int) -> Any:
    return {
        "input_tokens": given + cached,
        "output_tokens": made,
        "total_tokens": given + cached + made,
        "input_tokens_details": {"cached_tokens": cached},
    }
