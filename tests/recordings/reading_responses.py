"""Reading the Responses wire."""

from __future__ import annotations

from typing import Any

from recordings.reading import Call, Reading, Record, Usage, sse_payloads


def read(record: Record) -> Reading:
    """What the exchange says."""
    if record.stream is None:
        return read_body(record.body)
    final = None
    for event in sse_payloads(record.stream):
        if event["type"] in ("response.completed", "response.incomplete", "response.failed"):
            final = event["response"]
        elif event["type"] == "error":
            return Reading(broken=True)
    return Reading(broken=True) if final is None else read_body(final)


def read_body(body: dict[str, Any]) -> Reading:
    """What a whole answer says."""
    reading = Reading(broken=bool(body.get("error")) or body.get("status") == "failed")
    reason = (body.get("incomplete_details") or {}).get("reason")
    reading.finish = reason or body.get("status")
    reading.cut = reason == "max_output_tokens"
    for item in body.get("output") or []:
        if item["type"] == "message":
            for part in item["content"]:
                reading.text += part.get("text", "")
                reading.refusal += part.get("refusal", "")
        elif item["type"] == "function_call":
            reading.calls.append(Call(item["name"], item["arguments"], item["call_id"]))
        elif item["type"] == "reasoning":
            shown = [*item.get("summary", []), *(item.get("content") or [])]
            reading.reasoning |= any(part["text"] for part in shown)
    usage = body.get("usage")
    if usage:
        received = usage.get("input_tokens_details") or {}
        reading.usage = Usage(
            input=usage["input_tokens"],
            output=usage["output_tokens"],
            cached=received.get("cached_tokens", 0),
            written=received.get("cache_write_tokens", 0),
            reasoning=(usage.get("output_tokens_details") or {}).get("reasoning_tokens", 0),
        )
    return reading
