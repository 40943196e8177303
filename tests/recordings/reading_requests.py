"""What a recorded request says of the conversation so far, read without the library's code.

Each reader turns a wire's body into `Said` in order. What a provider must see again as it came
(signatures, reasoning, opaque items) is `kept`, as canonical text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recordings.reading import arguments_value

# What senders put where a signature must be and none came; the second for the bytes in base64.
STAND_INS = ("skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=")


@dataclass
class Part:
    """One part of a model's turn, in order: a call, or what must come back as it was."""

    call: str = ""
    arguments: Any = None
    id: str | None = None
    kept: str = ""


@dataclass
class Said:
    """One turn.

    `role` is system, user, model or result; `wire` what the wire has for it: of a model's turn, all
    that an answer would hold.
    """

    role: str
    wire: Any
    text: str = ""
    parts: list[Part] = field(default_factory=list)
    id: str | None = None
    name: str | None = None
    failed: bool = False

    @property
    def calls(self) -> list[Part]:
        """The calls of a model's turn."""
        return [part for part in self.parts if part.call]


def kept(value: Any) -> str:
    """A value as text that is equal for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def text_of(content: Any) -> str:
    """All text in a content that may be a string, a part or a list of parts."""
    if isinstance(content, dict):
        return content.get("text") or ""
    return content if isinstance(content, str) else "".join(map(text_of, content or []))


# ---------------------------------------------------------------- Chat Completions, Ollama

_REASONING = ("reasoning_content", "reasoning", "thinking")


def chat(body: Any) -> list[Said]:
    """The Chat Completions wire in all its hosts' spellings, and Ollama's own."""
    said = [_chat_message(message) for message in body["messages"]]
    calls: list[Part] = []
    for turn in said:  # Ollama's results may go without ids, in the order of the calls
        calls = turn.calls or calls
        if turn.role == "result" and turn.id is None and calls:
            turn.id = calls.pop(0).id
    return said


def _chat_message(message: Any) -> Said:
    role, content = message["role"], message.get("content")
    if role == "tool":
        name = message.get("name") or message.get("tool_name")
        return Said("result", content, text_of(content), [], message.get("tool_call_id"), name)
    if role != "assistant":
        return Said("user" if role == "user" else "system", content, text_of(content))
    texts = {message[key]: None for key in _REASONING if message.get(key)}  # said twice by some
    opaque = [*texts, *(message.get("reasoning_details") or []), *_extras(message)]
    if isinstance(content, list):
        opaque += [chunk for chunk in content if chunk.get("type") == "thinking"]
    parts = [Part(kept=kept(item)) for item in opaque]
    for call in message.get("tool_calls") or []:
        function = call["function"]
        arguments = arguments_value(function.get("arguments"))
        parts += [Part(kept=kept(extra)) for extra in _extras(call)]
        parts.append(Part(function["name"], arguments, call.get("id")))
    return Said("model", message, text_of(content), parts)


def _extras(holder: Any) -> list[Any]:
    """Signatures of Gemini's compatible host."""
    extra = holder.get("extra_content")
    return [] if not extra or STAND_INS[0] in kept(extra) else [extra]


# ---------------------------------------------------------------- Responses

_NOT_THE_MODELS = ("function_call_output", "additional_tools")


def responses(body: Any) -> list[Said]:
    """The Responses wire; the items between two turns of others are one turn of the model."""
    source = body["input"]
    items = [{"role": "user", "content": source}] if isinstance(source, str) else source
    said: list[Said] = []
    for item in items:
        if item.get("type") == "function_call_output":
            output = item["output"]
            said.append(Said("result", output, text_of(output), [], item["call_id"]))
        elif item.get("type") in _NOT_THE_MODELS or item.get("role") in ("developer", "system"):
            said.append(Said("system", item.get("content"), text_of(item.get("content"))))
        elif item.get("role") == "user":
            said.append(Said("user", item["content"], text_of(item["content"])))
        else:
            if not said or said[-1].role != "model":
                said.append(Said("model", []))
            _add_item(said[-1], item)
    return said


def _add_item(turn: Said, item: Any) -> None:
    turn.wire.append(item)
    if item.get("role") == "assistant":
        turn.text += text_of(item["content"])
        if item.get("phase"):
            turn.parts.append(Part(kept=kept({"phase": item["phase"]})))
    elif item["type"] == "function_call":
        arguments = arguments_value(item["arguments"])
        turn.parts.append(Part(item["name"], arguments, item["call_id"]))
    elif item["type"] == "reasoning":
        turn.parts.append(Part(kept=kept(item.get("encrypted_content") or item["id"])))
    else:
        turn.parts.append(Part(kept=kept({"type": item["type"], "id": item.get("id")})))


