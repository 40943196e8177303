"""Reading Bedrock's Converse wire."""

from __future__ import annotations

from typing import Any

from recordings.reading import Call, Reading, Record, Usage, aws_payloads


def read(record: Record) -> Reading:
    """What the exchange says."""
    if record.stream is not None:
        return _read_events(record.stream)
    body = record.body
    reading = Reading(usage=_usage(body["usage"]), finish=body["stopReason"])
    for block in body["output"]["message"]["content"]:
        reading.text += block.get("text", "")
        for part in (block.get("citationsContent") or {}).get("content", []):
            reading.text += part.get("text", "")
        thought = (block.get("reasoningContent") or {}).get("reasoningText") or {}
        reading.reasoning |= bool(thought.get("text"))
        use = block.get("toolUse")
        if use and use.get("type") != "server_tool_use":
            reading.calls.append(Call(use["name"], use["input"], use["toolUseId"]))
    reading.cut = reading.finish in ("max_tokens", "model_context_window_exceeded")
    return reading


def _read_events(stream: bytes) -> Reading:
    reading, calls, ended = Reading(), dict[int, Call](), False
    for kind, payload in aws_payloads(stream):
        match kind:
            case "contentBlockStart":
                use = payload["start"].get("toolUse")
                if use and use.get("type") != "server_tool_use":
                    index = payload["contentBlockIndex"]
                    calls[index] = Call(use["name"], "", use["toolUseId"])
            case "contentBlockDelta":
                _read_delta(payload, reading, calls)
            case "messageStop":
                reading.finish, ended = payload["stopReason"], True
            case "metadata":
                reading.usage = _usage(payload["usage"])
            case _ if kind.endswith("Exception"):
                reading.broken = True
    reading.calls = [calls[index] for index in sorted(calls)]
    reading.broken |= not ended
    reading.cut = reading.finish in ("max_tokens", "model_context_window_exceeded")
    return reading


def _read_delta(payload: dict[str, Any], reading: Reading, calls: dict[int, Call]) -> None:
    delta = payload["delta"]
    reading.text += delta.get("text", "")
    reading.reasoning |= bool((delta.get("reasoningContent") or {}).get("text"))
    call = calls.get(payload["contentBlockIndex"])
    if call is not None and "toolUse" in delta:
        call.arguments += delta["toolUse"]["input"]


def _usage(usage: dict[str, Any]) -> Usage:
    cached = usage.get("cacheReadInputTokens") or 0
    written = usage.get("cacheWriteInputTokens") or 0
    return Usage(
        input=usage["inputTokens"] + cached + written,
        output=usage["outputTokens"],
        cached=cached,
        written=written,
    )
