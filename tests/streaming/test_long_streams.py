"""A hundred thousand pieces cost a hundred thousand times one: what were quadratic would not end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streaming.reading import WIRES

from llm_tools.content import FunctionInputDelta, FunctionUseDone, FunctionUseStart, TextDelta
from llm_tools.spec import Frame

MANY = 100_000
PIECE = "x" * 50
Chunks = Iterator[tuple[str | None, Any]]


def chat(kind: str) -> Chunks:
    def chunk(delta: Any, reason: str | None = None) -> tuple[None, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return None, {"id": "c", "model": "m", "created": 1, "choices": [choice]}

    def piece(index: int, text: str, name: str | None = None) -> Any:
        told = {"id": f"c{index}", "function": {"name": name, "arguments": text}}
        return chunk({"tool_calls": [{"index": index, **(told if name else {"function": {"arguments": text}})}]})  # fmt: skip

    match kind:
        case "arguments":
            yield piece(0, '{"a": "', "ping")
            for _ in range(MANY):
                yield piece(0, PIECE)
            yield piece(0, '"}')
        case "text":
            for _ in range(MANY):
                yield chunk({"content": PIECE})
        case "calls":
            for index in range(MANY // 5):
                yield piece(index, '{"a": 1}', "ping")
        case "calls under one index":
            for number in range(MANY // 5):
                told = {"id": f"d{number}", "function": {"name": "ping", "arguments": '{"a": 1}'}}
                yield chunk({"tool_calls": [{"index": 0, **told}]})
        case "calls that all go on":
            yield piece(0, '{"a": "', "ping")
            for index in range(1, MANY // 5):
                yield piece(index, "{", "ping")
                yield piece(0, PIECE + "}")
            yield piece(0, '"}')
        case "choices":
            for index in range(MANY // 5):
                choice = {"index": MANY - index, "delta": {"content": "x"}}
                yield None, {"id": "c", "model": "m", "created": 1, "choices": [choice]}
    yield chunk({}, "tool_calls")


def responses(kind: str) -> Chunks:
    def item(index: int, arguments: str = "") -> Any:
        told = {"type": "function_call", "id": f"i{index}", "call_id": f"c{index}", "name": "ping"}
        return {**told, "arguments": arguments}

    def event(name: str, index: int, **rest: Any) -> tuple[str, Any]:
        return f"response.{name}", {"type": f"response.{name}", "output_index": index, **rest}

    match kind:
        case "arguments":
            yield event("output_item.added", 0, item=item(0))
            for piece in ('{"a": "', *[PIECE] * MANY, '"}'):
                yield event("function_call_arguments.delta", 0, item_id="i0", delta=piece)
        case "text":
            message = {"type": "message", "id": "m", "content": []}
            yield event("output_item.added", 0, item=message)
            for _ in range(MANY):
                yield event("output_text.delta", 0, item_id="m", delta=PIECE)
        case "calls that all go on":
            for index in range(MANY // 5):
                yield event("output_item.added", index, item=item(index))
        case "calls":
            for index in range(MANY // 5):
                yield event("output_item.added", index, item=item(index))
                yield event("output_item.done", index, item=item(index, '{"a": 1}'))
    yield "response.completed", {"type": "response.completed", "response": {"status": "completed"}}


def messages(kind: str) -> Chunks:
    def block(index: int, **block: Any) -> tuple[str, Any]:
        told = {"type": "content_block_start", "index": index, "content_block": block}
        return "content_block_start", told

    def delta(index: int, **delta: Any) -> tuple[str, Any]:
        return "content_block_delta", {
            "type": "content_block_delta",
            "index": index,
            "delta": delta,
        }

    match kind:
        case "arguments":
            yield block(0, type="tool_use", id="c0", name="ping", input={})
            for piece in ('{"a": "', *[PIECE] * MANY, '"}'):
                yield delta(0, type="input_json_delta", partial_json=piece)
        case "text":
            yield block(0, type="text", text="")
            for _ in range(MANY):
                yield delta(0, type="text_delta", text=PIECE)
        case "calls" | "calls that all go on":
            for index in range(MANY // 5):
                yield block(index, type="tool_use", id=f"c{index}", name="ping", input={"a": 1})
                if kind == "calls":
                    yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    yield "message_stop", {"type": "message_stop"}


def converse(kind: str) -> Chunks:
    def event(name: str, index: int, **payload: Any) -> tuple[str, Any]:
        return name, {"contentBlockIndex": index, **payload}

    def begun(index: int) -> tuple[str, Any]:
        told = {"toolUseId": f"c{index}", "name": "ping"}
        return event("contentBlockStart", index, start={"toolUse": told})

    match kind:
        case "arguments":
            yield begun(0)
            for piece in ('{"a": "', *[PIECE] * MANY, '"}'):
                yield event("contentBlockDelta", 0, delta={"toolUse": {"input": piece}})
        case "text":
            for _ in range(MANY):
                yield event("contentBlockDelta", 0, delta={"text": PIECE})
        case "calls" | "calls that all go on":
            for index in range(MANY // 5):
                yield begun(index)
                if kind == "calls":
                    yield event("contentBlockStop", index)
    yield "messageStop", {"stopReason": "tool_use"}


def gemini(kind: str) -> Chunks:
    def chunk(*parts: Any, **rest: Any) -> tuple[None, Any]:
        return None, {"candidates": [{"content": {"parts": list(parts)}, "index": 0, **rest}]}

    match kind:
        case "text":
            for _ in range(MANY):
                yield chunk({"text": PIECE})
        case "calls":
            for _ in range(MANY // 5):
                yield chunk({"functionCall": {"name": "ping", "args": {"a": 1}}})
        case "arguments":
            yield chunk({"functionCall": {"name": "ping", "willContinue": True}})
            for _ in range(MANY):
                one = {"jsonPath": "$.a", "stringValue": PIECE}
                yield chunk({"functionCall": {"partialArgs": [one], "willContinue": True}})
            yield chunk({"functionCall": {}})
    yield chunk(finishReason="STOP")


def ollama(kind: str) -> Chunks:
    def line(done: bool = False, **message: Any) -> tuple[None, Any]:
        return None, {"message": {"content": "", **message}, "done": done}

    match kind:
        case "text":
            for _ in range(MANY):
                yield line(content=PIECE)
        case "calls":
            for _ in range(MANY // 5):
                call = {"function": {"name": "ping", "arguments": {"a": 1}}}
                yield line(tool_calls=[call])
    yield line(True)


KINDS: list[tuple[str, Callable[[str], Chunks], tuple[str, ...]]] = [
    ("chat", chat, ("arguments", "text", "calls", "calls under one index", "calls that all go on",
                    "choices")),
    ("responses", responses, ("arguments", "text", "calls", "calls that all go on")),
    ("messages", messages, ("arguments", "text", "calls", "calls that all go on")),
    ("converse", converse, ("arguments", "text", "calls", "calls that all go on")),
    ("vertex, partial", gemini, ("arguments", "text", "calls")),
    ("ollama", ollama, ("text", "calls")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "make", "kind"),
    [
        pytest.param(wire, make, kind, id=f"{wire}: {kind}")
        for wire, make, kinds in KINDS
        for kind in kinds
    ],
)
def test_no_step_looks_back(wire: str, make: Callable[[str], Chunks], kind: str) -> None:
    """Everything told is in the result, however long the stream was."""
    plan = WIRES[wire].plan
    decoder = plan.target.dialect.open_stream(plan, {})
    counts: dict[type, int] = {}
    for name, payload in make(kind):
        for event in decoder.feed(Frame(name, json.dumps(payload).encode())):
            counts[type(event)] = counts.get(type(event), 0) + 1
    result = decoder.close()
    match kind:
        case "text":
            assert counts[TextDelta] == MANY
            assert len(result.text) == MANY * len(PIECE)
        case "arguments":
            assert result.function_calls[0].input == {"a": PIECE * MANY}
            assert counts[FunctionInputDelta] == (1 if "vertex" in wire else MANY + 2)
        case "choices":
            assert len(result.options) == MANY // 5
        case _:
            assert len(result.function_calls) == counts[FunctionUseStart] == MANY // 5
            assert counts[FunctionUseDone] == MANY // 5