# ---------------------------------------------------------------- Claude, Converse


def claude(body: Any) -> list[Said]:
    """Anthropic's Messages wire, on all its hosts."""
    return _in_blocks(body["messages"], _claude_block)


def converse(body: Any) -> list[Said]:
    """Bedrock's Converse wire."""
    return _in_blocks(body["messages"], _converse_block)


def _in_blocks(messages: list[Any], read: Callable[[Said, Any], None]) -> list[Said]:
    """Turns of blocks; those of one role in a row are one."""
    said: list[Said] = []
    for message in messages:
        role = {"assistant": "model"}.get(message["role"], "user")
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        turn = Said(role, [])
        for block in content:
            result = _result_block(block) if role == "user" else None
            if result is not None:
                said.append(result)
                continue
            turn.wire.append(block)
            turn.text += block["text"] if block.keys() & {"text"} else ""
            if role == "model":
                read(turn, block)
        if turn.wire:
            said.append(turn)
    return said


def _result_block(block: Any) -> Said | None:
    if block.get("type") == "tool_result":
        content, failed = block.get("content") or "", block.get("is_error", False)
        return Said("result", content, text_of(content), [], block["tool_use_id"], failed=failed)
    if "toolResult" in block:
        result = block["toolResult"]
        failed = result.get("status") == "error"
        texts = [kept(p["json"]) if "json" in p else text_of(p) for p in result["content"]]
        text = "".join(texts).replace("(no output)", "")  # stands where nothing may not
        return Said("result", result["content"], text, [], result["toolUseId"], failed=failed)
    return None


def _claude_block(turn: Said, block: Any) -> None:
    if block["type"] == "tool_use":
        turn.parts.append(Part(block["name"], block["input"], block["id"]))
    elif block["type"] != "text":
        turn.parts.append(Part(kept=kept(_without_marks(block))))


def _without_marks(block: Any) -> Any:
    return {key: value for key, value in block.items() if key != "cache_control"}


def _converse_block(turn: Said, block: Any) -> None:
    use = block.get("toolUse")
    if use is not None and use.get("type") != "server_tool_use":
        turn.parts.append(Part(use["name"], use["input"], use["toolUseId"]))
    elif "text" not in block and "cachePoint" not in block:
        turn.parts.append(Part(kept=kept(block)))


# ---------------------------------------------------------------- Gemini

_SNAKE = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "thought_signature": "thoughtSignature",
}


def gemini(body: Any) -> list[Said]:
    """Google's generateContent wire; models' turns in a row are one."""
    said: list[Said] = []
    for content in body["contents"]:
        parts = [{_SNAKE.get(key, key): value for key, value in part.items()}
                 for part in content["parts"]]  # fmt: skip
        model = content.get("role") == "model"
        if not (model and said and said[-1].role == "model"):
            said.append(Said("model" if model else "user", []))
        turn = said[-1]
        for part in parts:
            answer = part.get("functionResponse")
            if answer is not None:
                result = answer.get("response") or {}
                value = result.get("output") if "output" in result else result
                text = value if isinstance(value, str) else kept(value)
                said.insert(
                    len(said) - 1,
                    Said("result", answer, text, [], answer.get("id"), answer["name"],
                         "error" in result),
                )  # fmt: skip
                continue
            turn.wire.append(part)
            turn.text += "" if part.get("thought") else text_of(part)
            if model:
                _add_gemini_part(turn, part)
        if not turn.wire:
            said.pop()
    return _paired(said)


def _add_gemini_part(turn: Said, part: Any) -> None:
    signature = part.get("thoughtSignature")
    if signature is not None and signature not in STAND_INS:
        turn.parts.append(Part(kept=base64.urlsafe_b64encode(_bytes(signature)).decode()))
    call = part.get("functionCall")
    if call is not None:
        turn.parts.append(Part(call["name"], call.get("args") or {}, call.get("id")))


def _bytes(signature: str) -> bytes:
    """Senders spell base64 in two alphabets."""
    return base64.b64decode(signature.replace("-", "+").replace("_", "/") + "==")


def _paired(said: list[Said]) -> list[Said]:
    """Without ids a result belongs to the first open call of its name."""
    waiting: list[Part] = []
    for number, turn in enumerate(said):
        for place, call in enumerate(turn.calls):
            call.id = call.id or f"{number}.{place}"
        waiting = turn.calls or waiting
        if turn.role == "result":
            of_name = [call for call in waiting if call.call == turn.name]
            mine = next((call for call in of_name if call.id == turn.id), of_name[0])
            waiting = [call for call in waiting if call is not mine]
            turn.id = mine.id
    return said
