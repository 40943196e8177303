"""How four wires spell the same question and the same answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]

ID = "call_1"


@dataclass
class Asked:
    """A request, whatever the wire."""

    text: str = ""
    result: Any = None
    functions: dict[str, Body | None] = field(default_factory=dict)
    forced: str | None = None
    forbidden: bool = False
    schema: Body | None = None


@dataclass
class Answer:
    """A text, or a call."""

    text: str | None = None
    name: str = ""
    arguments: Any = None

    @property
    def json(self) -> str:
        """The arguments as text."""
        return json.dumps(self.arguments)


@dataclass
class Wire:
    """One wire."""

    read: Callable[[Body], Asked]
    whole: Callable[[Answer], Body]
    stream: Callable[[Answer], Iterator[bytes]]


def find(path: str) -> Wire | None:
    """The wire that is spoken at a path."""
    path = path.partition("?")[0]
    return next((wire for end, wire in _WIRES.items() if path.endswith(end)), None)


def is_stream(path: str, body: Body) -> bool:
    """Whether the answer is to come in pieces."""
    return bool(body.get("stream")) or ":streamGenerateContent" in path


def _sse(data: Body | str, event: str = "") -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {text}\n\n".encode()


def _typed(event: Body) -> bytes:
    return _sse(event, event["type"])


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join([part["text"] for part in content or () if "text" in part])


# ---------------------------------------------------------------- OpenAI Chat Completions


def _read_chat(body: Body) -> Asked:
    asked = Asked()
    for message in body["messages"]:
        if message["role"] == "user":
            asked.text, asked.result = _text_of(message["content"]), None
        elif message["role"] == "tool":
            asked.result = _text_of(message["content"])
    for item in body.get("tools", ()):
        asked.functions[item["function"]["name"]] = item["function"].get("parameters")
    choice = body.get("tool_choice")
    asked.forbidden = choice == "none"
    match choice:
        case {"function": {"name": name}}:
            asked.forced = name
        case {"allowed_tools": {"tools": [{"function": {"name": name}}, *_]}}:
            asked.forced = name
    asked.schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return asked


def _chat_message(said: Answer) -> Body:
    if said.text is not None:
        return {"role": "assistant", "content": said.text}
    call = {
        "id": ID,
        "type": "function",
        "function": {"name": said.name, "arguments": said.json},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _chat_end(said: Answer) -> str:
    return "stop" if said.text is not None else "tool_calls"


_CHAT = {"id": "chatcmpl-1", "created": 1, "model": "fake-model"}
_CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _write_chat(said: Answer) -> Body:
    choice = {"index": 0, "message": _chat_message(said), "finish_reason": _chat_end(said)}
    return {**_CHAT, "object": "chat.completion", "choices": [choice], "usage": _CHAT_USAGE}


def _stream_chat(said: Answer) -> Iterator[bytes]:
    head = {**_CHAT, "object": "chat.completion.chunk"}
    deltas: list[Body] = [{"role": "assistant", "content": ""}]
    if said.text is not None:
        deltas += [{"content": piece} for piece in _pieces(said.text)]
    else:
        function = {"name": said.name, "arguments": ""}
        start = {"index": 0, "id": ID, "type": "function", "function": function}
        deltas.append({"tool_calls": [start]})
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
            for piece in _pieces(said.json)
        ]
    for delta in deltas:
        yield _sse({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _sse({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _chat_end(said)}]})
    yield _sse({**head, "choices": [], "usage": _CHAT_USAGE})
    yield _sse("[DONE]")


# ---------------------------------------------------------------- OpenAI Responses


def _read_responses(body: Body) -> Asked:
    asked = Asked()
    for item in body["input"]:
        if item.get("role") == "user":
            asked.text, asked.result = _text_of(item["content"]), None
        elif item.get("type") == "function_call_output":
            asked.result = _text_of(item["output"])
    asked.functions = {item["name"]: item.get("parameters") for item in body.get("tools", ())}
    choice = body.get("tool_choice")
    asked.forbidden = choice == "none"
    match choice:
        case {"type": "function", "name": name} | {"tools": [{"name": name}, *_]}:
            asked.forced = name
    asked.schema = body.get("text", {}).get("format", {}).get("schema")
    return asked


def _response_item(said: Answer) -> Body:
    if said.text is not None:
        part = {"type": "output_text", "text": said.text, "annotations": []}
        return {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": ID,
        "name": said.name,
        "arguments": said.json,
        "status": "completed",
    }


def _write_responses(said: Answer) -> Body:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "fake-model",
        "status": "completed",
        "output": [_response_item(said)],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
    }


def _stream_responses(said: Answer) -> Iterator[bytes]:
    whole, item = _write_responses(said), _response_item(said)
    where = {"output_index": 0, "item_id": item["id"]}
    yield _typed({"type": "response.created", "response": {**whole, "output": []}})
    if said.text is not None:
        where["content_index"] = 0
        empty, kind, pieces = {**item, "content": []}, "output_text", _pieces(said.text)
    else:
        empty, kind = {**item, "arguments": ""}, "function_call_arguments"
        pieces = _pieces(said.json)
    yield _typed({"type": "response.output_item.added", "output_index": 0, "item": empty})
    for piece in pieces:
        yield _typed({"type": f"response.{kind}.delta", **where, "delta": piece})
    yield _typed({"type": "response.output_item.done", "output_index": 0, "item": item})
    yield _typed({"type": "response.completed", "response": whole})


# ---------------------------------------------------------------- Anthropic Messages


def _read_messages(body: Body) -> Asked:
    asked = Asked()
    for message in body["messages"]:
        content = message["content"]
        results = [
            part for part in content if not isinstance(part, str) and part["type"] == "tool_result"
        ]
        if message["role"] != "user":
            continue
        if results:
            asked.result = _text_of(results[-1].get("content"))
        else:
            asked.text, asked.result = _text_of(content), None
    asked.functions = {item["name"]: item.get("input_schema") for item in body.get("tools", ())}
    choice = body.get("tool_choice", {})
    asked.forced = choice.get("name")
    asked.forbidden = choice.get("type") == "none"
    asked.schema = body.get("output_config", {}).get("format", {}).get("schema")
    return asked


def _block(said: Answer) -> Body:
    if said.text is not None:
        return {"type": "text", "text": said.text}
    return {"type": "tool_use", "id": ID, "name": said.name, "input": said.arguments}


def _messages_end(said: Answer) -> str:
    return "end_turn" if said.text is not None else "tool_use"


def _write_messages(said: Answer) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake-model",
        "content": [_block(said)],
        "stop_reason": _messages_end(said),
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _stream_messages(said: Answer) -> Iterator[bytes]:
    empty = {**_write_messages(said), "content": [], "stop_reason": None}
    yield _typed({"type": "message_start", "message": empty})
    block = _block(said)
    block |= {"text": ""} if said.text is not None else {"input": {}}
    yield _typed({"type": "content_block_start", "index": 0, "content_block": block})
    for piece in _pieces(said.json if said.text is None else said.text):
        delta = (
            {"type": "input_json_delta", "partial_json": piece}
            if said.text is None
            else {"type": "text_delta", "text": piece}
        )
        yield _typed({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _typed({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": _messages_end(said)}
    yield _typed({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}})
    yield _typed({"type": "message_stop"})


# ---------------------------------------------------------------- Gemini


def _read_gemini(body: Body) -> Asked:
    asked = Asked()
    for message in body["contents"]:
        results = [
            part["functionResponse"] for part in message["parts"] if "functionResponse" in part
        ]
        if results:
            asked.result = json.dumps(results[-1]["response"])
        elif message["role"] == "user":
            asked.text, asked.result = _text_of(message["parts"]), None
    for group in body.get("tools", ()):
        for item in group["functionDeclarations"]:
            schema = item.get("parametersJsonSchema", item.get("parameters"))
            asked.functions[item["name"]] = schema
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    asked.forced = next(iter(config.get("allowedFunctionNames", ())), None)
    asked.forbidden = config.get("mode") == "NONE"
    asked.schema = body.get("generationConfig", {}).get("responseJsonSchema")
    return asked


def _write_gemini(said: Answer) -> Body:
    call = {"name": said.name, "args": said.arguments}
    part = {"text": said.text} if said.text is not None else {"functionCall": call}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 5,
            "totalTokenCount": 15,
        },
        "modelVersion": "fake-model",
        "responseId": "resp_1",
    }


def _stream_gemini(said: Answer) -> Iterator[bytes]:
    yield _sse(_write_gemini(said))


def _pieces(text: str) -> list[str]:
    return [text[start : start + 8] for start in range(0, len(text), 8)]


_GEMINI = Wire(_read_gemini, _write_gemini, _stream_gemini)
_WIRES = {
    "/chat/completions": Wire(_read_chat, _write_chat, _stream_chat),
    "/responses": Wire(_read_responses, _write_responses, _stream_responses),
    "/messages": Wire(_read_messages, _write_messages, _stream_messages),
    ":generateContent": _GEMINI,
    ":streamGenerateContent": _GEMINI,
}
