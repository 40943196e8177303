"""Recorded conversations on Claude's two wires, rebuilt turn by turn through decoder and encoder."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.anthropic_and_bedrock import decoded, make_call, plan_of, sent, target_of
from recordings.reading import Record, params

from llm_tools.content import Message, OutputResultImage, OutputResultText

Block = dict[str, Any]
HOSTS = {
    "anthropic": ("anthropic.messages", "claude-haiku-4-5"),
    "amazon:anthropic": ("bedrock.invoke", "anthropic.claude-3-haiku-20240307-v1:0"),
    "amazon": ("bedrock.converse", None),
}


def recorded(host: str) -> list[Any]:
    """The conversations with calls of one host's file that Claude's dialects speak."""
    tag = "m_anthropic" if host == "amazon:anthropic" else "tool_result"
    return [
        pytest.param(host, *param.values, id=param.id, marks=param.marks)
        for param in params(HOSTS[host][0], tag=tag)
        if param.values[0] is None or _was_taken(param.values[0])
    ]


def _was_taken(record: Record) -> bool:
    return record.status == 200 and "tool_result" in record.tags


@pytest.mark.parametrize(("host", "record"), [case for host in HOSTS for case in recorded(host)])
def test_recorded_conversation_is_rebuilt(host: str, record: Record) -> None:
    """Ids, signatures, reasoning, arguments and results go out as the provider took them."""
    request = record.request
    wanted = _joined([_plain(message) for message in request["messages"]])
    target = target_of(host, record.model or HOSTS[host][1])
    plan = plan_of(target)
    messages: list[Message] = []
    names: dict[str, str] = {}
    for message in wanted:
        if message["role"] == "assistant":
            result = decoded(plan, _as_answer(host, message["content"]))
            names |= {call.function_id: call.name for call in result.function_calls}
            messages.append(Message(role="assistant", content=result.content))
        else:
            messages += _neutral(message["content"], names)
    call = make_call(messages, functions=_functions(request))
    rebuilt = sent(target.dialect.encode(target, call))["messages"]
    assert [_plain(message) for message in rebuilt] == wanted


def _as_answer(host: str, blocks: list[Block]) -> Any:
    if host == "amazon":
        return {"output": {"message": {"role": "assistant", "content": blocks}}}
    return {"type": "message", "content": blocks}


def _functions(request: Any) -> Any:
    """The declared functions, by name alone."""
    tools = request.get("tools") or request["toolConfig"]["tools"]
    specs = [tool.get("toolSpec", tool) for tool in tools if "systemTool" not in tool]
    return [{"name": spec["name"]} for spec in specs if "name" in spec]


def _neutral(blocks: list[Block], names: dict[str, str]) -> list[Message]:
    """A user turn as messages."""
    messages: list[Message] = []
    parts: list[Any] = []
    for block in blocks:
        match block:
            case {"type": "tool_result", "tool_use_id": call, **rest}:
                messages.append(_result(call, names, rest["content"], rest.get("is_error", False)))
            case {"toolResult": {"toolUseId": call, "content": content, **rest}}:
                messages.append(_result(call, names, content, rest.get("status") == "error"))
            case _:
                parts.append(_part(block))
    return [*messages, Message(role="user", content=tuple(parts))] if parts else messages


def _result(call: str, names: dict[str, str], content: Any, is_error: bool) -> Message:
    value = content if isinstance(content, str) else tuple(map(_part, content)) or ""
    return Message(
        role="function", name=names[call], function_id=call, content=value, is_error=is_error
    )


def _part(block: Block) -> Any:
    match block:
        case {"text": text}:
            return OutputResultText(text=text)
        case {"source": {"type": "base64", "data": data, "media_type": media_type}}:
            return OutputResultImage(data=data, media_type=media_type)
        case {"source": {"type": "url", "url": url}}:
            return OutputResultImage(url=url)
        case {"image": {"format": kind, "source": {"bytes": data}}}:
            return OutputResultImage(data=data, media_type=f"image/{kind}")
    raise AssertionError(block)


# ---------------------------------------------------------------- equal forms made one


def _joined(messages: list[Block]) -> list[Block]:
    """Messages of one role in a row are one to the provider."""
    joined: list[Block] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"] += message["content"]
        else:
            joined.append(message)
    return joined


def _plain(message: Block) -> Block:
    """A message without what says nothing, in the one of several equal spellings."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": message["role"], "content": [_plain_block(b) for b in blocks if _said(b)]}


def _said(block: Block) -> bool:
    """Not a cache mark, nor an input this library has no part for (uploaded files, documents)."""
    return not block.keys() & {"cachePoint", "file_id", "document"}


def _plain_block(block: Block) -> Block:
    block = {key: value for key, value in block.items() if key != "cache_control"}
    match block:
        case {"type": "tool_result"}:
            content = block.get("content", [])
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            kept = [part for part in parts if part.get("source", {}).get("type") != "file"]
            return {
                "type": "tool_result",
                "tool_use_id": block["tool_use_id"],
                "content": kept,
                "is_error": block.get("is_error", False),
            }
        case {"toolResult": {"type": str()}}:
            return block
        case {"toolResult": result}:
            content = [_as_text(part) for part in result["content"] if _said(part)]
            content = content or [{"text": "(no output)"}]
            return {"toolResult": {"status": "success", **result, "content": content}}
    return block


def _as_text(part: Block) -> Block:
    """JSON in a result and the same JSON as text say the same."""
    if "json" not in part:
        return part
    value = part["json"]
    if isinstance(value, str):
        return {"text": value}
    return {"text": json.dumps(value, separators=(",", ":"), ensure_ascii=False)}
