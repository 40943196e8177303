"""Reading Anthropic's Messages wire, also where AWS wraps its events."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from recordings.reading import Call, Reading, Record, Usage, aws_payloads, sse_payloads


def read(record: Record) -> Reading:
    """What the exchange says."""
    if record.stream is None:
        return _read_body(record.body)
    return _read_events(sse_payloads(record.stream))


def read_wrapped(record: Record) -> Reading:
    """What an exchange with Bedrock's InvokeModel says."""
    if record.stream is None:
        return _read_body(record.body)
    payloads = [payload for kind, payload in aws_payloads(record.stream) if kind == "chunk"]
    return _read_events(json.loads(base64.b64decode(payload["bytes"])) for payload in payloads)


def _read_body(body: dict[str, Any]) -> Reading:
    if body.get("error"):
        return Reading(broken=True)
    reading = Reading(usage=_usage(body["usage"]), finish=body["stop_reason"])
    for block in body["content"]:
        if block["type"] == "text":
            reading.text += block["text"]
        elif block["type"] == "thinking":
            reading.reasoning |= bool(block["thinking"])
        elif block["type"] == "tool_use":
            reading.calls.append(Call(block["name"], block["input"], block["id"]))
    reading.cut = reading.finish in ("max_tokens", "model_context_window_exceeded")
    return reading


def _read_events(events: Iterable[dict[str, Any]]) -> Reading:
    reading, usage, calls, ended = Reading(), dict[str, Any](), dict[int, Call](), False
    for event in events:
        match event["type"]:
            case "message_start":
                usage |= event["message"]["usage"]
            case "content_block_start":
                block = event["content_block"]
                if block["type"] == "tool_use":
                    calls[event["index"]] = Call(block["name"], "", block["id"])
                elif block["type"] == "text":
                    reading.text += block["text"]
            case "content_block_delta":
                delta = event["delta"]
                reading.text += delta.get("text", "")
                reading.reasoning |= bool(delta.get("thinking"))
                if delta["type"] == "input_json_delta" and event["index"] in calls:
                    calls[event["index"]].arguments += delta["partial_json"]
            case "message_delta":
                usage |= {key: value for key, value in event["usage"].items() if value is not None}
                reading.finish = event["delta"].get("stop_reason")
            case "message_stop":
                ended = True
            case "error":
                reading.broken = True
    reading.calls = [calls[index] for index in sorted(calls)]
    reading.usage = _usage(usage)
    reading.broken |= not ended
    reading.cut = reading.finish in ("max_tokens", "model_context_window_exceeded")
    return reading


def _usage(usage: dict[str, Any]) -> Usage:
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    return Usage(
        input=usage["input_tokens"] + cached + written,
        output=usage["output_tokens"],
        cached=cached,
        written=written,
        reasoning=(usage.get("output_tokens_details") or {}).get("thinking_tokens", 0),
    )
