"""Reading the Chat Completions wire in all its hosts' spellings."""

from __future__ import annotations

from typing import Any

from recordings.reading import Call, Reading, Record, Usage, sse_payloads


def read(record: Record) -> Reading:
    """What the exchange says."""
    if record.stream is not None:
        return _read_stream(record.stream)
    body = record.body
    choices = body.get("choices")
    if body.get("error") or not choices:
        return Reading(broken=True)
    message, reading = choices[0]["message"], Reading(usage=_usage(body.get("usage")))
    _read_message(message, reading)
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        reading.calls.append(Call(function["name"], function.get("arguments"), call.get("id")))
    _read_finish(choices[0], reading)
    return reading


def _read_stream(stream: bytes) -> Reading:
    reading, slots = Reading(), dict[Any, Call]()
    ended = b"data: [DONE]" in stream or b"data:[DONE]" in stream
    for chunk in sse_payloads(stream):
        if chunk.get("error"):
            reading.broken = True
        if chunk.get("usage"):
            reading.usage = _usage(chunk["usage"])
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            _read_message(delta, reading)
            for piece in delta.get("tool_calls") or []:
                _read_piece(piece, slots)
            if choice.get("finish_reason"):
                _read_finish(choice, reading)
                ended = True
            if choice.get("error"):
                reading.broken = True
    reading.calls = list(slots.values())
    reading.broken |= not ended
    return reading


def _read_piece(piece: dict[str, Any], slots: dict[Any, Call]) -> None:
    """A call's piece goes to its index, unless another id says that it is another call."""
    index, call_id = piece.get("index"), piece.get("id")
    function = piece.get("function") or {}
    at_index = [key for key in slots if key[0] == index]
    key = at_index[-1] if at_index else (index, call_id)
    if at_index and call_id and slots[key].id and slots[key].id != call_id:
        same = [other for other in at_index if slots[other].id == call_id]
        key = same[0] if same else (index, call_id)
    call = slots.setdefault(key, Call(arguments=""))
    call.id = call.id or call_id
    call.name = call.name or function.get("name") or ""
    arguments = function.get("arguments")
    call.arguments = (
        arguments if isinstance(arguments, dict) else call.arguments + (arguments or "")
    )


def _read_message(message: dict[str, Any], reading: Reading) -> None:
    content = message.get("content")
    if isinstance(content, str):
        reading.text += content
    for part in content if isinstance(content, list) else []:
        reading.text += part.get("text") or ""
        reading.reasoning |= part.get("type") == "thinking"
    reading.refusal += message.get("refusal") or ""
    spellings = (message.get("reasoning_content"), message.get("reasoning"))
    details = message.get("reasoning_details") or []
    reading.reasoning |= any(isinstance(text, str) and text for text in spellings)
    reading.reasoning |= any(part.get("text") or part.get("summary") for part in details)


def _read_finish(choice: dict[str, Any], reading: Reading) -> None:
    reading.finish = choice.get("finish_reason") or None
    reading.cut = reading.finish in ("length", "model_length")


def _usage(usage: Any) -> Usage | None:
    if not usage:
        return None
    received = usage.get("prompt_tokens_details") or {}
    made = usage.get("completion_tokens_details") or {}
    output = usage.get("completion_tokens") or 0
    reasoning = made.get("reasoning_tokens") or usage.get("reasoning_tokens") or 0
    total = usage.get("total_tokens") or 0
    return Usage(
        input=usage["prompt_tokens"],
        output=max(output, total - usage["prompt_tokens"]),  # some count reasoning beside it
        cached=received.get("cached_tokens")
        or usage.get("prompt_cache_hit_tokens")
        or usage.get("num_cached_tokens")
        or 0,
        written=received.get("cache_write_tokens") or 0,
        reasoning=reasoning,
    )
