"""Reading Google's generateContent wire."""

from __future__ import annotations

from typing import Any

from recordings.reading import Call, Reading, Record, Usage, sse_payloads


def read(record: Record) -> Reading:
    """What the exchange says; a stream is the sum of its chunks."""
    chunks = [record.body] if record.stream is None else list(sse_payloads(record.stream))
    reading = Reading()
    for chunk in chunks:
        if chunk.get("error"):
            reading.broken = True
        for candidate in (chunk.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or []:
                _read_part(part, reading)
            if "finishReason" in candidate:
                reason = candidate["finishReason"]
                reading.finish = {1: "STOP", 2: "MAX_TOKENS"}.get(reason, reason)
        if not chunk.get("candidates") and chunk.get("promptFeedback"):
            reading.finish = chunk["promptFeedback"].get("blockReason")
        if chunk.get("usageMetadata"):
            reading.usage = _usage(chunk["usageMetadata"])
    reading.broken |= reading.finish is None
    reading.cut = reading.finish in ("MAX_TOKENS", "CONTINUATION")
    return reading


def _read_part(part: dict[str, Any], reading: Reading) -> None:
    if part.get("thought"):
        reading.reasoning |= bool(part.get("text"))
    else:
        reading.text += part.get("text", "")
    call = part.get("functionCall")
    if call:
        reading.calls.append(Call(call["name"], call.get("args"), call.get("id")))


def _usage(usage: dict[str, Any]) -> Usage:
    thoughts = usage.get("thoughtsTokenCount", 0)
    return Usage(
        input=usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0),
        output=usage.get("candidatesTokenCount", 0) + thoughts,
        cached=usage.get("cachedContentTokenCount", 0),
        reasoning=thoughts,
    )
